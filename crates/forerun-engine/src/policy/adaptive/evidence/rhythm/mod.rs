//! Finding even steps in what is read.
//!
//! Remembers runs: reads that went on where the one before ended count as one, so
//! three reads and a jump are a step as much as one read and a jump.

mod run;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;

use crate::policy::adaptive::stream::Strides;
use crate::types::{BLOCK_BYTES, Extent};
use run::Run;

/// Runs remembered besides the newest: 16 steps from one to the next.
const BEFORE_MAX: usize = 16;
/// Steps in one period at most: half of those remembered, to have seen it twice.
const PERIOD_MAX: usize = BEFORE_MAX / 2;
/// Equal steps that make a stride.
const EQUAL_MIN: usize = 3;
/// Runs this long need not be even to the byte: where blocks of them are read, none are that begin
/// anywhere.
const LONG_BYTES: u64 = 16 * BLOCK_BYTES;

/// The last runs.
#[derive(Debug, Default)]
pub(crate) struct Rhythm {
    /// Empty before the first one.
    newest: Run,
    /// Those before it, the oldest first. Boxed, since most objects are read in one run.
    #[allow(clippy::box_collection)]
    before: Option<Box<Vec<Run>>>,
}

impl Rhythm {
    /// Somebody reads `extent`. True if it goes on where the last run was; if not,
    /// it is no run yet.
    pub(crate) fn goes_on(&mut self, extent: Extent) -> bool {
        if self.newest.takes(extent) {
            self.join();
            return true;
        }
        // A reader that looked elsewhere meanwhile comes back to a run of one read.
        let Some(before) = self.before.as_mut().filter(|_| !self.newest.is_long()) else { return false };
        let last = before.pop_if(|last| !last.is_long() && last.clone().takes(extent));
        let Some(mut last) = last else { return false };
        last.takes(extent);
        before.push(mem::replace(&mut self.newest, last));
        self.join();
        true
    }

    /// One run with the one before, if the newest has come to it: down to where that had come up to,
    /// or to a lone read.
    fn join(&mut self) {
        let (newest, is_down) = (self.newest.extent(), self.newest.is_down());
        let touches = |run: &mut Run| {
            let before = run.extent();
            let is_below = before.end() == newest.offset;
            let is_gap = is_below && is_down && !run.is_down();
            is_gap || !run.is_long() && (is_below || newest.end() == before.offset)
        };
        if let Some(run) = self.before.as_mut().and_then(|before| before.pop_if(touches)) {
            self.newest = self.newest.joined(&run);
        }
    }

    /// The newest run.
    pub(crate) fn newest(&self) -> Extent {
        self.newest.extent()
    }

    /// The newest run, if its parts were read in another order than upward.
    pub(crate) fn joined(&self) -> Option<Extent> {
        self.newest.is_joined().then(|| self.newest.extent())
    }

    /// `extent` begins a run.
    pub(crate) fn begin(&mut self, extent: Extent) {
        let last = mem::replace(&mut self.newest, Run::of_one(extent));
        if last.extent().is_empty() {
            return;
        }
        // Seldom, so that the others need not move for each.
        let before = self.before.get_or_insert_default();
        if before.len() == 2 * BEFORE_MAX {
            before.drain(..=BEFORE_MAX);
        }
        before.push(last);
    }

    /// The way of which the run that has just begun is a step, and the position to
    /// which it was seen.
    pub(crate) fn find(&self) -> Option<(Strides, u64)> {
        let before = self.before.as_ref()?;
        let last = before.last()?;
        // The newest run has no direction yet: it has that of the others.
        let anchors = |two: [&Run; 2], is_down: bool| two[1].anchor(is_down) - two[0].anchor(is_down);
        let is_down = before.iter().rev().take(PERIOD_MAX).any(Run::is_down);
        let newest = anchors([last, &self.newest], is_down);
        let steps = &before[before.len().saturating_sub(PERIOD_MAX + 1)..];
        let is_newest =
            |two: &[Run]| anchors([&two[0], &two[1]], is_down).abs_diff(newest) <= slack(two[0].extent().len);
        // Nearly always no step is like the newest.
        if !steps.windows(2).any(is_newest) {
            return None;
        }
        let alike = steps.windows(2).rev().zip(1..).filter(|(two, _)| is_newest(two));
        alike.map(|(_, period)| period).find_map(|period| self.with_period(before, period, is_down))
    }

    /// Steps that repeat after `period` of them.
    fn with_period(&self, before: &[Run], period: usize, is_down: bool) -> Option<(Strides, u64)> {
        let equal = if period == 1 { EQUAL_MIN } else { 2 * period };
        let runs = &before[before.len().checked_sub(equal)?..];
        let run = |index: usize| runs.get(index).unwrap_or(&self.newest);
        let step = |index: usize| run(index + 1).anchor(is_down) - run(index).anchor(is_down);
        let len = |index: usize| runs[index].extent().len;
        let is_repeated =
            |index: usize| step(index).abs_diff(step(index - period)) <= slack(len(index - period));
        // The last run is not over, so its length says nothing.
        let is_alike = |index: usize| len(index).abs_diff(len(index - period)) <= slack(len(index - period));
        let is_one_way = runs.iter().all(|run| run.is_down() == is_down || !run.is_long());
        if !is_one_way || !(period..equal).all(is_repeated) || !(period..equal).all(is_alike) {
            return None;
        }
        let total = run(period).anchor(is_down) - run(0).anchor(is_down);
        let is_even = |index: usize| step(index) == step(index - period) && len(index) == len(index - period);
        if (period..equal).all(is_even) {
            let elements = runs[..period].iter().map(Run::extent).collect();
            return Some((apart(elements, total, is_down)?, bytes_of(runs)));
        }
        // Of one element alone it is worth it.
        let mean = (self.newest.anchor(is_down) - run(0).anchor(is_down)) / equal as i64;
        let strides =
            apart([runs[0].extent()].to_vec(), mean, is_down).filter(|_| period == 1)?.loosened()?;
        let seen = equal as u64 * strides.element_bytes();
        Some((strides, seen))
    }

    /// Forgets.
    pub(crate) fn clear(&mut self) {
        *self = Rhythm::default();
    }
}

/// How uneven steps of runs of `len` bytes may be: long ones begin and end within a block.
fn slack(len: u64) -> u64 {
    if len >= LONG_BYTES { BLOCK_BYTES } else { 0 }
}

/// Steps that leave nothing out are a sequential stream's, unless they go the other way than
/// the reads of which each consists.
fn apart(elements: Vec<Extent>, period: i64, is_down: bool) -> Option<Strides> {
    let strides = Strides::new(elements, period)?.downward(is_down);
    let is_against = is_down == (period > 0);
    let least = strides.element_bytes() + u64::from(!is_against);
    (period.unsigned_abs() >= least).then_some(strides)
}

fn bytes_of(runs: &[Run]) -> u64 {
    runs.iter().map(|run| run.extent().len).sum()
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
    fn runs_that_go_down_are_steps_from_end_to_end() {
        // Each run is read downward, and the next one begins above: the steps leave nothing out.
        let down = |run: u64| [(run * 30 + 20, 10), (run * 30 + 10, 10), (run * 30, 10)];
        let mut reads: Vec<_> = (0..3).flat_map(down).collect();
        assert_eq!(found(&reads), None);
        reads.push((110, 10));
        let strides = found(&reads).expect("even steps");
        let mut wanted: Vec<Extent> = alloc::vec![];
        strides.extents(Extent::new(90, 10), |extent| wanted.push(extent));
        assert_eq!(wanted, [Extent::new(110, 10)]);
        // Upward, the same is one run.
        assert_eq!(found(&[(0, 30), (30, 30), (60, 30), (90, 30)]), None);
    }

    #[test]
    fn a_look_at_the_end_is_part_of_its_run() {
        let up = |at: u64| [(at, 10), (at + 30, 10), (at + 10, 10), (at + 20, 10)];
        let down = |at: u64| [(at, 10), (at + 30, 10), (at + 20, 10), (at + 10, 10)];
        let reads = [up(0), down(100), up(200)].concat();
        check(&[&reads[..], &[(300, 10)]].concat(), 400);
        // Side by side they are one run, whichever way each is read.
        let mut rhythm = Rhythm::default();
        for (offset, len) in [up(0), down(40), down(80)].concat() {
            let extent = Extent::new(offset, len);
            if !rhythm.goes_on(extent) {
                rhythm.begin(extent);
            }
        }
        assert_eq!(rhythm.joined(), Some(Extent::new(0, 120)));
    }

    #[test]
    fn long_runs_may_be_a_block_off() {
        let run = |block: u64| (block * BLOCK_BYTES, LONG_BYTES);
        let strides = found(&[run(10), run(110), run(211), run(311)]).expect("even but for a block");
        let mut wanted: Vec<Extent> = alloc::vec![];
        strides.extents(Extent::new(4 * strides.element_bytes(), 1), |extent| wanted.push(extent));
        let expected = 10 * BLOCK_BYTES + 301 * BLOCK_BYTES / 3 * 4;
        assert_eq!(wanted[0].offset, expected - BLOCK_BYTES, "a block before");
        assert_eq!(found(&[run(10), run(110), run(212), run(312)]), None, "two blocks off");
    }

    #[test]
    fn steps_may_repeat_in_a_longer_period() {
        check(&[(0, 10), (30, 10), (100, 10), (130, 10), (200, 10)], 230);
        check(&[(0, 10), (5000, 10), (100, 10), (5100, 10), (200, 10)], 5200);
    }

    #[test]
    fn random_reads_have_no_rhythm() {
        assert_eq!(found(&[(71, 10), (13, 10), (95, 10), (44, 10), (22, 10), (60, 10)]), None);
    }
}
