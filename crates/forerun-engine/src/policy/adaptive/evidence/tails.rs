//! Objects whose readers look at the end first: archives, columnar files and some films have their index
//! there.
//!
//! The first read of an object's last bytes brings the bytes before them as well. It goes as far as earlier
//! indexes reached, or a little if none is known.

use alloc::collections::VecDeque;

use super::super::window_state::GRAIN;
use super::{Lengths, OBJECTS_MAX};
use crate::policy::Access;
use crate::types::{BLOCK_BYTES, Extent, ObjectId};

/// The most bytes of an index.
const TAIL_BYTES_MAX: u64 = 1 << 20;

/// The end of an object, from where on it was read.
#[derive(Clone, Copy, Debug)]
struct Tail {
    object: ObjectId,
    size: u64,
    start: u64,
}

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Tails {
    /// The one that was read first is the first.
    read: VecDeque<Tail>,
    lengths: Lengths,
}

impl Tails {
    /// A read, which may belong to an index that was begun.
    pub(crate) fn record_read(&mut self, access: &Access) {
        if !self.read.is_empty()
            && bytes_in_tail(access).is_some()
            && let Some(known) = self.read.iter_mut().find(|tail| tail.object == access.object)
        {
            known.start = known.start.min(access.extent.offset);
        }
    }

    /// A read of no stream. Returns the extent to fetch before it. A wait is worth `wait` bytes.
    pub(crate) fn begin(&mut self, access: &Access, wait: u64) -> Option<Extent> {
        let Access { object, extent, size, .. } = *access;
        let bytes = bytes_in_tail(access)?;
        if extent.end() < size || self.read.iter().any(|tail| tail.object == object) {
            return None;
        }
        let reach = self.lengths.reach(bytes, wait, 0);
        if self.read.len() == OBJECTS_MAX {
            self.record_length(0);
        }
        self.read.push_back(Tail { object, size, start: extent.offset });
        let reach = reach.unwrap_or(wait.min(GRAIN)).min(TAIL_BYTES_MAX);
        let start = size.saturating_sub(reach) / BLOCK_BYTES * BLOCK_BYTES;
        let before = Extent::between(start.min(extent.offset), extent.offset);
        (access.missing && !before.is_empty()).then_some(before)
    }

    /// Nobody has `object` open any more.
    pub(crate) fn on_idle(&mut self, object: ObjectId) {
        if let Some(place) = self.read.iter().position(|tail| tail.object == object) {
            self.record_length(place);
        }
    }

    fn record_length(&mut self, place: usize) {
        if let Some(tail) = self.read.remove(place) {
            self.lengths.record(tail.size - tail.start, false);
        }
    }
}

/// Bytes from where `access` reads to its object's end, if those may be an index.
fn bytes_in_tail(access: &Access) -> Option<u64> {
    let bytes = access.size.saturating_sub(access.extent.offset);
    (1..=TAIL_BYTES_MAX).contains(&bytes).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{ReaderId, Time};

    const KIB: u64 = 1 << 10;
    const SIZE: u64 = 100_000 * KIB;

    /// Reads `len` KiB at `from_end` KiB before the end; where the readahead begins,
    /// counted in the same way.
    fn read(tails: &mut Tails, object: u64, from_end: u64, len: u64) -> Option<u64> {
        let extent = Extent::new(SIZE - from_end * KIB, len * KIB);
        let (time, object, reader) = (Time(0), ObjectId(object), ReaderId(0));
        let access = Access {
            time,
            object,
            reader,
            extent,
            size: SIZE,
            late: true,
            missing: true,
            unread_bytes: 0,
            ahead: None,
        };
        tails.record_read(&access);
        let wanted = tails.begin(&access, 1 << 20)?;
        assert_eq!(wanted.end(), extent.offset);
        Some((SIZE - wanted.offset) / KIB)
    }

    #[test]
    fn a_little_is_risked_once_for_each_object() {
        let mut tails = Tails::default();
        assert_eq!(read(&mut tails, 0, 4, 4), Some(64));
        assert_eq!(read(&mut tails, 0, 4, 4), None);
        assert_eq!(read(&mut tails, 1, 8, 4), None, "it is not the end");
        assert_eq!(read(&mut tails, 1, 2000, 2000), None, "nor is that");
        assert_eq!(read(&mut tails, 1, 100, 100), None, "who has read it all needs nothing");
    }

    #[test]
    fn others_tell_how_long_an_index_is() {
        let mut tails = Tails::default();
        for object in 0..3 {
            read(&mut tails, object, 4, 4);
            read(&mut tails, object, 300, 296);
            tails.on_idle(ObjectId(object));
        }
        assert_eq!(read(&mut tails, 3, 4, 4), Some(300));
    }

    #[test]
    fn those_that_want_only_the_last_bytes_get_no_more() {
        let mut tails = Tails::default();
        for object in 0..100 {
            let is_known = object as usize > OBJECTS_MAX + 2;
            assert_eq!(read(&mut tails, object, 4, 4).is_none(), is_known, "{object}");
        }
    }
}
