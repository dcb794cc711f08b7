//! Finding even steps in what is read.
//!
//! Remembers runs: reads that went on where the one before ended count as one, so
//! three reads and a jump are a step as much as one read and a jump.

use alloc::vec::Vec;

use super::strides::Strides;
use crate::types::Extent;

/// Runs remembered: 16 steps from one to the next.
const RUNS_MAX: usize = 17;
/// Steps in one period at most: half of those remembered, to have seen it twice.
const PERIOD_MAX: usize = RUNS_MAX / 2;
/// Equal steps that make a stride.
const EQUAL_MIN: usize = 3;
/// And if others read in between: among many reads, some lie even by chance.
const EQUAL_AMONG_OTHERS: usize = 4;

/// The last runs, oldest first.
#[derive(Debug, Default)]
pub(super) struct Rhythm {
    runs: Vec<Extent>,
}

impl Rhythm {
    /// Somebody reads `extent`. True if it goes on where the last run was; if not,
    /// it is no run yet.
    pub(super) fn goes_on(&mut self, extent: Extent) -> bool {
        let Some(last) = self.runs.last_mut() else { return false };
        if last.end() == extent.offset {
            last.len += extent.len;
            return true;
        }
        extent.offset >= last.offset && extent.end() <= last.end()
    }

    /// `extent` begins a run.
    pub(super) fn begin(&mut self, extent: Extent) {
        if self.runs.len() == RUNS_MAX {
            self.runs.remove(0);
        }
        if self.runs.is_empty() {
            // Most objects are read in one run.
            self.runs.reserve_exact(1);
        }
        self.runs.push(extent);
    }

    /// The way of which the run that has just begun is a step, and the position to
    /// which it was seen.
    pub(super) fn find(&self) -> Option<(Strides, u64)> {
        (1..=PERIOD_MAX).find_map(|period| self.with_period(period)).or_else(|| self.among_others())
    }

    /// Steps that repeat after `period` of them.
    fn with_period(&self, period: usize) -> Option<(Strides, u64)> {
        let equal = if period == 1 { EQUAL_MIN } else { 2 * period };
        // So many steps take one run more, the one that has just begun.
        let first = self.runs.len().checked_sub(equal + 1)?;
        let runs = &self.runs[first..];
        let step = |index: usize| runs[index + 1].offset as i64 - runs[index].offset as i64;
        let is_repeated = |index: usize| step(index) == step(index - period);
        // The last run is not over, so its length says nothing.
        let is_alike = |index: usize| runs[index].len == runs[index - period].len;
        if !(period..equal).all(is_repeated) || !(period..equal).all(is_alike) {
            return None;
        }
        let total = runs[period].offset as i64 - runs[0].offset as i64;
        Some((apart(runs[..period].to_vec(), total)?, bytes_of(&runs[..equal])))
    }

    /// Even steps of one stream among the runs of others: five runs of one length.
    fn among_others(&self) -> Option<(Strides, u64)> {
        let (new, before) = self.runs.split_last()?;
        before.iter().rev().find_map(|run| {
            let step = new.offset as i64 - run.offset as i64;
            let back = |count: i64| u64::try_from(run.offset as i64 - count * step).ok();
            let first = (1..EQUAL_AMONG_OTHERS as i64).try_fold(*run, |_, count| {
                let offset = back(count)?;
                before.iter().find(|other| other.offset == offset && other.len == run.len).copied()
            })?;
            Some((apart([first].to_vec(), step)?, EQUAL_AMONG_OTHERS as u64 * run.len))
        })
    }

    /// Forgets.
    pub(super) fn clear(&mut self) {
        self.runs = Vec::new();
    }
}

fn bytes_of(runs: &[Extent]) -> u64 {
    runs.iter().map(|run| run.len).sum()
}

/// Steps that leave nothing out are a sequential stream's.
fn apart(elements: Vec<Extent>, period: i64) -> Option<Strides> {
    let strides = Strides::new(elements, period)?;
    (period.unsigned_abs() > strides.element_bytes()).then_some(strides)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(reads: &[(u64, u64)]) -> Option<Strides> {
        let mut rhythm = Rhythm::default();
        let mut new = false;
        for (offset, len) in reads {
            let extent = Extent::new(*offset, *len);
            new = !rhythm.goes_on(extent);
            if new {
                rhythm.begin(extent);
            }
        }
        if new { rhythm.find().map(|(strides, _)| strides) } else { None }
    }

    #[track_caller]
    fn check(reads: &[(u64, u64)], next: u64) {
        let strides = found(reads).expect("even steps");
        let last = Extent::new(reads.last().unwrap().0, 1);
        let mut wanted: Vec<Extent> = alloc::vec![];
        let end = strides.element_end(strides.positions(last, u64::MAX).unwrap().offset);
        strides.extents(Extent::new(end, 1), |extent| wanted.push(extent));
        assert_eq!(wanted[0].offset, next);
    }

    #[test]
    fn three_equal_steps_are_a_stride() {
        check(&[(100, 10), (200, 10), (300, 10), (400, 10)], 500);
        check(&[(900, 10), (800, 10), (700, 10), (600, 10)], 500);
        assert_eq!(found(&[(100, 10), (200, 10), (300, 10)]), None);
        assert_eq!(found(&[(100, 10), (200, 10), (300, 10), (401, 10)]), None);
    }

    #[test]
    fn reads_in_a_row_are_one_run() {
        check(&[(0, 10), (10, 10), (100, 10), (110, 10), (200, 10), (210, 10), (300, 10)], 400);
    }

    #[test]
    fn steps_may_repeat_in_a_longer_period() {
        check(&[(0, 10), (30, 10), (100, 10), (130, 10), (200, 10)], 230);
        check(&[(0, 10), (5000, 10), (100, 10), (5100, 10), (200, 10)], 5200);
    }

    #[test]
    fn streams_in_no_order_are_told_apart() {
        check(&[(0, 10), (7000, 5), (7777, 5), (100, 10), (200, 10), (9111, 5), (300, 10), (400, 10)], 500);
    }

    #[test]
    fn random_reads_have_no_rhythm() {
        assert_eq!(found(&[(71, 10), (13, 10), (95, 10), (44, 10), (22, 10), (60, 10)]), None);
    }
}
