//! Whether a reader that cannot be read ahead of shares the device with others' readahead.
//!
//! Bytes in flight are in front of the next request. A reader loses nothing by its own readahead, which
//! saves it later waits. But a reader that waits for every read gets less than its fair share when others
//! have much in flight. A reader that goes from object to object has no other beside it: no one else reads
//! while its fetch is in flight.

use crate::types::{ObjectId, ReaderId, Time};

/// A reader that returns within this many latencies waits all the time.
const PAUSE_LATENCIES: u64 = 2;
/// A reader that has not read for this many latencies has left.
const GONE_LATENCIES: u64 = 16;

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Contention {
    last: Option<(ObjectId, ReaderId)>,
    /// Fetches in flight that nothing is read ahead with, and when one ended last.
    alone_count: usize,
    ended: Option<Time>,
    /// When somebody else than the reader before read while such a fetch was in flight.
    other: Option<Time>,
}

impl Contention {
    /// `reader` reads `object`.
    pub(crate) fn record_read(&mut self, now: Time, object: ObjectId, reader: ReaderId) {
        if self.alone_count > 0 && self.last.is_some_and(|last| last != (object, reader)) {
            self.other = Some(now);
        }
        self.last = Some((object, reader));
    }

    /// A fetch begins that nothing is read ahead with.
    pub(crate) fn begin_alone(&mut self) {
        self.alone_count += 1;
    }

    /// Such a fetch is over.
    pub(crate) fn end_alone(&mut self, now: Time) {
        self.alone_count -= 1;
        self.ended = Some(now);
    }

    /// Whether a reader waits for such fetches again and again, on a device with a latency of `latency_ns`,
    /// while others read.
    pub(crate) fn is_contended(&self, now: Time, latency_ns: u64) -> bool {
        let is_within = |since: Option<Time>, latencies: u64| {
            since.is_some_and(|since| now.since(since) <= latencies * latency_ns)
        };
        let waits = self.alone_count > 0 || is_within(self.ended, PAUSE_LATENCIES);
        waits && is_within(self.other, GONE_LATENCIES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATENCY: u64 = 1_000_000;

    fn read(contention: &mut Contention, now: u64, object: u64) {
        contention.record_read(Time(now), ObjectId(object), ReaderId(object));
    }

    #[test]
    fn a_single_reader_is_not_contended() {
        let mut contention = Contention::default();
        for now in 0..100 {
            read(&mut contention, now * LATENCY, 0);
            contention.begin_alone();
            assert!(!contention.is_contended(Time(now * LATENCY), LATENCY));
            contention.end_alone(Time(now * LATENCY));
        }
    }

    #[test]
    fn a_reader_that_goes_from_object_to_object_is_not_contended() {
        let mut contention = Contention::default();
        for now in 0..100 {
            read(&mut contention, now * LATENCY, now);
            contention.begin_alone();
            assert!(!contention.is_contended(Time(now * LATENCY), LATENCY));
            contention.end_alone(Time(now * LATENCY));
        }
    }

    #[test]
    fn a_waiting_reader_is_contended_until_it_or_the_others_leave() {
        let mut contention = Contention::default();
        read(&mut contention, 0, 0);
        contention.begin_alone();
        assert!(!contention.is_contended(Time(0), LATENCY), "nobody else is there");
        read(&mut contention, 0, 1);
        assert!(contention.is_contended(Time(LATENCY), LATENCY));
        contention.end_alone(Time(LATENCY));
        assert!(contention.is_contended(Time(3 * LATENCY), LATENCY));
        assert!(!contention.is_contended(Time(4 * LATENCY), LATENCY), "it does not come back");
        contention.begin_alone();
        assert!(!contention.is_contended(Time(17 * LATENCY), LATENCY), "the other has gone");
    }
}
