//! How long streams were that are over, and how far that says the next one goes.
//!
//! Who reads on when nearly all before read on for 2 MiB is best given 2 MiB at once,
//! and nothing past that. Between a wait too many and bytes too many it decides as the
//! past would have had it cheapest.

use alloc::vec::Vec;

use crate::types::BLOCK_BYTES;

/// Streams remembered.
const RUNS_MAX: usize = 32;
/// So many must have come as far as a stream before they tell how it goes on.
const KNOWN_MIN: usize = 3;
/// The length of a stream that came to its object's end: it may have gone on.
const WHOLE: u32 = u32::MAX;

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// Lengths in blocks, in the order they were noted, the oldest at `next`.
    ring: Vec<u32>,
    next: usize,
    /// The same by length.
    sorted: Vec<u32>,
}

impl Runs {
    /// A stream of `bytes` is over.
    pub(super) fn note(&mut self, bytes: u64) {
        self.insert(u32::try_from(bytes.div_ceil(BLOCK_BYTES)).unwrap_or(WHOLE));
    }

    /// A stream came to its object's end.
    pub(super) fn note_whole(&mut self) {
        self.insert(WHOLE);
    }

    /// Bytes from the beginning to which a stream is best read ahead that has come
    /// `own` bytes so far, where a wait costs as much as `wait_bytes` too many; none
    /// if too few have come as far to tell. So many `others` have come as far as well and
    /// did not go on yet.
    pub(super) fn reach(&self, own: u64, wait_bytes: u64, others: u64) -> Option<u64> {
        let own = own.div_ceil(BLOCK_BYTES);
        let wait = (wait_bytes / BLOCK_BYTES).max(1);
        let shorter = self.sorted.partition_point(|len| u64::from(*len) < own);
        let longer = &self.sorted[shorter..];
        if longer.len() < KNOWN_MIN {
            return None;
        }
        let over = longer.iter().filter(|len| u64::from(**len) == own).count() as u64;
        let total = longer.len() as u64;
        let (mut best, mut least) = (own, (total - over) * wait);
        let mut before = 0;
        for (index, len) in longer.iter().enumerate() {
            if *len == WHOLE {
                break;
            }
            let (index, len) = (index as u64, u64::from(*len));
            // Those that were longer wait again, those that were shorter leave bytes.
            let left = index * len - before + others * (len - own);
            let loss = (total - index - 1) * wait + left;
            before += len;
            if loss <= least {
                (best, least) = (len, loss);
            }
        }
        let whole = longer.iter().filter(|len| **len == WHOLE).count() as u64;
        // Going on as if there were no end, for as far as a wait is worth.
        let ended = total - whole + others;
        if whole > 0 && ended * wait <= least {
            return Some(u64::MAX);
        }
        Some(best * BLOCK_BYTES)
    }

    fn insert(&mut self, len: u32) {
        if self.ring.len() < RUNS_MAX {
            self.ring.push(len);
        } else {
            let oldest = core::mem::replace(&mut self.ring[self.next], len);
            self.next = (self.next + 1) % RUNS_MAX;
            self.sorted.remove(self.sorted.partition_point(|other| *other < oldest));
        }
        let place = self.sorted.partition_point(|other| *other < len);
        self.sorted.insert(place, len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    fn of(lens: &[u64]) -> Runs {
        let mut runs = Runs::default();
        lens.iter().for_each(|len| runs.note(*len));
        runs
    }

    #[test]
    fn streams_of_one_length_say_it_exactly() {
        let runs = of(&[2 * MIB; 5]);
        assert_eq!(runs.reach(64 * KIB, 100 * KIB, 0), Some(2 * MIB));
        assert_eq!(runs.reach(2 * MIB, 100 * KIB, 0), Some(2 * MIB));
        assert_eq!(runs.reach(2 * MIB + 4 * KIB, 100 * KIB, 0), None);
        assert_eq!(of(&[2 * MIB; 2]).reach(64 * KIB, MIB, 0), None);
    }

    #[test]
    fn single_reads_are_left_alone() {
        let mut lens = [4 * KIB; 32];
        lens[..3].fill(8 * KIB);
        assert_eq!(of(&lens).reach(4 * KIB, 16 * KIB, 0), Some(4 * KIB));
        // Where a wait is worth more, the same past says to bet, unless many wait for more.
        assert_eq!(of(&lens).reach(4 * KIB, MIB, 0), Some(8 * KIB));
        assert_eq!(of(&lens).reach(4 * KIB, MIB, 1000), Some(4 * KIB));
    }

    #[test]
    fn the_last_ones_count() {
        let mut runs = of(&[2 * MIB; 100]);
        (0..RUNS_MAX).for_each(|_| runs.note(64 * KIB));
        assert_eq!(runs.reach(64 * KIB, MIB, 0), Some(64 * KIB));
        (0..RUNS_MAX).for_each(|index| runs.note(index as u64 * MIB));
        assert!(runs.sorted.is_sorted());
    }

    #[test]
    fn who_reads_everything_goes_on() {
        let mut runs = Runs::default();
        (0..5).for_each(|_| runs.note_whole());
        assert_eq!(runs.reach(MIB, MIB, 0), Some(u64::MAX));
    }
}
