//! How long streams were that are over, and how far that says the next one goes.
//!
//! Who reads on when nearly all before read on for 2 MiB is best given 2 MiB at once,
//! and nothing past that. Between a wait too many and bytes too many it decides as the
//! past would have had it cheapest.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::config::Config;
use crate::types::BLOCK_BYTES;

/// Streams remembered.
const RUNS_MAX: usize = 32;
/// So many must have come as far as a stream before they tell how it goes on.
const KNOWN_MIN: u64 = 3;
/// The length of a stream that came to its object's end: it may have gone on.
const WHOLE: u32 = u32::MAX;

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    /// Boxed, since most objects are read in one stream.
    known: Option<Box<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    /// Lengths in blocks, in the order they were noted, the oldest at `next`.
    ring: Vec<u32>,
    next: usize,
    /// The same by length: lengths, and how many were just so long.
    sorted: Vec<(u32, u32)>,
}

impl Runs {
    /// A stream of `bytes` is over.
    pub(crate) fn note(&mut self, bytes: u64) {
        let len = u32::try_from(bytes.div_ceil(BLOCK_BYTES)).unwrap_or(WHOLE);
        self.known.get_or_insert_default().insert(len);
    }

    /// A stream came to its object's end.
    pub(crate) fn note_whole(&mut self) {
        self.known.get_or_insert_default().insert(WHOLE);
    }

    /// Bytes from the beginning to which a stream is best read ahead that has come
    /// `own` bytes so far, where a wait costs as much as `wait_bytes` too many; none
    /// if too few have come as far to tell. So many `others` have come as far as well and
    /// did not go on yet.
    pub(crate) fn reach(&self, own: u64, wait_bytes: u64, others: u64) -> Option<u64> {
        let sorted = &self.known.as_ref()?.sorted;
        let own = own.div_ceil(BLOCK_BYTES);
        let wait = (wait_bytes / BLOCK_BYTES).max(1);
        let shorter = sorted.partition_point(|(len, _)| u64::from(*len) < own);
        let longer = &sorted[shorter..];
        let total: u64 = longer.iter().map(|(_, count)| u64::from(*count)).sum();
        if total < KNOWN_MIN {
            return None;
        }
        // Most often none went further than this one has come.
        if let [(len, _)] = longer
            && u64::from(*len) == own
            && *len != WHOLE
        {
            return Some(own * BLOCK_BYTES);
        }
        let over = longer.first().filter(|(len, _)| u64::from(*len) == own).map_or(0, |first| first.1);
        let (mut best, mut least) = (own, (total - u64::from(over)) * wait);
        let (mut ended, mut before, mut whole) = (0, 0, 0);
        for (len, count) in longer {
            let (count, blocks) = (u64::from(*count), u64::from(*len));
            if *len == WHOLE {
                whole = count;
                break;
            }
            // Those that were longer wait again, those that were shorter leave bytes.
            let left = ended * blocks - before + others * (blocks - own);
            ended += count;
            before += count * blocks;
            let loss = (total - ended) * wait + left;
            if loss <= least {
                (best, least) = (blocks, loss);
            }
        }
        // Going on as if there were no end, for as far as a wait is worth.
        if whole > 0 && (ended + others) * wait <= least {
            return Some(u64::MAX);
        }
        Some(best * BLOCK_BYTES)
    }

    /// Whether of what is read ahead of streams up to `reach` so little is in vain that it may be
    /// whatever was before, where `own` and `others` are as in [`Runs::reach`].
    pub(crate) fn is_sure(&self, own: u64, reach: u64, others: u64) -> bool {
        let Some(known) = &self.known else { return false };
        let (own, reach) = (own.div_ceil(BLOCK_BYTES), reach / BLOCK_BYTES);
        let longer = known.sorted.iter().map(|(len, count)| (u64::from(*len), u64::from(*count)));
        let (mut useful, mut wasted) = (0, others * reach.saturating_sub(own));
        for (len, count) in longer.filter(|(len, _)| *len >= own) {
            useful += count * (len.min(reach) - own.min(reach));
            wasted += count * reach.saturating_sub(len);
        }
        wasted * Config::USEFUL_SHARE <= useful
    }
}

impl Known {
    fn insert(&mut self, len: u32) {
        if self.ring.len() < RUNS_MAX {
            self.ring.push(len);
        } else {
            let oldest = core::mem::replace(&mut self.ring[self.next], len);
            self.next = (self.next + 1) % RUNS_MAX;
            if oldest == len {
                return;
            }
            self.remove_sorted(oldest);
        }
        let place = self.sorted.partition_point(|(other, _)| *other < len);
        match self.sorted.get_mut(place) {
            Some((same, count)) if *same == len => *count += 1,
            _ => self.sorted.insert(place, (len, 1)),
        }
    }

    fn remove_sorted(&mut self, len: u32) {
        let place = self.sorted.partition_point(|(other, _)| *other < len);
        let count = &mut self.sorted[place].1;
        *count -= 1;
        if *count == 0 {
            self.sorted.remove(place);
        }
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
        assert!(runs.known.unwrap().sorted.is_sorted());
    }

    #[test]
    fn who_reads_everything_goes_on() {
        let mut runs = Runs::default();
        (0..5).for_each(|_| runs.note_whole());
        assert_eq!(runs.reach(MIB, MIB, 0), Some(u64::MAX));
    }
}
