//! Rates that a client, or all of them together, must not exceed.

use alloc::collections::BTreeMap;

use crate::types::{BLOCK_BYTES, ClientId, Time};

/// Time that a client has not used counts for so long: the driver's clock wakes it late.
const UNUSED_NS_MAX: u64 = 100_000_000;
/// A fetch has no more than the bytes of so much time, so that others do not wait for its end: 1/8 s.
const FETCHES_PER_S: u64 = 8;
/// It has so many bytes at least.
const FETCH_BYTES_MIN: u64 = 64 << 10;

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Caps {
    of_all: Option<Cap>,
    of_clients: BTreeMap<ClientId, Cap>,
}

#[derive(Clone, Copy, Debug)]
struct Cap {
    bytes_per_s: u64,
    /// The next fetch may begin then.
    ready: Time,
}

impl Cap {
    fn charge(&mut self, now: Time, bytes: u64) {
        let since = self.ready.0.max(now.0.saturating_sub(UNUSED_NS_MAX));
        let ns = u128::from(bytes) * 1_000_000_000 / u128::from(self.bytes_per_s);
        self.ready = Time(since.saturating_add(u64::try_from(ns).unwrap_or(u64::MAX)));
    }
}

impl Caps {
    /// Sets or lifts the rate of `client`, or of all clients together.
    pub(super) fn set(&mut self, client: Option<ClientId>, bytes_per_s: Option<u64>) {
        let cap = bytes_per_s.map(|rate| Cap { bytes_per_s: rate.max(BLOCK_BYTES), ready: Time(0) });
        match (client, cap) {
            (None, cap) => self.of_all = cap,
            (Some(client), Some(cap)) => drop(self.of_clients.insert(client, cap)),
            (Some(client), None) => drop(self.of_clients.remove(&client)),
        }
    }

    /// `bytes` are fetched for `client`.
    pub(super) fn charge(&mut self, now: Time, client: ClientId, bytes: u64) {
        let caps = self.of_clients.get_mut(&client).into_iter().chain(&mut self.of_all);
        caps.for_each(|cap| cap.charge(now, bytes));
    }

    fn of(&self, client: ClientId) -> impl Iterator<Item = &Cap> {
        self.of_clients.get(&client).into_iter().chain(&self.of_all)
    }

    /// Whether something may be fetched for `client`.
    pub(super) fn is_ready(&self, now: Time, client: ClientId) -> bool {
        self.of(client).all(|cap| cap.ready <= now)
    }

    /// The most bytes of a fetch for `client`.
    pub(super) fn fetch_bytes_max(&self, client: ClientId) -> u64 {
        let most = self.of(client).map(|cap| (cap.bytes_per_s / FETCHES_PER_S).max(FETCH_BYTES_MIN));
        most.min().map_or(u64::MAX, |most| most / BLOCK_BYTES * BLOCK_BYTES)
    }

    /// When something may be fetched next for somebody who may have nothing now.
    pub(super) fn next_ready(&self, now: Time) -> Option<Time> {
        let caps = self.of_clients.values().chain(&self.of_all);
        caps.map(|cap| cap.ready).filter(|ready| *ready > now).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: ClientId = ClientId(1);
    const MIB: u64 = 1 << 20;

    #[test]
    fn a_client_gets_its_rate_and_not_more() {
        let mut caps = Caps::default();
        caps.set(Some(CLIENT), Some(10 * MIB));
        let (mut now, mut fetched) = (Time(0), 0);
        while now < Time(10_000_000_000) {
            assert!(caps.is_ready(now, CLIENT) && caps.next_ready(now).is_none());
            caps.charge(now, CLIENT, MIB);
            fetched += MIB;
            // The clock is late, by less than unused time counts.
            now = Time(caps.next_ready(now).unwrap().0 + 1_000_000);
        }
        assert!(fetched.abs_diff(100 * MIB) <= 2 * MIB, "{fetched}");
        assert!(caps.is_ready(now, ClientId(2)));
        caps.set(Some(CLIENT), None);
        caps.charge(now, CLIENT, MIB);
        assert!(caps.is_ready(now, CLIENT));
    }

    #[test]
    fn all_clients_together_get_no_more_than_their_rate() {
        let mut caps = Caps::default();
        caps.set(None, Some(MIB));
        caps.charge(Time(1_000_000_000), CLIENT, MIB);
        assert!(!caps.is_ready(Time(1_800_000_000), ClientId(2)));
        assert!(caps.is_ready(Time(1_900_000_000), ClientId(2)));
        assert_eq!(caps.next_ready(Time(0)), Some(Time(1_900_000_000)));
    }

    #[test]
    fn a_fetch_takes_an_eighth_of_a_second() {
        let mut caps = Caps::default();
        assert_eq!(caps.fetch_bytes_max(CLIENT), u64::MAX);
        caps.set(None, Some(8 * MIB));
        assert_eq!(caps.fetch_bytes_max(CLIENT), MIB);
        caps.set(Some(CLIENT), Some(1));
        assert_eq!(caps.fetch_bytes_max(CLIENT), FETCH_BYTES_MIN);
    }
}
