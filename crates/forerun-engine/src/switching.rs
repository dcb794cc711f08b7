//! What a backend that serves one fetch at a time loses when it has to go from
//! one place to another: a disk's seek, for one.
//!
//! Three smoothed measurements of the time from the fetch before, or from
//! dispatch if that came later, to the end of a fetch:
//!
//! * fetches that go on where the one before ended say how long a byte takes;
//! * others that met an idle backend say, from dispatch and less their bytes' time, how long a move
//!   takes and whatever else there is to wait for;
//! * others that found many ahead of them say how much of that is left when the
//!   backend could do several things at once. One that can works on them
//!   meanwhile, and they come one soon after the other; a disk cannot.
//!
//! Where bytes of one fetch come before one that was dispatched earlier has
//! ended, several are served at once, whatever the times.

use crate::device::Sample;
use crate::types::{ObjectId, Time};

/// A backend that serves all of them at once shows a fifth of its latency
/// between one end and the next when so many were ahead, a disk all of it.
const AHEAD_MIN: usize = 4;
/// Fetches that found others ahead before anything follows from them.
const SAMPLES_MIN: u64 = 4;
/// Whoever moves a head takes longer: half a revolution of the fastest disk is 2 ms, and
/// some reads find their bytes in its buffer.
const MOVE_NS_MIN: u64 = 1_500_000;
/// Shorter fetches say little of how long a byte takes.
const FOLLOWING_BYTES_MIN: u64 = 64 << 10;

/// See the module's page.
#[derive(Debug)]
pub(crate) struct Switching {
    last_done: Time,
    last_end: Option<(ObjectId, u64)>,
    /// Of fetches that go on, for 2^20 bytes.
    following_ns: Option<u64>,
    idle_ns: Option<u64>,
    busy_ns: Option<u64>,
    busy_count: u64,
    dispatched_count: u64,
    ended_count: u64,
    /// How many of 1024 fetches overlapped one that was dispatched earlier,
    /// smoothed.
    overlapping: u64,
}

impl Switching {
    pub(crate) fn new() -> Switching {
        Switching {
            last_done: Time(0),
            last_end: None,
            following_ns: None,
            idle_ns: None,
            busy_ns: None,
            busy_count: 0,
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

    /// The first bytes of a fetch came.
    pub(crate) fn on_first_bytes(&mut self, sample: &Sample) {
        if sample.ahead > 0 {
            // Were it served alone, all that were dispatched before it had ended.
            let overlaps = self.ended_count < sample.index;
            self.overlapping = self.overlapping - self.overlapping / 8 + if overlaps { 128 } else { 0 };
        }
    }

    /// A fetch ended, well or not.
    pub(crate) fn on_ended(&mut self) {
        self.ended_count += 1;
    }

    /// A fetch ended well.
    pub(crate) fn on_fetched(&mut self, now: Time, sample: &Sample) {
        let took = now.since(sample.dispatched.max(self.last_done));
        let follows = self.last_end == Some((sample.object, sample.offset));
        self.last_done = now;
        self.last_end = Some((sample.object, sample.offset + sample.bytes));
        let one_at_a_time = self.cost_ns() > 0;
        if follows {
            if sample.bytes >= FOLLOWING_BYTES_MIN && (sample.ahead > 0 || one_at_a_time) {
                smooth(&mut self.following_ns, ((u128::from(took) << 20) / u128::from(sample.bytes)) as u64);
            }
            return;
        }
        let transfer = self.transfer_ns(sample.bytes).unwrap_or(0);
        let moved = took.saturating_sub(transfer);
        if sample.ahead == 0 {
            smooth(&mut self.idle_ns, now.since(sample.dispatched).saturating_sub(transfer));
        } else if self.following_ns.is_some() && (one_at_a_time || sample.ahead >= AHEAD_MIN) {
            smooth(&mut self.busy_ns, moved);
            self.busy_count += 1;
        }
    }

    /// What it costs to go from one place to another; 0 if the backend serves
    /// several fetches at once, or as far as is known.
    pub(crate) fn cost_ns(&self) -> u64 {
        match (self.idle_ns, self.busy_ns) {
            (Some(idle), Some(busy))
                if self.is_alone()
                    && self.busy_count >= SAMPLES_MIN
                    && idle >= MOVE_NS_MIN
                    && 2 * busy > idle =>
            {
                busy
            }
            _ => 0,
        }
    }

    /// Whether enough was seen to say so.
    pub(crate) fn is_judged(&self) -> bool {
        self.idle_ns.is_some() && self.busy_count >= SAMPLES_MIN
    }

    /// Hardly any fetch overlapped another: some do where an elevator below
    /// changes their order.
    fn is_alone(&self) -> bool {
        self.overlapping < 256
    }

    /// How many bytes could be read instead of going elsewhere.
    pub(crate) fn cost_bytes(&self) -> u64 {
        let byte_ns = self.following_ns.unwrap_or(0).max(1);
        (u128::from(self.cost_ns()) << 20).div_euclid(u128::from(byte_ns)).min(u128::from(u32::MAX)) as u64
    }

    fn transfer_ns(&self, bytes: u64) -> Option<u64> {
        Some(((u128::from(self.following_ns?) * u128::from(bytes)) >> 20) as u64)
    }
}

fn smooth(mean: &mut Option<u64>, sample: u64) {
    *mean = Some(mean.map_or(sample, |mean| mean - mean / 8 + sample / 8));
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const LEN: u64 = 256 << 10;

    /// Eight fetches at a time, two by two one behind the other; `end_ms` says
    /// when the one of that number ends, all having been dispatched at 0.
    fn learned(end_ms: impl Fn(u64) -> u64) -> Switching {
        let mut switching = Switching::new();
        for round in 0..8 {
            let start = round * 100 * MS;
            let samples: [Sample; 8] = core::array::from_fn(|index| Sample {
                object: ObjectId(index as u64 / 2),
                offset: (round * 2 + index as u64 % 2) * LEN,
                index: switching.on_dispatch(),
                ahead: index,
                dispatched: Time(start),
                delivered_before: 0,
                first_arrived: Time(start),
                first_bytes: LEN,
                bytes: LEN,
            });
            for (index, sample) in samples.iter().enumerate() {
                switching.on_first_bytes(sample);
                switching.on_fetched(Time(start + end_ms(index as u64) * MS), sample);
                switching.on_ended();
            }
        }
        switching
    }

    #[test]
    fn a_disk_pays_for_going_elsewhere() {
        // 8 ms to move and 4 to read.
        let disk = learned(|index| (index / 2 + 1) * 8 + (index + 1) * 4);
        assert_eq!(disk.cost_ns(), 8 * MS);
        assert_eq!(disk.cost_bytes(), 2 * LEN);
    }

    #[test]
    fn a_store_does_several_things_at_once() {
        // 20 ms for the first bytes, and the link is full then.
        assert_eq!(learned(|index| 20 + (index + 1) * 4).cost_ns(), 0);
    }
}
