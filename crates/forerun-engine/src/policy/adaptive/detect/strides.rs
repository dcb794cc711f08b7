//! Runs that begin at even steps, with other reads in between.

use alloc::vec::Vec;

use super::super::evidence::ENOUGH;
use super::Shape;
use super::shape::slack;
use crate::ablation::Rule;
use crate::scatter::slot_of;
use crate::types::{BLOCK_BYTES, Extent};

/// Runs remembered.
const RUNS_MAX: usize = 32;
const SLOTS: usize = 128 * RUNS_MAX;
/// Reads may continue the last of these alternately, since a copy of a part begins at both of its ends.
const RUNS_OPEN: usize = 2;

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Strides {
    /// Reads that go on beside those before are one run.
    runs: Vec<Extent>,
}

impl Strides {
    /// Somebody reads; whether that begins a run.
    pub(crate) fn record_read(&mut self, extent: Extent) -> bool {
        let first = self.runs.len().saturating_sub(RUNS_OPEN);
        let touches = |run: &Extent, other: Extent| run.offset <= other.end() && other.offset <= run.end();
        let join = |run: Extent, other: Extent| {
            Extent::between(run.offset.min(other.offset), run.end().max(other.end()))
        };
        let Some(at) = (first..self.runs.len()).rev().find(|at| touches(&self.runs[*at], extent)) else {
            if self.runs.len() == RUNS_MAX {
                self.runs.remove(0);
            }
            self.runs.push(extent);
            return true;
        };
        self.runs[at] = join(self.runs[at], extent);
        if at > first && touches(&self.runs[at], self.runs[at - 1]) {
            self.runs[at - 1] = join(self.runs[at - 1], self.runs[at]);
            self.runs.remove(at);
        }
        false
    }

    /// Even steps that lead to the run that has just begun, and the bytes that were read on the way.
    pub(crate) fn find(&self) -> Option<(Shape, u64)> {
        let newest = *self.runs.last().filter(|_| !Rule::Strides.is_off())?;
        let before = self.runs.len() - 1;
        // A bit for each slot rules out nearly every step without a search.
        let slot = |offset| slot_of(offset, SLOTS);
        let bit = |slot: usize| 1_u64 << (slot % 64);
        let mut slots = [0; SLOTS / 64];
        self.runs.iter().map(|run| slot(run.offset)).for_each(|slot| slots[slot / 64] |= bit(slot));
        (0..before).rev().find_map(|at| {
            let run = self.runs[at];
            let before_it = slot(run.offset.wrapping_mul(2).wrapping_sub(newest.offset));
            if slots[before_it / 64] & bit(before_it) == 0 && slack(run.len) == 0 {
                return None;
            }
            // One more where others read in between.
            let steps = ENOUGH + usize::from(at + 1 < before);
            let (count, step, len) = self.back(run, newest.offset);
            (count >= steps as u64 && step.unsigned_abs() > len).then_some(())?;
            Some((Shape::strided(element(len, newest.offset, count, step)?, step), count * len))
        })
    }

    /// How many runs like `run` lie one step apart before `newest`, the step, and the length of the longest. A
    /// front end with a cache of its own may not see the end of each, and reads more of the first. So they
    /// differ, but none is twice as long as `run`, or half.
    fn back(&self, run: Extent, newest: u64) -> (u64, i64, u64) {
        let (mut count, mut last, mut longest) = (1, run.offset, run.len);
        let mut step = newest.cast_signed() - run.offset.cast_signed();
        let slack = slack(run.len);
        while step.unsigned_abs() > run.len {
            let Some(next) = last.cast_signed().checked_sub(step) else { break };
            let is_alike = |other: &&Extent| {
                let [shorter, longer] = [other.len.min(run.len), other.len.max(run.len)];
                other.offset.cast_signed().abs_diff(next) <= slack && longer < 2 * shorter
            };
            let Some(other) = self.runs.iter().find(is_alike) else { break };
            (count, last, longest) = (count + 1, other.offset, longest.max(other.len));
            // The more of them, the better the step is known.
            step = (newest.cast_signed() - last.cast_signed()) / count as i64;
        }
        (count, step, longest)
    }

    /// The run before the one that has just begun.
    pub(crate) fn last_run(&self) -> Extent {
        self.runs.iter().nth_back(1).copied().unwrap_or_default()
    }

    pub(crate) fn clear(&mut self) {
        self.runs.clear();
    }
}

/// The first of `count` elements of `len` bytes before the one that begins at `newest`. Where its like may lie
/// elsewhere, it has a block more at each end.
fn element(len: u64, newest: u64, count: u64, step: i64) -> Option<Extent> {
    let slack = slack(len).min(BLOCK_BYTES);
    let back = step.checked_mul(count as i64)?;
    let first = u64::try_from(newest.cast_signed().checked_sub(back)?).ok()?;
    Some(Extent::new(first.checked_sub(slack)?, len + 2 * slack))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(offsets: &[u64]) -> Option<(Shape, u64)> {
        let mut strides = Strides::default();
        offsets.iter().for_each(|offset| {
            strides.record_read(Extent::new(*offset, 10));
        });
        strides.find()
    }

    #[test]
    fn three_equal_steps_are_a_stride_either_way() {
        assert_eq!(found(&[0, 100, 200]), None);
        assert_eq!(found(&[0, 100, 200, 300]), Some((Shape::strided(Extent::new(0, 10), 100), 30)));
        assert_eq!(found(&[300, 200, 100, 0]), Some((Shape::strided(Extent::new(300, 10), -100), 30)));
        assert_eq!(found(&[0, 100, 200, 310]), None);
    }

    #[test]
    fn parts_that_are_copied_from_both_ends_are_one_run_each() {
        let (part, mut strides) = (1 << 20, Strides::default());
        for start in [10, 5010, 10_011, 15_011].map(|block| block * BLOCK_BYTES) {
            let is_new = strides.record_read(Extent::new(start, BLOCK_BYTES));
            assert!(is_new && strides.find().is_some() == (start > 15_000 * BLOCK_BYTES), "{start}");
            strides.record_read(Extent::new(start + part - BLOCK_BYTES, BLOCK_BYTES));
            (1..255).rev().for_each(|block| {
                strides.record_read(Extent::new(start + block * BLOCK_BYTES, BLOCK_BYTES));
            });
            assert_eq!(strides.runs.last(), Some(&Extent::new(start, part)));
        }
    }

    #[test]
    fn the_longest_of_runs_at_even_steps_is_the_element() {
        let mut strides = Strides::default();
        for (offset, len) in [(0, 12), (100, 16), (200, 9)] {
            strides.record_read(Extent::new(offset, len));
        }
        strides.record_read(Extent::new(300, 1));
        assert_eq!(strides.find(), Some((Shape::strided(Extent::new(0, 16), 100), 48)));
    }

    #[test]
    fn a_run_twice_as_long_as_the_others_is_none_of_them() {
        let mut strides = Strides::default();
        for (offset, len) in [(0, 20), (100, 10), (200, 10)] {
            strides.record_read(Extent::new(offset, len));
        }
        strides.record_read(Extent::new(300, 10));
        assert_eq!(strides.find(), None);
        strides.record_read(Extent::new(400, 10));
        assert_eq!(strides.find(), Some((Shape::strided(Extent::new(100, 10), 100), 30)));
    }

    #[test]
    fn with_others_in_between_it_takes_one_more() {
        assert_eq!(found(&[0, 7000, 100, 9000, 200, 8000, 300]), None);
        assert!(found(&[0, 7000, 100, 9000, 200, 8000, 300, 5000, 400]).is_some());
    }
}
