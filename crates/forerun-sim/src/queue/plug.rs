//! Holding requests back for a moment, in the hope that more will come to merge with.

use crate::device::Time;

/// When a queue holds back what it could dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plug {
    /// Never.
    None,
    /// As Linux did until 2.6.38. A request at an empty elevator plugs the queue for 3 ms, or until 4
    /// requests wait. A client that waits for a request unplugs it earlier.
    Historic,
}

/// 3 ms, `blk_queue_make_request` in Linux 2.6.
const TIMER_NS: u64 = 3_000_000;
/// `unplug_thresh`, the same.
const THRESHOLD: usize = 4;

impl Plug {
    /// Until when it holds what arrives now at an empty elevator.
    pub(super) fn holds_until(self, now: Time) -> Option<Time> {
        match self {
            Plug::None => None,
            Plug::Historic => Some(Time(now.0 + TIMER_NS)),
        }
    }

    /// How many waiting requests let it go.
    pub(super) fn threshold(self) -> usize {
        match self {
            Plug::None => 0,
            Plug::Historic => THRESHOLD,
        }
    }
}
