//! The worth of a wait: bytes that could be read meanwhile.

use super::estimates::NEAR_BYTES;
use super::unmeasured::{BANDWIDTH_GUESS, LATENCY_NS_GUESS};
use super::{Device, bytes_in};

/// A reader that makes the head come back takes it away from others: there and back.
pub(crate) const SEEKS_OF_A_RETURN: u64 = 2;

/// Worked out when the measurements change, because every read asks for it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Worth {
    wait_ns: u64,
    /// Bytes a second.
    carried_rate: u64,
    wait_bytes: u64,
    next_ns: u64,
    next_bytes: u64,
    near_bytes: Option<u64>,
    fill_bytes: u64,
}

impl Worth {
    /// After [`DeviceKind`](super::kind::DeviceKind) and [`Sizes`](super::sizes::Sizes).
    pub(super) fn of(device: &Device) -> Worth {
        let lone = &device.lone;
        let throughput = device.throughput.get().unwrap_or(0);
        let bandwidth = device.bandwidth.get().unwrap_or(BANDWIDTH_GUESS);
        let lone_ns = lone.all_ns(throughput);
        let least_ns = device.latency_least.get().unwrap_or(LATENCY_NS_GUESS);
        // Near by, readahead itself makes most of a wait beside it, and must not raise its own price.
        let alone_ns = lone_ns.filter(|_| !device.is_far()).unwrap_or(u64::MAX);
        let next_ns = lone.next_ns.unwrap_or(least_ns);
        // A guess would fill an object at its first read, before the device has answered once.
        let known_ns = lone_ns.or(device.latency_least.get()).unwrap_or(0);
        Worth {
            carried_rate: device.carried.rate().unwrap_or(0).max(bandwidth).min(throughput),
            wait_ns: device.latency_ns.min(lone_ns.unwrap_or(u64::MAX)),
            wait_bytes: device.off_medium(device.latency_ns.min(alone_ns), throughput),
            next_ns,
            next_bytes: device.read_in(next_ns),
            near_bytes: lone.near_ns.filter(|_| device.has_own_head()).map(|ns| device.read_in(ns)),
            fill_bytes: device.off_medium(known_ns, throughput.max(bandwidth)),
        }
    }
}

impl Device {
    /// Bytes that all fetches together deliver while a reader waits for one, near by for a lone one.
    pub(crate) fn wait_bytes(&self) -> u64 {
        self.worth.wait_bytes
    }

    /// How long a reader waits for a fetch that no other is in front of.
    pub(crate) fn wait_ns(&self) -> u64 {
        self.worth.wait_ns
    }

    /// How long a reader waits that goes on `gap` bytes after where the last read ended; `None` if that was
    /// elsewhere. On a disk with slices the head is there already, or near.
    pub(crate) fn wait_after_ns(&self, gap: Option<u64>) -> u64 {
        let is_sliced = self.slice_bytes().is_some();
        match gap {
            Some(0) if is_sliced => 0,
            Some(0) => self.worth.next_ns.min(self.wait_ns()),
            Some(1..NEAR_BYTES) if is_sliced => self.lone.near_ns.unwrap_or(self.wait_ns()),
            _ => self.wait_ns(),
        }
    }

    /// How many readers lose time by a fetch in front of them, if `others_count` wait. On a disk with slices
    /// they wait for one another in any case.
    pub(crate) fn waiters(&self, others_count: usize) -> u64 {
        if self.slice_bytes().is_some() { 1 } else { 1 + others_count as u64 }
    }

    /// Whether wasted bytes make readers wait as long as they take.
    pub(crate) fn is_vain_dear(&self) -> bool {
        self.is_full()
    }

    /// The most bytes that all fetches together deliver in `ns`: as many as ever arrived during one fetch.
    /// Some of those may have been carried before it.
    pub(crate) fn bytes_while(&self, ns: u64) -> u64 {
        self.off_medium(ns, self.throughput.get().unwrap_or(0))
    }

    /// The same at least, with other fetches in flight: the rate at which those were carried.
    pub(crate) fn carried_while(&self, ns: u64) -> u64 {
        self.off_medium(ns, self.worth.carried_rate)
    }

    /// Bytes that they deliver while a reader waits for the bytes right after its last read.
    pub(crate) fn next_bytes(&self) -> u64 {
        self.worth.next_bytes
    }

    /// The same for a reader that waits for bytes soon after recently read ones. `None` unless a head may be
    /// near them, and the times of such waits are known.
    pub(crate) fn near_bytes(&self) -> Option<u64> {
        self.worth.near_bytes
    }

    /// The same for a request of more bytes at once than any before.
    pub(crate) fn fill_bytes(&self) -> u64 {
        self.worth.fill_bytes
    }

    /// Bytes that arrive in `ns` at `rate` bytes a second, from a disk's medium if it may be one.
    fn off_medium(&self, ns: u64, rate: u64) -> u64 {
        let bytes = bytes_in(ns, rate);
        if self.has_own_head() { bytes.min(self.switching.bytes_in(ns)) } else { bytes }
    }

    /// Bytes that could be read while a reader waits for `ns`. If a head may have to seek back, no more than
    /// the medium delivers count.
    fn read_in(&self, ns: u64) -> u64 {
        let bytes = bytes_in(ns, self.throughput.get().unwrap_or(0));
        if !self.has_own_head() {
            return bytes;
        }
        SEEKS_OF_A_RETURN * bytes.min(self.switching.bytes_in(ns))
    }
}
