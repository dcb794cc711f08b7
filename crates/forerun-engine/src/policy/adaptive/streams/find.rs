//! Whose read it is, and whether it goes on with its stream.

use super::{CANDIDATES_MAX, Ends, Streams};
use crate::cache::Cache;
use crate::policy::Access;
use crate::policy::adaptive::coast::Coast;
use crate::policy::adaptive::stream::{Past, REORDER_BYTES_MIN, Stream};
use crate::types::Extent;

/// Whose read it may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    index: usize,
    /// Where the read is on the stream's way.
    positions: Extent,
}

impl Streams {
    /// The stream whose reader this is: of those near enough, the nearest; those
    /// that leave something out only if there is no other.
    pub(crate) fn find(&self, access: &Access, is_far: bool, cache: &Cache) -> Option<Nearest> {
        // The one that was read last, or next after that the last time.
        let last = usize::from(self.last);
        for index in [last, self.briefs.next_after(last)] {
            if let Some(stream) = self.streams.get(index)
                && let Some(positions) = stream.positions(access.extent)
                && stream.expects(positions)
            {
                return Some(Nearest { index, positions });
            }
        }
        debug_assert!(self.briefs.are_of(&self.streams), "a stream changed and its brief did not");
        let past = Past { object: access.object, cache, last: self.rhythm.newest(), is_far };
        let near = self.briefs.concerned(access.extent).filter_map(|index| {
            let stream = &self.streams[index];
            let positions = stream.positions(access.extent)?;
            let distance = stream.distance(access, positions, self.through_bytes, &past)?;
            Some(((!stream.shape().is_dense(), distance), Nearest { index, positions }))
        });
        near.min_by_key(|(distance, _)| *distance).map(|(_, nearest)| nearest)
    }

    /// The stream that goes on with a read that belongs to the one that is `nearest`: that
    /// one, unless it leaves out too much, where `gap_bytes` are as dear as a request, or
    /// one that begins here beside it.
    pub(crate) fn go_on(
        &mut self,
        nearest: &Nearest,
        access: &Access,
        gap_bytes: u64,
        ends: &mut Ends,
        cache: &Cache,
    ) -> Option<usize> {
        let index = nearest.index;
        if self.streams[index].turns_round(nearest.positions) {
            self.turn_round(index, access, cache);
            return Some(index);
        }
        let stream = &mut self.streams[index];
        // Between may lie what was read before, in another order.
        let between = stream.skipped(Some(nearest.positions));
        let read_bytes = if between.len > REORDER_BYTES_MIN {
            stream.bytes_read(between, access.object, cache)
        } else {
            0
        };
        let goes_on = stream.passes(nearest.positions, read_bytes, gap_bytes, self.through_bytes);
        if !goes_on {
            self.briefs.note(index, stream);
        }
        if stream.shape().is_dense() {
            self.patience = if stream.is_proven() { CANDIDATES_MAX as u16 } else { self.patience };
            return goes_on.then_some(index);
        }
        if !goes_on {
            return None;
        }
        self.begin_run(access.extent);
        let beside = self.begin_beside(access, ends, cache);
        Some(beside.or_else(|| self.begin_longer(index, access, ends, cache)).unwrap_or(index))
    }

    /// A read of nothing but what was read before, in a stream at `index` that wants no
    /// more: most reads of what is in memory are, and should cost next to nothing. The
    /// stream, if it is one.
    pub(crate) fn glide(&mut self, index: usize, access: &Access) -> Option<&mut Stream> {
        let is_new = access.late || access.unread_bytes > 0 || access.extent.offset == 0;
        if is_new
            || index != usize::from(self.last)
            || !self.aside.is_empty()
            || !self.streams[index].glides(access)
        {
            return None;
        }
        self.size = access.size;
        let stream = &mut self.streams[index];
        stream.resume(self.read_count);
        stream.advance(access, access.extent);
        stream.note_limits(access.size, u64::MAX);
        self.briefs.note(index, stream);
        Some(stream)
    }

    /// The stream that was read last has coasted; the last of those reads is that of all
    /// objects with number `index`.
    pub(crate) fn land(&mut self, coast: &Coast, index: u64) {
        self.last_read_index = index;
        self.read_count += coast.count;
        self.rhythm.goes_on(coast.extent());
        let last = usize::from(self.last);
        if let Some(stream) = self.streams.get_mut(last) {
            stream.land(coast);
            self.briefs.note(last, stream);
        }
    }

    /// Whether the read is just what comes next of the stream that is `nearest`.
    pub(crate) fn expects(&self, nearest: &Nearest) -> bool {
        self.streams[nearest.index].expects(nearest.positions)
    }
}
