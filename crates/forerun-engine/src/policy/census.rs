//! Counts things that were seen recently: in this period, or in the last if there were more.

use crate::types::Time;

/// Long enough that a stream of a few requests a second counts. Short enough that a reader that has gone
/// takes no share of the device.
pub(super) const PERIOD_NS: u64 = 250_000_000;

/// Which period it is: they are enough for decades.
pub(super) fn period(now: Time) -> u32 {
    (now.0 / PERIOD_NS).min(u64::from(u32::MAX - 1)) as u32
}

/// See the module's page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Census {
    period: u32,
    count: u64,
    count_before: u64,
}

impl Census {
    /// It is `period` now.
    pub(super) fn enter_period(&mut self, period: u32) {
        if period != self.period {
            self.count_before = if period == self.period + 1 { self.count } else { 0 };
            self.count = 0;
            self.period = period;
        }
    }

    /// One more was seen in this period.
    pub(super) fn add(&mut self) {
        self.count += 1;
    }

    /// One is seen in `period` that was seen last in `seen`.
    pub(super) fn count_once(&mut self, period: u32, seen: &mut Option<u32>) {
        self.enter_period(period);
        if seen.replace(period) != Some(period) {
            self.add();
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.count.max(self.count_before)
    }

    /// Counts one out that was seen last in the period `seen`.
    pub(super) fn leave(&mut self, seen: &mut Option<u32>) {
        match seen.take() {
            Some(period) if period == self.period => self.count -= 1,
            Some(period) if period + 1 == self.period => self.count_before -= 1,
            _ => {}
        }
    }
}
