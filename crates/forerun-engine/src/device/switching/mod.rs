//! The cost of a fetch on a serial backend, and the cost of a seek: time in which the backend serves no
//! other fetch.
//!
//! It smooths the time from the end of the fetch before, or from dispatch if that came later, to the end of
//! a fetch:
//!
//! * Fetches that continue where the one before ended tell the time of a byte, and the fixed cost of a
//!   fetch.
//! * Other fetches that met an idle backend tell the time of a seek with all other waits. It is the time
//!   from dispatch, less that of their bytes. Fetches that begin soon after the one before do not count,
//!   since a disk has read on by itself.
//! * Fetches that found many others ahead tell how much of that time is left when the backend could overlap
//!   it. A backend that can works on them meanwhile, and their ends follow closely. A disk cannot.
//!
//! If a fetch brings bytes before an earlier one has ended, the backend serves several at once, whatever
//! the times. Now and then two fetches are in flight where one seems best, so that this can show.

mod findings;
mod regression;

use crate::device::Sample;
use crate::device::rates::scaled;
use crate::types::{ObjectId, Time};
use regression::Regression;

/// With this many ahead, a backend that overlaps fetches shows a fifth of its latency between two ends. A
/// disk shows all of it.
const AHEAD_MIN: usize = 4;
/// Fetches that found others ahead before anything follows from them.
const SAMPLES_MIN: u64 = 3;
/// A seek takes longer than this: half a revolution of the fastest disk is 2 ms, and some reads find their
/// bytes in its buffer.
const SEEK_NS_MIN: u64 = 1_500_000;
/// A disk reads on by itself at least this far.
const NEAR_BYTES: u64 = 256 << 10;
/// One fetch that takes very long is not to be taken for many.
const BUSY_SHARE_MAX: u64 = 2;
/// One fetch in this many is a probe: it goes beside another.
const PROBE_PERIOD: u64 = 16;

/// See the module's page.
#[derive(Debug)]
pub(crate) struct Switching {
    last_done: Time,
    last_end: Option<(ObjectId, u64)>,
    following: Regression,
    /// Fetches that continued, with many others ahead of them.
    following_count: u64,
    idle: Option<Mean>,
    busy_ns: Option<u64>,
    busy_count: u64,
    /// Bytes of those.
    busy_bytes: u64,
    /// It was found to serve one at a time.
    is_found: bool,
    dispatched_count: u64,
    ended_count: u64,
    /// How many of 1024 fetches overlapped one that was dispatched earlier,
    /// smoothed.
    overlapping: u64,
}

/// Times and sizes, smoothed.
#[derive(Clone, Copy, Debug)]
struct Mean {
    ns: u64,
    /// Until the first bytes.
    first_ns: u64,
    bytes: u64,
}

impl Mean {
    fn add_sample(&mut self, new: Mean) {
        let smooth = |mean: u64, new: u64| mean - mean / 8 + new / 8;
        self.ns = smooth(self.ns, new.ns);
        self.first_ns = smooth(self.first_ns, new.first_ns);
        self.bytes = smooth(self.bytes, new.bytes);
    }
}

impl Switching {
    pub(crate) fn new() -> Switching {
        Switching {
            last_done: Time(0),
            last_end: None,
            following: Regression::default(),
            following_count: 0,
            idle: None,
            busy_ns: None,
            busy_count: 0,
            busy_bytes: 0,
            is_found: false,
            dispatched_count: 0,
            ended_count: 0,
            overlapping: 0,
        }
    }

    /// A fetch is dispatched; how many were before it.
    pub(crate) fn on_dispatch(&mut self) -> u64 {
        self.dispatched_count += 1;
        self.dispatched_count - 1
    }

    /// Whether none was dispatched after it.
    pub(crate) fn is_last(&self, sample: &Sample) -> bool {
        sample.index + 1 == self.dispatched_count
    }

    /// Whether the next fetch may be a probe: it goes beside another, to see whether they overlap.
    pub(crate) fn is_probe(&self) -> bool {
        self.dispatched_count.is_multiple_of(PROBE_PERIOD)
    }

    /// The first bytes of a fetch came.
    pub(crate) fn on_first_bytes(&mut self, sample: &Sample) {
        if sample.ahead > 0 {
            // Were it served alone, all that were dispatched before it had ended.
            self.record_overlap(self.ended_count < sample.index);
        }
    }

    /// A fetch ended, well or not.
    pub(crate) fn on_ended(&mut self) {
        self.ended_count += 1;
    }

    /// A fetch ended well.
    pub(crate) fn on_fetched(&mut self, now: Time, sample: &Sample) {
        let took = now.since(sample.dispatched.max(self.last_done));
        let gap = self
            .last_end
            .filter(|(object, _)| *object == sample.object)
            .and_then(|(_, end)| sample.offset.checked_sub(end));
        let follows = gap == Some(0);
        let is_near = self.is_found && gap.is_some_and(|gap| gap <= NEAR_BYTES);
        let beside = self.last_done.since(sample.dispatched);
        self.last_done = now;
        self.last_end = Some((sample.object, sample.offset + sample.bytes));
        self.is_found = self.cost_ns() > 0;
        let is_behind = self.is_behind(sample, beside, now);
        if follows {
            self.on_followed(sample, took, is_behind);
        } else if sample.ahead == 0 && !is_near {
            let first_ns = sample.first_arrived.since(sample.dispatched);
            let new = Mean { ns: now.since(sample.dispatched), first_ns, bytes: sample.bytes };
            self.idle.get_or_insert(new).add_sample(new);
        } else if sample.ahead > 0 && (self.is_found || is_behind) {
            let moved = took.saturating_sub(self.following.ns_of(sample.bytes));
            let moved = moved.min(BUSY_SHARE_MAX * self.idle_ns().max(SEEK_NS_MIN));
            self.busy_ns = Some(self.busy_ns.map_or(moved, |mean| mean - mean / 8 + moved / 8));
            self.busy_count += 1;
            self.busy_bytes += sample.bytes;
        }
    }

    /// A fetch that continues where the one before ended took this long.
    fn on_followed(&mut self, sample: &Sample, took: u64, is_behind: bool) {
        if self.is_found && sample.ahead > 0 {
            let alone = self.following.ns_of(sample.bytes) + self.request_ns();
            self.record_overlap(2 * took < alone);
        }
        if sample.ahead > 0 || self.is_found {
            self.following.add_sample(sample.bytes, took);
        }
        self.following_count += u64::from(is_behind);
    }

    /// Whether enough fetches were ahead of this one to tell serial service from overlap. A backend that
    /// overlaps them would have delivered it soon after them. It was in flight for `beside` nanoseconds
    /// until the last of those ended.
    fn is_behind(&self, sample: &Sample, beside: u64, now: Time) -> bool {
        let alone = self.idle_ns() + self.following.ns_of(sample.bytes);
        let has_waited = self.idle.is_some() && now.since(sample.dispatched) >= 2 * alone;
        // One that took twice as long as one that met an idle backend has waited for any that were ahead.
        sample.ahead >= AHEAD_MIN && 2 * beside >= self.idle_ns() || sample.ahead > 0 && has_waited
    }

    fn record_overlap(&mut self, overlaps: bool) {
        self.overlapping = self.overlapping - self.overlapping / 8 + if overlaps { 128 } else { 0 };
    }

    /// The duration of a fetch that met an idle backend elsewhere, less the time of its bytes. If the time
    /// of a byte is unknown, it is the time until the first bytes.
    fn idle_ns(&self) -> u64 {
        let rest_ns = |idle: Mean| idle.ns.saturating_sub(self.following.ns_of(idle.bytes));
        self.idle.map_or(0, |idle| rest_ns(idle).min(idle.first_ns))
    }

    /// The time that `bytes` bytes take, as far as it is known.
    pub(crate) fn ns_of(&self, bytes: u64) -> u64 {
        self.following.ns_of(bytes)
    }

    /// The bytes that could be read in `ns` nanoseconds.
    pub(crate) fn bytes_in(&self, ns: u64) -> u64 {
        let byte_ns = self.following.ns_of(1 << 20).max(1);
        scaled(ns, 1 << 20, byte_ns).min(u64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests;
