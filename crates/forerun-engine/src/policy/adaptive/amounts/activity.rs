//! How many streams are being read just now, and how many hold memory.
//!
//! Whoever reads every few seconds needs memory all the time, but the device only
//! now and then. A stream holds memory until a few of its own pauses have passed:
//! streams with pauses of one order of magnitude are counted together, once in each
//! period that is long enough for them.

use crate::policy::census::{Census, PERIOD_NS, period};
use crate::types::Time;

/// A period is at least so many of a stream's pauses,
const PAUSES: u64 = 4;
/// and at most so many times that, so that a stream does not change it with
/// every pause.
const SLACK: u64 = 4;
/// Each period is twice as long as the one before, the last 64 s.
const CLASSES: usize = 9;
/// The class of a stream whose pauses are not known yet: 8 s.
const CLASS_UNKNOWN: usize = 5;

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    reading: Census,
    holding: [Census; CLASSES],
    /// Up to when those were turned, in the shortest periods.
    period: u32,
    /// Of all classes: asked for with every read, and seldom another.
    holding_count: u64,
    /// Beside the streams, how many are read that are followed.
    followed_count: u64,
}

/// What a stream remembers of being counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    /// The last period in which it was counted as being read.
    reading: Option<u32>,
    /// Its class, and the last period in which it was counted there.
    holding: Option<(u8, u32)>,
    last_read: Option<Time>,
    pause_ns: Option<u64>,
}

impl Counted {
    /// The time from one read to the next, smoothed, once it is known.
    pub(crate) fn pause_ns(&self) -> Option<u64> {
        self.pause_ns
    }

    /// It was read on without a look at its pauses.
    pub(crate) fn rest(&mut self, now: Time) {
        self.last_read = Some(now);
    }

    fn note(&mut self, now: Time) {
        if let Some(last) = self.last_read {
            let pause = now.since(last);
            self.pause_ns = Some(self.pause_ns.map_or(pause, |mean| mean - mean / 8 + pause / 8));
        }
        self.last_read = Some(now);
    }

    /// The class that its pauses call for.
    fn class(&self) -> usize {
        let Some(pause) = self.pause_ns else { return CLASS_UNKNOWN };
        let mut class = self.holding.map_or(0, |(class, _)| usize::from(class));
        while class > 0 && SLACK * PAUSES * pause < period_ns(class) {
            class -= 1;
        }
        while class + 1 < CLASSES && PAUSES * pause > period_ns(class) {
            class += 1;
        }
        class
    }
}

fn period_ns(class: usize) -> u64 {
    PERIOD_NS << class
}

impl Activity {
    /// The stream that remembers `counted` is read.
    pub(crate) fn note(&mut self, now: Time, counted: &mut Counted) {
        counted.note(now);
        let period = period(now);
        // Each class's period holds a whole number of the first's.
        let period_in = |class: usize| period >> class;
        self.reading.note(period, &mut counted.reading);
        let class = counted.class();
        let place = (class as u8, period_in(class));
        if counted.holding != Some(place) {
            if counted.holding.is_some_and(|(before, _)| usize::from(before) != class) {
                self.leave(counted);
            }
            if self.period != period {
                self.period = period;
                self.holding.iter_mut().enumerate().for_each(|(class, census)| census.turn(period_in(class)));
                self.count_holding();
            }
            let census = &mut self.holding[class];
            let before = census.count();
            census.add();
            self.holding_count += census.count() - before;
            counted.holding = Some(place);
        }
    }

    /// The stream holds nothing any more.
    pub(crate) fn leave(&mut self, counted: &mut Counted) {
        if let Some((class, period)) = counted.holding.take() {
            self.holding[usize::from(class)].leave(period);
            self.count_holding();
        }
    }

    /// Beside the streams, so many are read that are followed.
    pub(crate) fn set_followed(&mut self, count: u64) {
        self.followed_count = count;
    }

    /// Those that were read in this period or the last, whichever had more; at least 1.
    pub(crate) fn reading_count(&self) -> u64 {
        self.counts_with(self.followed_count).0
    }

    /// Those that hold memory; at least 1.
    pub(crate) fn holding_count(&self) -> u64 {
        self.counts_with(self.followed_count).1
    }

    /// Both, if so many are `followed`.
    pub(crate) fn counts_with(&self, followed: u64) -> (u64, u64) {
        let reading = (self.reading.count() + followed).max(1);
        (reading, reading.max(self.holding_count + followed))
    }

    fn count_holding(&mut self) {
        self.holding_count = self.holding.iter().map(Census::count).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `count` streams read every `pause_ms` each, one after the other, for so long
    /// that it is known: how many are said to read, and to hold memory.
    fn counts(count: u64, pause_ms: u64) -> (u64, u64) {
        let mut activity = Activity::default();
        let mut streams = alloc::vec![Counted::default(); count as usize];
        for round in 0..64 {
            for (index, counted) in (0..).zip(&mut streams) {
                let ns = round * pause_ms * 1_000_000 + index * pause_ms * 1_000_000 / count;
                activity.note(Time(ns), counted);
            }
        }
        (activity.reading_count(), activity.holding_count())
    }

    #[test]
    fn slow_streams_hold_memory() {
        assert_eq!(counts(800, 4000), (50, 800));
        assert_eq!(counts(3, 10), (3, 3));
        assert_eq!(counts(128, 6400).1, 128);
    }

    #[test]
    fn who_has_gone_holds_nothing() {
        let mut activity = Activity::default();
        let (mut gone, mut here) = (Counted::default(), Counted::default());
        for ms in 0..1000 {
            activity.note(Time(ms * 1_000_000), &mut gone);
            activity.note(Time(ms * 1_000_000), &mut here);
        }
        assert_eq!(activity.holding_count(), 2);
        (1000..2000).for_each(|ms| activity.note(Time(ms * 1_000_000), &mut here));
        assert_eq!(activity.holding_count(), 1);
        activity.note(Time(2_000_000_000), &mut gone);
        activity.leave(&mut gone);
        assert_eq!(activity.holding_count(), 1);
    }
}
