//! Findings from the samples: whether the backend serves one fetch at a time, and the cost of a seek.

use super::{SAMPLES_MIN, SEEK_NS_MIN, Switching};

/// As [`SAMPLES_MIN`], for fetches with fewer bytes on average. Slices help readers that read much, and
/// others lose by them.
const SMALL_SAMPLES_MIN: u64 = 6;
const SMALL_BYTES: u64 = 128 << 10;
/// The fetches with others ahead before the backend counts as shared, and the share of the idle time that
/// they may take. Now and then a disk has the bytes already, so that a few prove nothing.
const SHARED_SAMPLES_MIN: u64 = 16;
const SHARED_PART: u64 = 8;

impl Switching {
    /// The time of a seek, or of the start of a fetch, wherever it begins. 0 if the backend overlaps
    /// fetches, as far as is known.
    pub(crate) fn cost_ns(&self) -> u64 {
        let idle = self.idle_ns();
        if !self.is_alone() || !self.is_slow_to_begin() {
            return 0;
        }
        let is_known = self.following.is_known() && self.is_enough();
        let moved = self.busy_ns.filter(|busy| is_known && self.is_most(*busy, idle));
        moved.unwrap_or(0).max(self.request_ns())
    }

    /// Whether a fetch that meets an idle backend waits as long as for a moving head.
    pub(crate) fn is_slow_to_begin(&self) -> bool {
        self.idle_ns() >= SEEK_NS_MIN
    }

    /// The fixed time of every fetch, even if it continues where the one before ended. 0 if the backend
    /// overlaps that time, or if it is little.
    pub(crate) fn request_ns(&self) -> u64 {
        let request = self.following.ns_besides();
        let idle = self.idle_ns();
        let counts = self.is_alone() && self.is_slow_to_begin() && self.following_count >= SAMPLES_MIN;
        if counts && self.is_most(request, idle) { request } else { 0 }
    }

    /// Whether the part of `idle` that remains behind other fetches is too much for overlap. An earlier
    /// finding holds until little remains.
    fn is_most(&self, left: u64, idle: u64) -> bool {
        left * if self.is_found { 4 } else { 2 } > idle
    }

    /// Whether enough was seen to say so.
    pub(crate) fn is_judged(&self) -> bool {
        self.idle.is_some() && self.is_enough()
    }

    fn is_enough(&self) -> bool {
        let is_small = self.busy_bytes < self.busy_count * SMALL_BYTES;
        self.busy_count >= if is_small { SMALL_SAMPLES_MIN } else { SAMPLES_MIN }
    }

    /// Whether fetches that found others ahead came soon after them. The backend then works on several at
    /// once, in any order.
    pub(crate) fn is_shared(&self) -> bool {
        self.busy_count >= SHARED_SAMPLES_MIN
            && self.busy_ns.is_some_and(|busy| SHARED_PART * busy <= self.idle_ns())
    }

    /// Whether bytes of one come before another ends that was dispatched earlier, as far as enough was seen.
    pub(crate) fn overlaps(&self) -> bool {
        self.is_judged() && !self.is_alone()
    }

    /// Hardly any fetch overlapped another: some do where an elevator below
    /// changes their order.
    pub(crate) fn is_alone(&self) -> bool {
        self.overlapping < 256
    }

    /// The bytes that could be read during a seek, if fetches overlap on a possible disk: an elevator below
    /// orders them.
    pub(crate) fn reordered_bytes(&self) -> u64 {
        let is_reordered = self.overlaps() && self.is_slow_to_begin();
        if is_reordered { self.bytes_in(self.idle_ns()) } else { 0 }
    }
}
