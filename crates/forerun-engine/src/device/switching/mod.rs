//! What a backend that serves one fetch at a time loses with each of them, and when it
//! has to go from one place to another: a disk's seek, for one.
//!
//! Smoothed measurements of the time from the fetch before, or from dispatch if that
//! came later, to the end of a fetch:
//!
//! * fetches that go on where the one before ended say how long a byte takes, and what each takes
//!   besides;
//! * others that met an idle backend say, from dispatch and less their bytes' time, how long a move
//!   takes and whatever else there is to wait for, unless they begin soon after the one before:
//!   a disk has read on by itself;
//! * others that found many ahead of them say how much of that is left when the
//!   backend could do several things at once. One that can works on them
//!   meanwhile, and they come one soon after the other; a disk cannot.
//!
//! Where bytes of one fetch come before one that was dispatched earlier has
//! ended, several are served at once, whatever the times. So that this shows, there
//! are two at a time now and then where one at a time seems best.

mod regression;

use crate::device::Sample;
use crate::device::rates::scaled;
use crate::types::{ObjectId, Time};
use regression::Regression;

/// A backend that serves all of them at once shows a fifth of its latency
/// between one end and the next when so many were ahead, a disk all of it.
const AHEAD_MIN: usize = 4;
/// Fetches that found others ahead before anything follows from them.
const SAMPLES_MIN: u64 = 3;
/// More of those with fewer bytes on average: taking turns is for those who read much, and
/// others lose by it.
const SMALL_SAMPLES_MIN: u64 = 6;
const SMALL_BYTES: u64 = 128 << 10;
/// Whoever moves a head takes longer: half a revolution of the fastest disk is 2 ms, and
/// some reads find their bytes in its buffer.
const SEEK_NS_MIN: u64 = 1_500_000;
/// So far a disk reads on by itself at least.
const NEAR_BYTES: u64 = 256 << 10;
/// One fetch that takes very long is not to be taken for many.
const BUSY_SHARE_MAX: u64 = 2;
/// More of them before one that waited for so small a part of what it would alone is taken to be
/// served with others at once: now and then a disk has the bytes already.
const SHARED_SAMPLES_MIN: u64 = 16;
const SHARED_PART: u64 = 8;
/// Of so many fetches one goes beside another.
const PROBE_PERIOD: u64 = 16;

/// See the module's page.
#[derive(Debug)]
pub(crate) struct Switching {
    last_done: Time,
    last_end: Option<(ObjectId, u64)>,
    following: Regression,
    /// Fetches that went on though so many were ahead of them.
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

    /// Whether the next fetch is one that may go beside another, to see what comes of it.
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

    /// One that goes on took so long.
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

    /// Whether there were so many ahead of a fetch that one served with them at once would
    /// have come soon after them. It was on its way for `beside` nanoseconds until the last of those came.
    fn is_behind(&self, sample: &Sample, beside: u64, now: Time) -> bool {
        let alone = self.idle_ns() + self.following.ns_of(sample.bytes);
        let has_waited = self.idle.is_some() && now.since(sample.dispatched) >= 2 * alone;
        // One that took twice as long as one that met an idle backend has waited for any that were ahead.
        sample.ahead >= AHEAD_MIN && 2 * beside >= self.idle_ns() || sample.ahead > 0 && has_waited
    }

    fn record_overlap(&mut self, overlaps: bool) {
        self.overlapping = self.overlapping - self.overlapping / 8 + if overlaps { 128 } else { 0 };
    }

    /// What it costs to go from one place to another, or to begin a fetch wherever it is;
    /// 0 if the backend serves several fetches at once, or as far as is known.
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

    /// What every fetch costs, even if it goes on where the one before ended; 0 if the
    /// backend does something else meanwhile, or if that is little.
    pub(crate) fn request_ns(&self) -> u64 {
        let request = self.following.ns_besides();
        let idle = self.idle_ns();
        let counts = self.is_alone() && self.is_slow_to_begin() && self.following_count >= SAMPLES_MIN;
        if counts && self.is_most(request, idle) { request } else { 0 }
    }

    /// Whether what is left of `idle` behind others is too much for them to be served at
    /// once. What was found before holds until it is little.
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

    /// Whether those that found others ahead came soon after them: whatever the order, the backend
    /// works on several at once.
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

    /// What could be read while a head moves, if fetches overlap although there may be one: an elevator
    /// below puts them in its own order.
    pub(crate) fn reordered_bytes(&self) -> u64 {
        let is_reordered = self.overlaps() && self.is_slow_to_begin();
        if is_reordered { self.bytes_in(self.idle_ns()) } else { 0 }
    }

    /// How long a fetch takes that met an idle backend elsewhere, without its bytes' time: no longer
    /// than until its first bytes, where a byte's time is not known yet.
    fn idle_ns(&self) -> u64 {
        let rest_ns = |idle: Mean| idle.ns.saturating_sub(self.following.ns_of(idle.bytes));
        self.idle.map_or(0, |idle| rest_ns(idle).min(idle.first_ns))
    }

    /// How long so many bytes take, as far as that is known.
    pub(crate) fn ns_of(&self, bytes: u64) -> u64 {
        self.following.ns_of(bytes)
    }

    /// How many bytes could be read in so many nanoseconds.
    pub(crate) fn bytes_in(&self, ns: u64) -> u64 {
        let byte_ns = self.following.ns_of(1 << 20).max(1);
        scaled(ns, 1 << 20, byte_ns).min(u64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests;
