//! Finding even steps in what is read.
//!
//! Remembers runs: reads that went on where the one before ended count as one, so
//! three reads and a jump are a step as much as one read and a jump.

use alloc::vec::Vec;

use super::strides::Strides;
use crate::scatter::slot_of;
use crate::types::Extent;

/// Runs remembered: 16 steps from one to the next.
const RUNS_MAX: usize = 17;
/// Steps in one period at most: half of those remembered, to have seen it twice.
const PERIOD_MAX: usize = RUNS_MAX / 2;
/// Equal steps that make a stride.
const EQUAL_MIN: usize = 3;
/// And if others read in between: among many reads, some lie even by chance.
const EQUAL_AMONG_OTHERS: usize = 4;

/// So many more are asked for at most where steps often turned out to be even by chance: where all reads
/// are of whole blocks, many distances are the same.
pub(super) const DOUBT_MAX: u8 = 6;

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
    /// which it was seen. It takes `doubt` equal steps more than usual.
    pub(super) fn find(&self, doubt: u8) -> Option<(Strides, u64)> {
        let doubt = usize::from(doubt);
        self.alone(doubt).or_else(|| self.among_others(doubt))
    }

    /// Steps of nobody else.
    fn alone(&self, doubt: usize) -> Option<(Strides, u64)> {
        let newest = self.step(0)?;
        for period in 1..=PERIOD_MAX {
            // Nearly always no step is like the newest.
            if self.step(period)? == newest
                && let Some(found) = self.with_period(period, doubt)
            {
                return Some(found);
            }
        }
        None
    }

    /// From one run to the next, `before` the newest such step.
    fn step(&self, before: usize) -> Option<i64> {
        let to = self.runs.len().checked_sub(before + 1)?;
        Some(self.runs[to].offset as i64 - self.runs.get(to.checked_sub(1)?)?.offset as i64)
    }

    /// Steps that repeat after `period` of them.
    fn with_period(&self, period: usize, doubt: usize) -> Option<(Strides, u64)> {
        let equal = doubt + if period == 1 { EQUAL_MIN } else { 2 * period };
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
    fn among_others(&self, doubt: usize) -> Option<(Strides, u64)> {
        let (new, before) = self.runs.split_last()?;
        let offsets = Offsets::of(before);
        let equal = EQUAL_AMONG_OTHERS + doubt;
        let is_step = |run: &&Extent| offsets.may_have((2 * run.offset).wrapping_sub(new.offset));
        before.iter().rev().filter(is_step).find_map(|run| {
            let step = new.offset as i64 - run.offset as i64;
            let back = |count: i64| u64::try_from(run.offset as i64 - count * step).ok();
            let first = (1..equal as i64).try_fold(*run, |_, count| {
                let offset = back(count)?;
                before.iter().find(|other| other.offset == offset && other.len == run.len).copied()
            })?;
            Some((apart([first].to_vec(), step)?, equal as u64 * run.len))
        })
    }

    /// Forgets.
    pub(super) fn clear(&mut self) {
        self.runs = Vec::new();
    }
}

/// Where runs began: nearly all other offsets are told from those at a glance, and every read
/// at random asks about as many as there are.
struct Offsets([bool; 256]);

impl Offsets {
    fn of(runs: &[Extent]) -> Offsets {
        let mut offsets = Offsets([false; 256]);
        runs.iter().for_each(|run| offsets.0[Offsets::place(run.offset)] = true);
        offsets
    }

    fn may_have(&self, offset: u64) -> bool {
        self.0[Offsets::place(offset)]
    }

    fn place(offset: u64) -> usize {
        slot_of(offset, 256)
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
        if new { rhythm.find(0).map(|(strides, _)| strides) } else { None }
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
    fn in_doubt_more_steps_are_asked_for() {
        let seen = |count: u64, doubt| {
            let mut rhythm = Rhythm::default();
            (0..count).for_each(|index| rhythm.begin(Extent::new(index * 100, 10)));
            rhythm.find(doubt).map(|(_, seen)| seen)
        };
        assert_eq!((seen(4, 0), seen(4, 1), seen(5, 1)), (Some(30), None, Some(40)));
        assert!(seen(RUNS_MAX as u64, DOUBT_MAX).is_some(), "it may earn its way back");
    }

    #[test]
    fn random_reads_have_no_rhythm() {
        assert_eq!(found(&[(71, 10), (13, 10), (95, 10), (44, 10), (22, 10), (60, 10)]), None);
    }
}
