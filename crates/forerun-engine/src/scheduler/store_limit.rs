//! The number of fetches in flight for a store that asks for fewer: half as many at once, and then slowly
//! more.

//= Chiu, Jain, "Analysis of the increase and decrease algorithms for congestion avoidance", 1989

use crate::types::Time;

/// See the module's page.
#[derive(Debug)]
pub(crate) struct StoreLimit {
    /// Fetches in flight at which no more are started.
    in_flight_max: usize,
    /// The same as long as the store takes all.
    ceiling: usize,
    /// Fetches that have ended since it changed.
    ended_count: usize,
    lowered: Time,
}

impl StoreLimit {
    pub(crate) fn new(ceiling: usize) -> StoreLimit {
        StoreLimit { in_flight_max: ceiling, ceiling, ended_count: 0, lowered: Time(0) }
    }

    pub(crate) fn in_flight_max(&self) -> usize {
        self.in_flight_max
    }

    /// The store asked for fewer while `in_flight` fetches were in flight. The fetch was dispatched at
    /// `dispatched`. Fetches dispatched before the last such answer bring no news.
    pub(crate) fn lower(&mut self, now: Time, dispatched: Time, in_flight: usize) {
        if dispatched >= self.lowered {
            self.in_flight_max = self.in_flight_max.min(in_flight / 2).max(1);
            (self.lowered, self.ended_count) = (now, 0);
        }
    }

    /// A fetch has brought its bytes. As many such fetches as may be in flight make room for one more.
    pub(crate) fn record_fetched(&mut self) {
        self.ended_count += 1;
        if self.ended_count >= self.in_flight_max {
            self.in_flight_max = self.ceiling.min(self.in_flight_max + 1);
            self.ended_count = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_refusals_halves_once_and_fetches_recover_slowly() {
        let mut limit = StoreLimit::new(128);
        (0..1000).for_each(|_| limit.record_fetched());
        assert_eq!(limit.in_flight_max(), 128);
        (0..40).for_each(|refused| limit.lower(Time(100 + refused), Time(50 + refused), 40));
        assert_eq!(limit.in_flight_max(), 20);
        (0..20).for_each(|_| limit.record_fetched());
        assert_eq!(limit.in_flight_max(), 21);
        limit.lower(Time(300), Time(200), 21);
        assert_eq!(limit.in_flight_max(), 10);
        for at in 4..40 {
            limit.lower(Time(at * 100), Time(at * 100), 3);
        }
        assert_eq!(limit.in_flight_max(), 1);
        (0..20_000).for_each(|_| limit.record_fetched());
        assert_eq!(limit.in_flight_max(), 128);
    }
}
