//! How many streams are being read just now.

use crate::types::Time;

/// Long enough that a stream of a few requests a second counts, short enough
/// that memory comes back soon after a reader has gone.
const PERIOD_NS: u64 = 250_000_000;
/// Among reads at random a few look like streams by chance.
const QUIET_COUNT: u64 = 2;

/// Counts streams once in each period of [`PERIOD_NS`].
#[derive(Debug)]
pub(super) struct Activity {
    period: u64,
    count: u64,
    count_before: u64,
}

/// The last period in which a stream was counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted(Option<u64>);

impl Activity {
    pub(super) fn new() -> Activity {
        Activity { period: 0, count: 0, count_before: 0 }
    }

    /// The stream that remembers `counted` is read.
    pub(super) fn note(&mut self, now: Time, counted: &mut Counted) {
        let period = now.0 / PERIOD_NS;
        if period != self.period {
            self.count_before = if period == self.period + 1 { self.count } else { 0 };
            self.count = 0;
            self.period = period;
        }
        if counted.0 != Some(period) {
            counted.0 = Some(period);
            self.count += 1;
        }
    }

    /// Whether few streams, if any, were read in this period or the last.
    pub(super) fn is_quiet(&self, now: Time) -> bool {
        now.0 / PERIOD_NS > self.period + 1 || self.count.max(self.count_before) <= QUIET_COUNT
    }

    /// Streams read in this period or the last, whichever had more; at least 1.
    pub(super) fn count(&self) -> u64 {
        self.count.max(self.count_before).max(1)
    }
}
