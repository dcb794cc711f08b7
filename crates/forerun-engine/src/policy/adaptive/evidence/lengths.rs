//! Lengths of ended streams: they predict the end of the next one.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::ENOUGH;
use crate::ablation::Rule;
use crate::types::BLOCK_BYTES;

/// Lengths remembered.
const LENGTHS_MAX: usize = 32;

/// See the module's page. In bytes, in whole blocks; the oldest gives way.
#[derive(Debug, Default)]
pub(crate) struct Lengths {
    recent: VecDeque<u64>,
    /// The same lengths, the shortest first.
    sorted: Vec<u64>,
}

impl Lengths {
    /// One of `bytes` is over; `is_whole` if it came to its object's end.
    pub(crate) fn record(&mut self, bytes: u64, is_whole: bool) {
        let bytes = if is_whole { u64::MAX } else { bytes.next_multiple_of(BLOCK_BYTES) };
        let oldest = if self.recent.len() == LENGTHS_MAX { self.recent.pop_front() } else { None };
        self.recent.push_back(bytes);
        if oldest != Some(bytes) {
            if let Some(oldest) = oldest {
                self.sorted.remove(self.count_below(oldest));
            }
            self.sorted.insert(self.count_below(bytes), bytes);
        }
    }

    /// The end that would have been cheapest for those streams that came as far as `own`. A wait is worth
    /// `wait` bytes. `others` streams came as far and have not gone on yet. The result is `u64::MAX` for
    /// the end of the object, and `None` if there are too few lengths.
    pub(crate) fn reach(&self, own: u64, wait: u64, others: u64) -> Option<u64> {
        let own = own.next_multiple_of(BLOCK_BYTES);
        let far = &self.sorted[self.count_below(own)..];
        if far.len() < ENOUGH || Rule::Lengths.is_off() {
            return None;
        }
        // The loop needs neither those that stopped here nor those that came to the end.
        let here = far.partition_point(|len| *len <= own);
        let some = far.partition_point(|len| *len < u64::MAX);
        let (count, whole) = (far.len() as u64, (far.len() - some) as u64);
        // Streams that stopped earlier wasted bytes. Streams that went on had to wait.
        let wait_at_least = wait.max(BLOCK_BYTES);
        let (mut best, mut least) = (own, (count - here as u64) * wait_at_least);
        let (mut left, mut last) = (0_u64, own);
        for (over, end) in (here as u64..).zip(far[..some].iter().copied().skip(here)) {
            left = left.saturating_add((end - last).saturating_mul(over));
            last = end;
            let waits = (count - over - 1) * wait_at_least;
            let cost = left.saturating_add(others.saturating_mul(end - own)).saturating_add(waits);
            if cost <= least {
                (best, least) = (end, cost);
            }
        }
        // The rest of the object is not known: whether most came to its end decides.
        Some(if 2 * whole >= count + others { u64::MAX } else { best })
    }

    fn count_below(&self, bytes: u64) -> usize {
        self.sorted.partition_point(|len| *len < bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;

    fn lengths(kib: &[u64]) -> Lengths {
        let mut lengths = Lengths::default();
        kib.iter().for_each(|len| lengths.record(len * KIB, *len == 0));
        lengths
    }

    #[test]
    fn the_next_ends_where_the_last_did() {
        let same = lengths(&[64, 64, 64]);
        assert_eq!(same.reach(4 * KIB, 64 * KIB, 0), Some(64 * KIB));
        assert_eq!(same.reach(68 * KIB, 64 * KIB, 0), None, "none was so long");
        assert_eq!(lengths(&[64, 64]).reach(4 * KIB, 64 * KIB, 0), None, "two are too few");
    }

    #[test]
    fn a_wait_decides_how_many_of_them_matter() {
        let mixed = lengths(&[4, 4, 4, 4, 4, 4, 4, 64]);
        assert_eq!(mixed.reach(4 * KIB, 64 * KIB, 0), Some(4 * KIB));
        assert_eq!(mixed.reach(4 * KIB, 1024 * KIB, 0), Some(64 * KIB));
        assert_eq!(mixed.reach(4 * KIB, 1024 * KIB, 100), Some(4 * KIB), "many others did not go on");
    }

    #[test]
    fn readers_of_whole_objects_read_the_next_one_whole() {
        assert_eq!(lengths(&[0, 0, 0]).reach(4 * KIB, 64 * KIB, 0), Some(u64::MAX));
        assert_eq!(lengths(&[4, 4, 4, 4, 4, 0]).reach(4 * KIB, 64 * KIB, 0), Some(4 * KIB));
        let few = lengths(&[64, 64, 64, 0]);
        assert_eq!(few.reach(4 * KIB, 64 * KIB, 0), Some(64 * KIB));
        assert_eq!(few.reach(4 * KIB, 0, 0), Some(64 * KIB), "also where a wait is worth nothing");
    }
}
