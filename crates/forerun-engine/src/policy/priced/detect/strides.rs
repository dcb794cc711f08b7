//! Runs that begin at even steps, whoever reads in between.

use alloc::vec::Vec;

use super::Shape;
use crate::scatter::slot_of;
use crate::types::Extent;

/// Runs remembered.
const RUNS_MAX: usize = 32;
const SLOTS: usize = 16 * RUNS_MAX;
/// Equal steps that make a stride; more where others read in between, and where such were so by chance.
const STEPS_MIN: usize = 3;
const DOUBT: usize = 2;
const DOUBT_MAX: usize = 6;

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Strides {
    /// Reads that go on where the one before ended are one run.
    runs: Vec<Extent>,
    doubt: usize,
}

impl Strides {
    /// Somebody reads; whether that begins a run.
    pub(crate) fn note(&mut self, extent: Extent) -> bool {
        if let Some(last) = self.runs.last_mut() {
            if last.end() == extent.offset {
                last.len += extent.len;
                return false;
            }
            if extent.offset >= last.offset && extent.end() <= last.end() {
                return false;
            }
        }
        if self.runs.len() == RUNS_MAX {
            self.runs.remove(0);
        }
        self.runs.push(extent);
        true
    }

    /// A stride turned out to be none.
    pub(crate) fn doubt(&mut self) {
        self.doubt = (self.doubt + DOUBT).min(DOUBT_MAX);
    }

    /// Even steps that lead to the run that has just begun, and the bytes that were read on the way.
    pub(crate) fn find(&self) -> Option<(Shape, u64)> {
        let newest = *self.runs.last()?;
        let before = self.runs.len() - 1;
        // A bit for each slot rules out most steps without a search.
        let slot = |offset| slot_of(offset, SLOTS);
        let mut slots = [false; SLOTS];
        self.runs.iter().for_each(|run| slots[slot(run.offset)] = true);
        (0..before).rev().find_map(|at| {
            let run = self.runs[at];
            if !slots[slot(run.offset.wrapping_mul(2).wrapping_sub(newest.offset))] {
                return None;
            }
            let step = newest.offset.cast_signed() - run.offset.cast_signed();
            if step.unsigned_abs() <= run.len {
                return None;
            }
            let steps = STEPS_MIN + self.doubt + usize::from(at + 1 < before);
            let first = (1..steps as i64).try_fold(run, |_, count| {
                let back = step.checked_mul(count)?;
                let offset = u64::try_from(run.offset.cast_signed().checked_sub(back)?).ok()?;
                let is_same = |other: &&Extent| other.offset == offset && other.len == run.len;
                self.runs.iter().find(is_same).copied()
            })?;
            Some((Shape::strided(first, step), steps as u64 * run.len))
        })
    }

    pub(crate) fn clear(&mut self) {
        self.runs.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(offsets: &[u64]) -> Option<(Shape, u64)> {
        let mut strides = Strides::default();
        offsets.iter().for_each(|offset| {
            strides.note(Extent::new(*offset, 10));
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
    fn with_others_in_between_it_takes_one_more() {
        assert_eq!(found(&[0, 7000, 100, 9000, 200, 8000, 300]), None);
        assert!(found(&[0, 7000, 100, 9000, 200, 8000, 300, 5000, 400]).is_some());
    }
}
