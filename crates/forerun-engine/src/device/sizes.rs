//! The sizes of fetches and slices, and the bytes in flight, from the measurements.

use super::unmeasured::{FETCHES_FAR, FETCHES_MIN, LATENCY_NS_GUESS};
use super::worth::SEEKS_OF_A_RETURN;
use super::{Device, bytes_in, time_of};

/// Where seeks are dear, a slice has this many times the bytes that could be read during a seek. Seeks then
/// take a seventeenth of the time.
pub(crate) const SLICE_SEEKS: u64 = 16;
/// However many streams there are, a stream's share is worth this many seeks. They then take a seventh of
/// the time.
const SHARE_SEEKS: u64 = 6;

/// The sizes. The device computes them when its measurements change, because a policy asks
/// for them far more often.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sizes {
    pub(super) fetch_bytes: u64,
    pub(super) piece_bytes: u64,
    pub(super) contended_piece_bytes: u64,
    pub(super) slice_bytes: Option<u64>,
    pub(super) share_bytes_min: u64,
    pub(super) through_bytes: u64,
    pub(super) pipe_bytes: u64,
    pub(super) contended_bytes: u64,
    pub(super) competitive_bytes: u64,
}

impl Device {
    /// The sizes for a serial backend. A fetch takes no longer than a seek, so that other readers wait
    /// little.
    pub(super) fn serial(&self) -> Sizes {
        let cost = self.switching.bytes_in(self.switching.cost_ns());
        let through = self.switching.bytes_in(self.switching.request_ns());
        let slice = (SLICE_SEEKS * cost).next_power_of_two().clamp(self.fetch_bytes_min, self.slice_max);
        let fetch = slice.min(self.fetch_bytes_max);
        // A fetch has at least as many bytes as its fixed cost is worth.
        let piece = (cost / 4 + 1).max(through).next_power_of_two().clamp(self.fetch_bytes_min, fetch);
        Sizes {
            fetch_bytes: fetch,
            piece_bytes: piece,
            // A slice that every fetch of another reader interrupts costs two seeks each time. Pieces of
            // this size spend at least half of the time on bytes.
            contended_piece_bytes: (SEEKS_OF_A_RETURN * cost).next_power_of_two().clamp(piece, fetch),
            slice_bytes: Some(slice),
            share_bytes_min: (SHARE_SEEKS * cost).min(slice / 2),
            through_bytes: through,
            pipe_bytes: slice,
            contended_bytes: slice,
            competitive_bytes: 0,
        }
    }

    /// How long a fetch waits for its first bytes; the least is `latency`. If waits differ, it is the mean
    /// of fetches that found no other in flight, and at most a typical wait. Other fetches may have waited
    /// for one another.
    fn way_ns(&self, latency: u64) -> u64 {
        let alone_ns = self.lone.all_ns(self.throughput.get().unwrap_or(0));
        let lone = alone_ns.filter(|_| !self.is_serial()).zip(self.spread.typical_ns());
        lone.map_or(latency, |(lone, typical)| lone.min(typical).max(latency))
    }

    /// The bytes that may be in flight to find out whether more of them raise the rate, or that did raise
    /// it. They are at most what arrives, at `rate`, until nearly every fetch has begun.
    fn grown_bytes(&self, rate: u64) -> u64 {
        let Some(bytes) = self.growth.bytes() else {
            // On a serial device, all fetches in flight delay the next one.
            return if self.switching.is_judged() { FETCHES_FAR * self.fetch_bytes_min } else { 0 };
        };
        self.spread.patience_ns().map_or(bytes, |ns| bytes.min(bytes_in(ns, rate)))
    }

    /// The least bytes in flight at which the slices of an elevator below are worth the seeks between them.
    fn queue_bytes(&self) -> u64 {
        let moved =
            if self.spread.is_whole() && self.is_serial() { self.switching.reordered_bytes() } else { 0 };
        // A slice lasts for about twice the bytes in flight. It ends when all of them are elsewhere, and
        // half of the bytes dispatched meanwhile are not.
        SLICE_SEEKS / 2 * moved.min(self.fetch_bytes_max)
    }

    /// The sizes for a backend that serves many fetches at once.
    pub(super) fn at_once(&self) -> Sizes {
        let latency = self.latency_least.get().unwrap_or(LATENCY_NS_GUESS);
        let throughput = self.throughput.get().unwrap_or(0);
        let bandwidth = self.bandwidth.get().unwrap_or(0);
        // An eighth of what arrives in one latency, so that no single fetch is
        // long compared with the wait for its first byte. A power of two would be up to twice that,
        // and a short stream would end later.
        let fetch_bytes = (bytes_in(latency, throughput) / 8)
            .next_multiple_of(self.fetch_bytes_min)
            .clamp(self.fetch_bytes_min, self.fetch_bytes_max);
        // The bytes that the best throughput needs: Little's law with the duration of a fetch on a link that
        // is not full. On a full link every fetch looks slow, because all share it. Twice the latency bounds
        // that mistake.
        let transfer = if bandwidth == 0 { 0 } else { time_of(fetch_bytes, bandwidth).min(2 * latency) };
        // Over a link it is at least as much as one fetch could bring. A few small fetches bring less over a
        // long way, and must not limit all later ones.
        let is_link = self.is_far_link();
        let rate = if is_link { throughput.max(bandwidth) } else { throughput };
        let needed = bytes_in(self.way_ns(latency) + transfer, rate);
        // A quarter more to find out whether more bytes in flight help, and two fetches. At first it is
        // enough to begin with that.
        let more = if is_link && self.growth.goes_on() { needed } else { needed / 4 };
        let grown = if is_link { self.grown_bytes(rate) } else { 0 };
        let pipe_bytes = (needed + more + 2 * fetch_bytes).max(FETCHES_MIN * fetch_bytes);
        let pipe_bytes = pipe_bytes.max(grown).max(self.queue_bytes());
        Sizes {
            fetch_bytes,
            piece_bytes: fetch_bytes,
            contended_piece_bytes: fetch_bytes,
            slice_bytes: None,
            share_bytes_min: 0,
            through_bytes: 0,
            pipe_bytes: pipe_bytes.min(self.pipe_bytes_max),
            // Nothing is learned of several fetches at once without them.
            contended_bytes: if self.switching.is_judged()
                && (!self.may_be_disk() || self.switching.is_shared())
            {
                needed
            } else {
                pipe_bytes
            }
            .min(pipe_bytes)
            .min(self.pipe_bytes_max),
            competitive_bytes: bytes_in(latency, bandwidth),
        }
    }
}
