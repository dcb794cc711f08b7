//! Measures the backend by the results of fetches.

use super::{Device, Sample, rate, time_of};
use crate::types::{Extent, ObjectId, Time};

/// A fetch must carry that much for its own bandwidth to be more than noise.
const BANDWIDTH_SAMPLE_BYTES: u64 = 128 << 10;

impl Device {
    /// A fetch is given up that has brought nothing for `ns`, from the start or since it stalled.
    pub(crate) fn on_given_up(&mut self, ns: u64, is_stalled: bool) {
        if is_stalled { self.pauses.add_sample(ns) } else { self.spread.add_sample(ns) }
    }

    /// A fetch of `extent` is dispatched while `ahead` others are in flight.
    pub(crate) fn on_dispatch(
        &mut self,
        now: Time,
        object: ObjectId,
        extent: Extent,
        ahead: usize,
    ) -> Sample {
        self.load.on_dispatch(now, ahead);
        Sample {
            object,
            offset: extent.offset,
            index: self.switching.on_dispatch(),
            ahead,
            locality: self.lone.locate(object, extent),
            dispatched: now,
            delivered_before: self.delivered_bytes,
            first_arrived: now,
            first_bytes: 0,
            bytes: extent.len,
        }
    }

    /// A fetch ended, well or not.
    pub(crate) fn on_ended(&mut self, now: Time) {
        self.load.on_ended(now);
        self.switching.on_ended();
    }

    /// The first bytes of a fetch came.
    pub(crate) fn on_first_bytes(&mut self, now: Time, sample: &Sample) {
        let wait_ns = now.since(sample.dispatched);
        self.switching.on_first_bytes(sample);
        // The estimator of TCP's retransmission timer (RFC 6298, section 2).
        if self.latency_least.get().is_none() {
            self.latency_ns = wait_ns;
            self.latency_deviation_ns = wait_ns / 2;
        } else {
            let off = self.latency_ns.abs_diff(wait_ns);
            self.latency_deviation_ns = self.latency_deviation_ns - self.latency_deviation_ns / 4 + off / 4;
            self.latency_ns = self.latency_ns - self.latency_ns / 8 + wait_ns / 8;
        }
        if sample.ahead == 0 {
            self.on_lone(wait_ns, sample);
        }
        self.latency_least.add(now, wait_ns);
        self.spread.add_sample(wait_ns);
        self.recompute();
    }

    /// The first bytes arrived of a fetch that found no other in flight. Readahead does not save the time
    /// that carries them. Near by, that is most of the time if many bytes come at once. Far away, or after a
    /// seek, it is little.
    fn on_lone(&mut self, wait_ns: u64, sample: &Sample) {
        let carried_ns = self.throughput.get().map_or(0, |rate| time_of(sample.first_bytes, rate));
        let is_little = self.is_far() || self.spread.is_whole() && self.may_be_disk();
        let carried_bytes = if is_little { 0 } else { sample.first_bytes };
        // Fetches that joined it since share the link. Their time is not its wait.
        let is_joined = !is_little && !self.spread.is_whole() && !self.switching.is_last(sample);
        if is_joined && self.lone.is_some() {
            return;
        }
        // The most that a disk ever brought was in its own buffer.
        let read_ns = if self.has_own_head() { self.switching.ns_of(sample.first_bytes) } else { 0 };
        let rest_ns = wait_ns.saturating_sub(carried_ns.max(read_ns));
        self.lone.record(sample.locality, wait_ns, carried_bytes, rest_ns);
    }

    /// `bytes` more bytes arrived.
    pub(crate) fn on_bytes(&mut self, bytes: u64) {
        self.delivered_bytes += bytes;
    }

    /// A fetch ended well. The bytes that all fetches delivered during its life, over that time, are a
    /// sample of the throughput. Its own bytes after the first ones are a sample of the bandwidth of a
    /// single fetch. At most `pause_ns` passed between two of its bytes.
    pub(crate) fn on_fetched(&mut self, now: Time, sample: &Sample, pause_ns: u64) {
        let took = now.since(sample.dispatched);
        self.throughput.add(now, rate(self.delivered_bytes - sample.delivered_before, took));
        self.service_ns = self.service_ns - self.service_ns / 8 + took / 8;
        self.carried.on_fetched(now, sample, self.service_ns);
        let rest = sample.bytes - sample.first_bytes;
        if rest >= BANDWIDTH_SAMPLE_BYTES {
            self.bandwidth.add(now, rate(rest, now.since(sample.first_arrived)));
        }
        if sample.bytes >= BANDWIDTH_SAMPLE_BYTES {
            self.spread.record_large(rest == 0);
        }
        if rest > 0 {
            self.pauses.add_sample(pause_ns);
        }
        self.switching.on_fetched(now, sample);
        let throughput = self.throughput.get().unwrap_or(0);
        let before = sample.delivered_before;
        self.growth.end_round(before, self.delivered_bytes, self.sizes.pipe_bytes, throughput);
        self.recompute();
    }
}
