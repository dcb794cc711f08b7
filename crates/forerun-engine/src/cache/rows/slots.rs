//! Which memory slots are free.
//!
//! Slots are handed out in runs, so that a fetch usually lands in one piece of
//! memory and a read is copied from one. Low numbers go first: memory that was
//! never needed is never touched.

use alloc::vec;
use alloc::vec::Vec;

pub(super) const GROUP: u32 = 64;

/// A run of neighbouring slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotRun {
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// Less memory may be wanted than the region has. Then free slots are withdrawn, those with high numbers first.
///
/// Invariants:
/// 1. bit `i` of `free[g]` is set if and only if slot `64 g + i` is free;
/// 2. bit `g` of `whole` is set if and only if all of group `g` is free;
/// 3. bit `g` of `partial` is set if and only if some, not all, of it is free;
/// 4. `free_count` is the number of bits set in `free`.
#[derive(Debug)]
pub(crate) struct Slots {
    pub(super) free: Vec<u64>,
    pub(super) whole: Vec<u64>,
    pub(super) partial: Vec<u64>,
    pub(super) free_count: u32,
    /// Those of the region.
    pub(super) all_count: u32,
    /// Those that are wanted.
    pub(super) wanted: u32,
    /// Those out of use, and how many they are.
    pub(super) withdrawn: Vec<SlotRun>,
    pub(super) withdrawn_count: u32,
    /// The runs of them that were told.
    pub(super) told: usize,
}

impl Slots {
    pub(crate) fn new(count: u32) -> Slots {
        let groups = count.div_ceil(GROUP) as usize;
        let mut slots = Slots {
            free: vec![0; groups],
            whole: vec![0; groups.div_ceil(64)],
            partial: vec![0; groups.div_ceil(64)],
            free_count: 0,
            all_count: count,
            wanted: count,
            withdrawn: Vec::new(),
            withdrawn_count: 0,
            told: 0,
        };
        for first in (0..count).step_by(GROUP as usize) {
            slots.give(SlotRun { first, count: GROUP.min(count - first) });
        }
        slots
    }

    /// Those that are wanted.
    pub(crate) fn count(&self) -> u32 {
        self.wanted
    }

    /// Those that are free or in use.
    pub(crate) fn kept_count(&self) -> u32 {
        self.all_count - self.withdrawn_count
    }

    pub(crate) fn free_count(&self) -> u32 {
        self.free_count
    }

    pub(crate) fn used_count(&self) -> u32 {
        self.kept_count() - self.free_count
    }

    /// Takes up to `want` neighbouring slots (at most one group's); `None` if
    /// nothing is free.
    pub(crate) fn allocate(&mut self, want: u32) -> Option<SlotRun> {
        debug_assert!(want > 0);
        // Long runs from untouched groups, short ones from the leftovers.
        let group = if want >= GROUP / 4 {
            first_set(&self.whole).or_else(|| first_set(&self.partial))
        } else {
            first_set(&self.partial).or_else(|| first_set(&self.whole))
        }?;
        let free = self.free[group];
        let start = free.trailing_zeros();
        let run = (free >> start).trailing_ones().min(want).min(GROUP);
        Some(self.take(group, start, run))
    }

    /// Takes `count` free slots of `group` from `start` on.
    pub(super) fn take(&mut self, group: usize, start: u32, count: u32) -> SlotRun {
        self.free[group] &= !mask(start, count);
        self.free_count -= count;
        self.update_group(group);
        SlotRun { first: group as u32 * GROUP + start, count }
    }

    /// Takes a run of any length back.
    pub(crate) fn give_run(&mut self, mut run: SlotRun) {
        while run.count > 0 {
            let count = run.count.min(GROUP - run.first % GROUP);
            self.give(SlotRun { first: run.first, count });
            run = SlotRun { first: run.first + count, count: run.count - count };
        }
    }

    /// Takes the slot `slot` back.
    pub(crate) fn give_one(&mut self, slot: u32) {
        self.give(SlotRun { first: slot, count: 1 });
    }

    fn give(&mut self, run: SlotRun) {
        let group = (run.first / GROUP) as usize;
        let bits = mask(run.first % GROUP, run.count);
        debug_assert_eq!(self.free[group] & bits, 0, "slot given back twice");
        self.free[group] |= bits;
        self.free_count += run.count;
        self.update_group(group);
    }

    fn update_group(&mut self, group: usize) {
        let size = GROUP.min(self.all_count - group as u32 * GROUP);
        let free = self.free[group];
        let all = free == mask(0, size);
        set(&mut self.whole, group, all);
        set(&mut self.partial, group, !all && free != 0);
    }
}

/// `count` ones from bit `start` on.
pub(crate) fn mask(start: u32, count: u32) -> u64 {
    if count == 0 { 0 } else { (u64::MAX >> (64 - count)) << start }
}

fn set(bits: &mut [u64], index: usize, on: bool) {
    let bit = 1 << (index % 64);
    if on {
        bits[index / 64] |= bit;
    } else {
        bits[index / 64] &= !bit;
    }
}

fn first_set(bits: &[u64]) -> Option<usize> {
    let word = bits.iter().position(|word| *word != 0)?;
    Some(word * 64 + bits[word].trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_is_handed_out_once() {
        let mut slots = Slots::new(200);
        let mut seen = [false; 200];
        for want in [64, 3, 40, 64, 1, 64, 64, 64, 64, 64] {
            let Some(run) = slots.allocate(want) else { break };
            for slot in run.first..run.first + run.count {
                assert!(!core::mem::replace(&mut seen[slot as usize], true), "slot {slot} twice");
            }
        }
        while let Some(run) = slots.allocate(64) {
            for slot in run.first..run.first + run.count {
                assert!(!core::mem::replace(&mut seen[slot as usize], true), "slot {slot} twice");
            }
        }
        assert!(seen.iter().all(|seen| *seen));
        assert_eq!(slots.free_count(), 0);
        slots.give_one(77);
        assert_eq!(slots.allocate(64), Some(SlotRun { first: 77, count: 1 }));
    }

    #[test]
    fn long_runs_come_whole() {
        let mut slots = Slots::new(256);
        assert_eq!(slots.allocate(3), Some(SlotRun { first: 0, count: 3 }));
        assert_eq!(slots.allocate(64), Some(SlotRun { first: 64, count: 64 }));
        assert_eq!(slots.allocate(2), Some(SlotRun { first: 3, count: 2 }));
        assert_eq!(slots.used_count(), 69);
    }
}
