//! What every read asks of every stream, side by side: most streams have nothing to do
//! with it, and that is seen without looking at more of them.

use alloc::vec::Vec;

use crate::objects::OBJECT_BYTES_MAX;
use crate::policy::adaptive::shape::Way;
use crate::policy::adaptive::stream::{REORDER_BYTES_MAX, Stream};
use crate::types::{Extent, Time};

/// One stream's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Brief {
    /// Where reads of at most `len` bytes may be that belong to it, or that are of what
    /// it has wanted; longer ones also a little before or after that.
    reach: Extent,
    len: u64,
    pub(super) way: Way,
    pub(super) start: u64,
    pub(super) last_read: Time,
    /// What it has wanted and nobody has come for, unless that is counted as wasted.
    ahead: u64,
    /// It may be no stream at all.
    is_doubtful: bool,
    /// The object's read after which it is over, unless it goes on before.
    over_after: u64,
    /// The stream that was read next after it lately.
    next: u32,
}

impl Brief {
    fn of(stream: &Stream, next: u32) -> Brief {
        let (reach, len) = stream.reach();
        let ahead = if stream.is_settled() { 0 } else { stream.ahead().len };
        Brief {
            reach,
            len,
            way: stream.shape().way(),
            start: stream.start(),
            last_read: stream.last_read(),
            ahead,
            is_doubtful: !stream.is_proven(),
            over_after: stream.over_after(),
            next,
        }
    }

    fn may_concern(&self, extent: Extent) -> bool {
        let slack = match self.way {
            _ if extent.len <= self.len => 0,
            Way::Up | Way::Down => REORDER_BYTES_MAX,
            // Where it leaves out what it leaves out, positions say little of offsets.
            Way::Leaps => OBJECT_BYTES_MAX,
        };
        extent.end() + slack >= self.reach.offset && extent.offset <= self.reach.end() + slack
    }
}

/// Of all streams of an object, in their order.
#[derive(Debug)]
pub(super) struct Briefs {
    all: Vec<Brief>,
    /// No stream is over before that read of the object, if none goes on.
    over_after_min: u64,
}

impl Default for Briefs {
    fn default() -> Briefs {
        Briefs { all: Vec::new(), over_after_min: u64::MAX }
    }
}

impl Briefs {
    /// The stream at `index`, which may be new, is as it is now.
    pub(super) fn note(&mut self, index: usize, stream: &Stream) {
        let brief = Brief::of(stream, self.all.get(index).map_or(0, |before| before.next));
        match self.all.get_mut(index) {
            Some(before) => *before = brief,
            None => {
                if self.all.len() == self.all.capacity() {
                    self.all.reserve_exact(self.all.len().max(1));
                }
                self.all.push(brief);
            }
        }
        self.over_after_min = self.over_after_min.min(brief.over_after);
    }

    /// All of them have changed.
    pub(super) fn renew(&mut self, streams: &[Stream]) {
        self.all.truncate(streams.len());
        self.all.iter_mut().zip(streams).for_each(|(brief, stream)| *brief = Brief::of(stream, brief.next));
        self.recount();
    }

    /// Those that were over first have been counted.
    pub(super) fn recount(&mut self) {
        self.over_after_min = self.all.iter().map(|brief| brief.over_after).min().unwrap_or(u64::MAX);
    }

    /// The stream at `next` is read after the one at `index`.
    pub(super) fn follow(&mut self, index: usize, next: usize) {
        if let Some(brief) = self.all.get_mut(index) {
            brief.next = next as u32;
        }
    }

    /// The place of the stream that was read after the one at `index` the last time.
    pub(super) fn next_after(&self, index: usize) -> usize {
        self.all.get(index).map_or(0, |brief| brief.next as usize)
    }

    /// Keeps nothing that is not needed.
    pub(super) fn shrink(&mut self) {
        self.all.shrink_to_fit();
    }

    /// Whether `extent` may have to do with the stream at `index`.
    pub(super) fn may_concern(&self, index: usize, extent: Extent) -> bool {
        self.all[index].may_concern(extent)
    }

    /// The places of the streams that `extent` may have to do with.
    pub(super) fn concerned(&self, extent: Extent) -> impl Iterator<Item = usize> {
        let all = self.all.iter().enumerate();
        all.filter(move |(_, brief)| brief.may_concern(extent)).map(|(index, _)| index)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &Brief)> {
        self.all.iter().enumerate()
    }

    /// What they have wanted and nobody has come for yet.
    pub(super) fn ahead(&self) -> u64 {
        self.all.iter().map(|brief| brief.ahead).sum()
    }

    /// The same without the one at `index`.
    pub(super) fn ahead_beside(&self, index: usize) -> u64 {
        self.ahead() - self.all[index].ahead
    }

    /// What all but the one at `index` have wanted that may be no streams at all.
    pub(super) fn at_risk_beside(&self, index: usize) -> u64 {
        let others =
            self.all.iter().enumerate().filter(|(other, brief)| *other != index && brief.is_doubtful);
        others.map(|(_, brief)| brief.ahead).sum()
    }

    /// Whether a stream may be over by the object's read number `index`.
    pub(super) fn may_be_over(&self, index: u64) -> bool {
        index > self.over_after_min
    }

    /// Whether they are what `streams` are.
    pub(super) fn are_of(&self, streams: &[Stream]) -> bool {
        let as_they_are = streams.iter().zip(&self.all).map(|(stream, brief)| Brief::of(stream, brief.next));
        streams.len() == self.all.len() && as_they_are.eq(self.all.iter().copied())
    }
}
