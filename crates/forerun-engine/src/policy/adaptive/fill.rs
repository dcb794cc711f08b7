//! An object that is read all over in no order, but never the same twice: whoever
//! does that most likely wants all of it.
//!
//! What is left is fetched in order of address. How much, follows from what was
//! read: it doubles with each read that had to wait, so that filling never takes
//! much longer than the waits so far did. Past a quarter of the object, reads must
//! have met what was filled. Only objects that leave most of the memory free count.

use crate::policy::Access;
use crate::types::Extent;

/// Reads that had to wait before anything is filled.
const MISSES_MIN: u32 = 6;
/// The share of the object that those have read.
const READ_SHARE: u64 = 256;
/// The share of the object that is filled on trust.
const TRUST_SHARE: u64 = 4;
/// Of so many bytes that had to be waited for, one must have been met after that.
const MET_SHARE: u64 = 8;
/// Of so many bytes read, one may be read again.
const AGAIN_SHARE: u64 = 8;

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Fill {
    miss_count: u32,
    missed: u64,
    /// Bytes read that had been filled.
    met: u64,
    again: u64,
    /// Where to go on, and how much to add next.
    next: u64,
    step: u64,
    /// It was in vain so often: each time, it takes twice as much to begin again.
    failed_count: u32,
}

impl Fill {
    /// A read that is no stream's; what to fill next, in an object of at most
    /// `bytes_max`.
    pub(super) fn on_read(&mut self, access: &Access, bytes_max: u64) -> Option<Extent> {
        let Access { extent, size, .. } = *access;
        if size > bytes_max || self.next >= size {
            return None;
        }
        if !access.missing {
            self.met += access.unread_bytes;
            self.again += if access.unread_bytes == 0 { extent.len } else { 0 };
            return None;
        }
        self.miss_count += 1;
        self.missed += extent.len;
        if !self.is_sure(size) {
            return None;
        }
        self.step = (2 * self.step).max(self.missed);
        let end = self.next.saturating_add(self.step).min(size);
        let wanted = Extent::between(self.next, end);
        self.next = end;
        Some(wanted)
    }

    /// Whether the bytes at `extent` were to be filled.
    pub(super) fn wants(&self, extent: Extent) -> bool {
        extent.offset < self.next
    }

    /// Some of it was evicted before anybody came: no more.
    pub(super) fn on_lost(&mut self, extent: Extent) {
        if extent.offset < self.next {
            self.fail();
        }
    }

    /// Nobody has the object open any more.
    pub(super) fn on_idle(&mut self) {
        if self.next > 0 && 2 * self.met < self.next {
            self.fail();
        } else {
            *self = Fill { failed_count: self.failed_count, ..Fill::default() };
        }
    }

    fn fail(&mut self) {
        *self = Fill { failed_count: (self.failed_count + 1).min(8), ..Fill::default() };
    }

    fn is_sure(&self, size: u64) -> bool {
        let enough = self.miss_count >= MISSES_MIN << self.failed_count && self.missed >= size / READ_SHARE;
        let once = self.again * AGAIN_SHARE <= self.missed + self.met;
        let trusted = self.next < size / TRUST_SHARE || self.met * MET_SHARE >= self.missed;
        enough && once && trusted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{ObjectId, ReaderId, Time};

    const SIZE: u64 = 64 << 20;
    const LEN: u64 = 64 << 10;

    fn read(offset: u64, missing: bool, unread_bytes: u64) -> Access {
        let extent = Extent::new(offset, LEN);
        let (time, object, reader) = (Time(0), ObjectId(0), ReaderId(0));
        Access { time, object, reader, extent, size: SIZE, late: missing, missing, unread_bytes }
    }

    /// Reads `count` blocks in no order, all of which are missing.
    fn miss(fill: &mut Fill, count: u64) -> u64 {
        (0..count)
            .filter_map(|i| fill.on_read(&read(i * 37 % 1024 * LEN, true, 0), SIZE))
            .map(|e| e.len)
            .sum()
    }

    #[test]
    fn few_reads_fill_nothing_and_more_a_part() {
        let mut fill = Fill::default();
        assert_eq!(miss(&mut fill, 5), 0);
        let filled = miss(&mut fill, 100);
        assert!((SIZE / 4..SIZE / 4 * 3).contains(&filled), "{filled} filled that nobody met");
    }

    #[test]
    fn reads_that_meet_it_fill_the_rest() {
        let mut fill = Fill::default();
        let mut filled = 0;
        for _ in 0..20 {
            filled += miss(&mut fill, 1);
            fill.on_read(&read(0, false, LEN), SIZE);
        }
        assert_eq!(filled, SIZE);
    }

    #[test]
    fn who_reads_the_same_again_does_not_want_it_all() {
        let mut fill = Fill::default();
        for _ in 0..100 {
            fill.on_read(&read(0, false, 0), SIZE);
        }
        assert_eq!(miss(&mut fill, 100), 0);
    }

    #[test]
    fn large_objects_are_left_alone_and_failure_is_remembered() {
        let mut fill = Fill::default();
        assert!((0..100).all(|i| fill.on_read(&read(i * LEN, true, 0), SIZE - 1).is_none()));
        let mut fill = Fill::default();
        assert!(miss(&mut fill, 10) > 0);
        fill.on_idle();
        assert_eq!(miss(&mut fill, 10), 0);
    }
}
