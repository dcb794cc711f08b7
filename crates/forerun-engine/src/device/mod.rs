//! A running model of the backend: latency, throughput, the best number of fetches in flight, and their
//! size.
//!
//! It begins with the guesses of `unmeasured.rs`, and is measured on the fetches that the engine makes anyway
//! (`measure.rs`, `estimates`). Results are worked out when fetches end:
//!
//! * `kind.rs`: properties of the backend;
//! * `sizes.rs`: size and number of fetches;
//! * `worth.rs`: the bytes that a wait is worth;
//! * `costs.rs`: all costs that a policy asks for, in bytes;
//! * `lateness.rs`: when a fetch is late.

mod costs;
mod estimates;
mod kind;
mod lateness;
mod measure;
mod rates;
mod sizes;
mod switching;
mod unmeasured;
mod worth;

use crate::ablation::Rule;
use crate::config::Config;
use crate::types::DeviceEstimate;
pub(crate) use costs::Costs;
pub(crate) use estimates::Sample;
use estimates::{Carried, Filter, Growth, Load, Lone, Spread};
use kind::DeviceKind;
pub(crate) use rates::{bytes_in, rate, time_of, whole_blocks};
pub(crate) use sizes::SLICE_SEEKS;
use sizes::Sizes;
use switching::Switching;
use unmeasured::LATENCY_NS_GUESS;
use worth::Worth;

/// Where a fetch comes all at once, a demand fetch has at most this share of the smallest fetch as
/// readahead.
const RIDE_WHOLE_SHARE: u64 = 4;
/// The most pieces of readahead in a demand fetch.
const RIDE_PIECES: u64 = 4;

/// See the module's page.
#[derive(Debug)]
pub(crate) struct Device {
    fetch_bytes_min: u64,
    fetch_bytes_max: u64,
    slice_max: u64,
    pipe_bytes_max: u64,
    /// Bytes that have arrived since the start.
    delivered_bytes: u64,
    /// Bytes per second of all fetches together.
    throughput: Filter,
    /// The throughput of fetches that were requested and delivered within one period.
    carried: Carried,
    /// Bytes per second of one fetch, once its first bytes are there.
    bandwidth: Filter,
    latency_least: Filter,
    latency_ns: u64,
    latency_deviation_ns: u64,
    /// From dispatch to the last byte, smoothed.
    service_ns: u64,
    /// Until the first bytes of fetches that found none ahead.
    lone: Lone,
    /// Until the first bytes of any.
    spread: Spread,
    /// Of each the longest time in which nothing came once it had begun.
    pauses: Spread,
    switching: Switching,
    growth: Growth,
    load: Load,
    /// Results of the measurements.
    kind: DeviceKind,
    sizes: Sizes,
    worth: Worth,
    costs: Costs,
    patience_ns: Option<u64>,
}

impl Device {
    pub(crate) fn new(config: &Config) -> Device {
        let mut device = Device {
            fetch_bytes_min: 0,
            fetch_bytes_max: 0,
            slice_max: 0,
            pipe_bytes_max: 0,
            delivered_bytes: 0,
            throughput: Filter::largest(),
            carried: Carried::new(),
            bandwidth: Filter::largest(),
            latency_least: Filter::smallest(),
            latency_ns: LATENCY_NS_GUESS,
            latency_deviation_ns: LATENCY_NS_GUESS / 2,
            service_ns: LATENCY_NS_GUESS,
            lone: Lone::default(),
            spread: Spread::new(),
            pauses: Spread::new(),
            switching: Switching::new(),
            growth: Growth::default(),
            load: Load::default(),
            kind: DeviceKind::default(),
            sizes: Sizes::default(),
            worth: Worth::default(),
            costs: Costs::default(),
            patience_ns: None,
        };
        device.set_limits(config);
        device
    }

    /// The limits of `config` apply from now on.
    pub(crate) fn set_limits(&mut self, config: &Config) {
        // A thirty-second of the budget, so that many fetches fit at once.
        let max = whole_blocks(config.fetch_bytes_max.min(config.memory_bytes_max / 32));
        self.fetch_bytes_min = whole_blocks(config.fetch_bytes_min.min(max));
        self.fetch_bytes_max = max;
        // However short its fetches are, a slice is worth the seek to it.
        self.slice_max = whole_blocks(config.fetch_bytes_max.min(config.memory_bytes_max / 2));
        self.pipe_bytes_max = config.memory_bytes_max / 2;
        self.recompute();
    }

    /// Works out the results of the measurements.
    fn recompute(&mut self) {
        self.kind = DeviceKind::of(self);
        self.sizes = if self.switching.cost_ns() > 0 { self.serial() } else { self.at_once() };
        self.worth = Worth::of(self);
        self.costs = Costs::of(self);
        self.patience_ns = self.patience();
    }

    pub(crate) fn estimate(&self) -> DeviceEstimate {
        DeviceEstimate {
            latency_ns: self.latency_ns,
            throughput_bytes_per_s: self.throughput.get().unwrap_or(0),
            fetch_bytes: self.fetch_bytes(),
            pipe_bytes: self.pipe_bytes(),
        }
    }

    /// Bytes that should be fetched of a stream at a time.
    pub(crate) fn fetch_bytes(&self) -> u64 {
        self.sizes.fetch_bytes
    }

    /// The size of a fetch: [`Device::fetch_bytes`], or less where another reader would have to wait for
    /// its end.
    pub(crate) fn piece_bytes(&self) -> u64 {
        self.sizes.piece_bytes
    }

    /// The size of a demand fetch with the window that follows it.
    ///
    /// A stream's reader that waits should not wait again soon. Where fetches overlap over a far link, each
    /// has its own connection, and the reader waits for the end of its fetch. So the fetch is no longer
    /// than the shortest ones beside it.
    ///
    /// Where all bytes come at once, the reader waits for the window too. So the window is fetched
    /// separately, unless each fetch costs a seek. A far link on which fetches were seen to overlap has no
    /// seek.
    pub(crate) fn ride_bytes(&self) -> u64 {
        if self.spread.is_whole() && !self.has_head() {
            return whole_blocks(self.fetch_bytes_min / RIDE_WHOLE_SHARE);
        }
        let overlaps = self.is_far_link() && self.switching.overlaps();
        if self.slice_bytes().is_some() || self.is_serial() && !overlaps {
            return self.fetch_bytes().min(RIDE_PIECES * self.piece_bytes());
        }
        self.fetch_bytes_among(0, false).max(self.fetch_bytes_min)
    }

    /// If the backend serves one fetch at a time: how many bytes should be read
    /// of a stream before it goes elsewhere.
    pub(crate) fn slice_bytes(&self) -> Option<u64> {
        self.sizes.slice_bytes
    }

    /// The bytes that the device could read in the time that every fetch costs, wherever it begins. A gap of
    /// up to this size is cheaper to read than to skip. 0 if fetches overlap in that time.
    pub(crate) fn through_bytes(&self) -> u64 {
        self.sizes.through_bytes
    }

    /// Where fetches are served one after the other: how many may be under way. There are
    /// two now and then, to see whether they overlap after all.
    pub(crate) fn places_in_slice(&self) -> usize {
        if self.switching.is_probe() { 2 } else { 1 }
    }

    /// The size for a fetch that joins `in_flight` others: at least half of [`Device::piece_bytes`].
    ///
    /// Fetches of one size that start together also end together. The link is then idle until the next ones
    /// bring their first bytes. Different sizes keep them out of step. On a serial device with readers that
    /// wait between any two fetches, a fetch is worth the seeks there and back.
    pub(crate) fn fetch_bytes_among(&self, in_flight: usize, is_contended: bool) -> u64 {
        let fetch = self.piece_bytes();
        if self.slice_bytes().is_some() {
            return if is_contended { self.sizes.contended_piece_bytes } else { fetch };
        }
        let parts = if Rule::Uneven.is_off() { 16 } else { in_flight as u64 % 17 };
        whole_blocks(fetch / 2 + fetch / 32 * parts)
    }

    /// Whether a large fetch has shown how fast bytes come, apart from how long the first are on their way.
    pub(crate) fn knows_bandwidth(&self) -> bool {
        self.spread.is_in_pieces()
    }

    /// Bytes in flight that are worth it.
    pub(crate) fn pipe_bytes(&self) -> u64 {
        self.sizes.pipe_bytes
    }

    /// The bytes in flight while a reader waits that cannot be read ahead of. They keep the link full and
    /// little more, since that reader waits for them.
    pub(crate) fn contended_bytes(&self) -> u64 {
        self.sizes.contended_bytes
    }

    /// The bytes that one fetch could carry in one latency. If that is too much, it at most doubles a
    /// request's cost.
    //= Li, Papathanasiou, Shen, "Competitive prefetching for concurrent sequential I/O", 2007
    pub(crate) fn competitive_bytes(&self) -> u64 {
        self.sizes.competitive_bytes
    }

    /// Nearly every fetch has delivered its last byte after this long.
    pub(crate) fn service_high_ns(&self) -> u64 {
        self.service_ns.max(self.latency_ns) + 4 * self.latency_deviation_ns
    }
}

#[cfg(test)]
mod tests;
