//! The rate at which concurrent fetches are carried.
//!
//! A device may deliver all bytes of a fetch at once. Bytes that arrive during one fetch were then partly
//! requested before it, so counting them would exceed the rate of the link. This module counts only bytes
//! that were requested and delivered within one and the same period.

use super::filter::Filter;
use crate::device::{Sample, rate};
use crate::types::Time;

/// A period lasts this many times as long as a fetch, so that little is cut off at its ends.
const FETCHES: u64 = 8;

/// See the module's page.
#[derive(Debug)]
pub(crate) struct Carried {
    rate: Filter,
    since: Time,
    bytes: u64,
}

impl Carried {
    pub(crate) fn new() -> Carried {
        Carried { rate: Filter::largest(), since: Time(0), bytes: 0 }
    }

    /// A fetch is over, and one takes `service_ns`.
    pub(crate) fn on_fetched(&mut self, now: Time, sample: &Sample, service_ns: u64) {
        if sample.dispatched >= self.since {
            self.bytes += sample.bytes;
        }
        let took = now.since(self.since);
        if took >= FETCHES * service_ns {
            self.rate.add(now, rate(self.bytes, took));
            (self.since, self.bytes) = (now, 0);
        }
    }

    /// Bytes a second, no more than are carried; none before the first while is over.
    pub(crate) fn rate(&self) -> Option<u64> {
        self.rate.get()
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::VecDeque;

    use super::*;
    use crate::device::estimates::Locality;
    use crate::types::ObjectId;

    const MS: u64 = 1_000_000;
    const LEN: u64 = 100_000;

    fn sample(dispatched: u64, bytes: u64) -> Sample {
        Sample {
            object: ObjectId(0),
            offset: 0,
            index: 0,
            ahead: 0,
            locality: Locality::Elsewhere,
            dispatched: Time(dispatched),
            delivered_before: 0,
            first_arrived: Time(dispatched),
            first_bytes: bytes,
            bytes,
        }
    }

    /// A thousand fetches, `depth` at a time, over a link that carries 100 KB in a millisecond. Each comes
    /// all at once, at the earliest 4 ms after its dispatch. Every eighth is eight times as long.
    fn rate_of(depth: usize) -> u64 {
        let mut carried = Carried::new();
        let (mut fetches, mut now, mut service_ns) = (VecDeque::new(), 0, 4 * MS);
        for index in 0..1000 {
            while fetches.len() < depth {
                fetches.push_back(now);
            }
            let bytes = if index % 8 == 0 { 8 * LEN } else { LEN };
            let dispatched = fetches.pop_front().unwrap();
            now = (now + bytes / LEN * MS).max(dispatched + 4 * MS);
            service_ns = service_ns - service_ns / 8 + (now - dispatched) / 8;
            carried.on_fetched(Time(now), &sample(dispatched, bytes), service_ns);
        }
        carried.rate().unwrap()
    }

    #[test]
    fn no_more_is_carried_for_who_asks_for_more_side_by_side() {
        let full = 1000 * LEN;
        for depth in [8, 32] {
            let share = rate_of(depth) * 100 / full;
            assert!((75..=100).contains(&share), "{depth} side by side: {share} % of what is carried");
        }
        assert!(rate_of(1) < full / 2, "one after the other");
    }
}
