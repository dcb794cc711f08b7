//! Whether somebody waits for fetches, and whether others read beside.

use crate::types::Time;

/// Who was not there for so many latencies has gone.
const GONE_LATENCIES: u64 = 16;
/// Who asks for nothing for so long pauses.
pub(super) const PAUSE_NS: u64 = 2_000_000;

/// See the module's page. What counts as waiting and as beside, who keeps it says.
#[derive(Debug, Default)]
pub(super) struct Company {
    /// Fetches in flight that somebody waits for, and when one ended last.
    awaited_count: usize,
    ended: Option<Time>,
    /// When somebody else than the reader before read.
    other: Option<Time>,
}

impl Company {
    /// Somebody else than the reader before reads.
    pub(super) fn note_other(&mut self, now: Time) {
        self.other = Some(now);
    }

    /// A fetch begins that somebody waits for.
    pub(super) fn begin(&mut self) {
        self.awaited_count += 1;
    }

    /// Such a fetch is over.
    pub(super) fn end(&mut self, now: Time) {
        self.awaited_count -= 1;
        self.ended = Some(now);
    }

    /// Whether somebody waits just now.
    pub(super) fn is_awaited(&self) -> bool {
        self.awaited_count > 0
    }

    /// When such a fetch ended last.
    pub(super) fn ended(&self) -> Option<Time> {
        self.ended
    }

    /// When they will have paused, if nobody asks for more before; none while somebody waits.
    pub(super) fn paused_at(&self) -> Option<Time> {
        let ended = self.ended.filter(|_| !self.is_awaited())?;
        Some(Time(ended.0.saturating_add(PAUSE_NS)))
    }

    /// Whether others are there, on a device with a latency of `latency_ns`.
    pub(super) fn has_others(&self, now: Time, latency_ns: u64) -> bool {
        self.other.is_some_and(|other| now.since(other) <= GONE_LATENCIES * latency_ns)
    }
}
