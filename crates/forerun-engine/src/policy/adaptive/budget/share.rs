//! One stream's share of memory and device.

use crate::ablation::Rule;
use crate::explain::Why;
use crate::policy::View;
use crate::policy::adaptive::window_state::GRAIN;
use crate::policy::census::{Census, period};
use crate::types::Time;

/// A stream holds memory for this many of the periods in which it counts as being read: 8 s.
const HOLDING_PERIODS: u32 = 32;
/// The least share of the device for one stream: a few fetches.
const SHARE_BYTES_MIN: u64 = 1 << 20;
/// One stream may have this share of the unread half of the memory that is left.
const SPARE_SHARE: u64 = 8;

/// How many streams are being read just now, and how many hold memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shares {
    reading: Census,
    holding: Census,
    /// Beside the streams, how many are read that are followed.
    followed: u64,
}

impl Shares {
    /// A stream is read that was counted last in `counted`.
    pub(crate) fn count_stream(&mut self, now: Time, counted: &mut [Option<u32>; 2]) {
        let [reading, holding] = counted;
        self.reading.count_once(period(now), reading);
        self.holding.count_once(period(now) / HOLDING_PERIODS, holding);
    }

    /// The stream that is remembered as `counted` is not read any more.
    pub(crate) fn leave(&mut self, counted: &mut [Option<u32>; 2]) {
        let [reading, holding] = counted;
        self.reading.leave(reading);
        self.holding.leave(holding);
    }

    /// The stream that is remembered as `counted` holds no memory any more.
    pub(crate) fn release(&mut self, counted: &mut [Option<u32>; 2]) {
        self.holding.leave(&mut counted[1]);
    }

    /// The same with `followed` orders read beside the streams.
    pub(crate) fn beside(self, followed: u64) -> Shares {
        Shares { followed, ..self }
    }

    /// The same if there are `count` at least.
    pub(crate) fn among(self, count: u64) -> Shares {
        Shares { followed: self.followed.max(count.saturating_sub(self.reading.count())), ..self }
    }

    /// How many are being read.
    pub(crate) fn reading(&self) -> u64 {
        (self.reading.count() + self.followed).max(1)
    }

    /// The bytes that one follower may have ahead. All readers share twice the bytes that keep the device
    /// busy, but each has a few fetches. They also share three quarters of the memory. While less than half
    /// of that is taken, streams that pause leave their part to others.
    pub(crate) fn of_one(&self, view: &View<'_>) -> u64 {
        self.of_stream(false, view).0
    }

    /// The same of a stream, and which of the two bounds it. One whose end is known does not take all that
    /// keeps the device busy for long.
    pub(crate) fn of_stream(&self, ends: bool, view: &View<'_>) -> (u64, Why) {
        let costs = view.device.costs();
        let busy = if ends && costs.step == 0 { 2 * costs.pipe } else { 0 };
        let (device, memory) = (self.of_device(view).max(busy), self.of_memory(view));
        if memory < device { (memory, Why::LimitedByMemory) } else { (device, Why::LimitedByShare) }
    }

    fn of_device(&self, view: &View<'_>) -> u64 {
        let costs = view.device.costs();
        let least = costs.share.max(SHARE_BYTES_MIN);
        let all = 2 * costs.pipe;
        let share = view.favour.of((all / self.reading()).max(least)).min(all).max(least);
        if Rule::DeviceShare.is_off() { u64::MAX } else { share }
    }

    fn of_memory(&self, view: &View<'_>) -> u64 {
        let even = |count: u64| view.config.memory_bytes_max / 4 * 3 / count;
        // Many windows are half empty on average. Small ones count on that, because each fetch costs more
        // than its bytes.
        let fair = |even: u64| even.max((even / 2 * 3).min(GRAIN));
        let holding = fair(even(self.holding.count().max(self.reading())));
        let share = holding.max(view.cache.spare_bytes() / SPARE_SHARE).min(fair(even(self.reading())));
        if Rule::MemoryShare.is_off() { even(1) } else { share }
    }
}
