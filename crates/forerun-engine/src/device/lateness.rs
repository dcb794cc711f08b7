//! After how long a fetch is late.

use super::{Device, time_of};

/// No disk needs longer for a request, wherever its head is.
const DISK_NS_MAX: u64 = 50_000_000;
/// A pause this many times as long as nearly all pauses is a stall.
const STALL_TIMES: u64 = 4;

impl Device {
    /// A fetch that has brought nothing for so long is late, and may be asked for again.
    /// Nothing where that helps nobody: near by, where one has to wait for another, and
    /// before enough is known.
    pub(crate) fn patience_ns(&self) -> Option<u64> {
        self.patience_ns
    }

    /// The patience by the current measurements.
    pub(super) fn patience(&self) -> Option<u64> {
        let is_off = crate::ablation::Rule::Hedge.is_off() || self.slice_bytes().is_some();
        let patience = self.spread.patience_ns().filter(|_| self.is_far() && !is_off);
        patience.map(|patience| patience.max(self.excuse_ns(1, 0)))
    }

    /// How long a fetch may bring nothing after its first bytes before it has stalled. That is far longer
    /// than usual pauses, and longer than a new fetch takes to begin.
    pub(crate) fn pause_patience_ns(&self) -> Option<u64> {
        let pause = STALL_TIMES.saturating_mul(self.pauses.patience_ns()?);
        Some(self.patience_ns()?.max(pause))
    }

    /// The earliest time at which one of `count` fetches with `bytes` bytes can be late. A serial device
    /// serves all of them one after the other, and may seek for each.
    pub(crate) fn excuse_ns(&self, count: usize, bytes: u64) -> u64 {
        if !self.is_serial() {
            return 0;
        }
        let moves = if self.switching.is_slow_to_begin() { DISK_NS_MAX * count as u64 } else { 0 };
        moves + time_of(2 * bytes, self.throughput.get().unwrap_or(0))
    }
}
