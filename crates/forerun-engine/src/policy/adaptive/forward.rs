//! One forward stream: how much to keep ahead of its reader.
//!
//! ```text
//!      start          frontier            planned
//!  ------|================|--------------------|------------>  offset
//!          read (disorder   in memory, in flight  not asked for
//!          within reorder)  or about to be
//!                         |<----- window ----->|
//! ```
//! The window is topped up as the reader advances. Once per window consumed it
//! is reconsidered: it grows while the reader had to wait and shrinks to what
//! rate and service time call for when it is far larger.

use super::Share;
use super::activity::Counted;
use super::candidate::Candidate;
use crate::device::{bytes_in, rate};
use crate::policy::{Access, Window};
use crate::types::{Extent, Time};

/// The first window of a reader at an object's start: what a request to a store
/// costs in time anyway.
const WINDOW_BYTES_AT_START: u64 = 256 << 10;
/// The first window of a stream found elsewhere, at least.
const WINDOW_BYTES_MIN: u64 = 64 << 10;
/// Below this, reading ahead is not worth a request.
const WINDOW_BYTES_WORTH: u64 = 16 << 10;
/// Windows end at multiples of this.
const GRAIN: u64 = 64 << 10;
/// Requests of disorder that an established stream absorbs.
//= claims D1: NFS servers shuffle within 4 to 16 requests
const REORDER_REQUESTS: u64 = 16;
/// Bounds of that disorder in bytes.
const REORDER_BYTES_MIN: u64 = 64 << 10;
const REORDER_BYTES_MAX: u64 = 4 << 20;

/// See the module's page. `start <= frontier <= planned`.
#[derive(Debug)]
pub(super) struct Forward {
    start: u64,
    frontier: u64,
    planned: u64,
    /// Bytes to keep ahead; 0 until the first read decides.
    window: u64,
    /// Bytes that were read before this was known to be a stream.
    evidence: u64,
    /// Bytes from here on could not be fetched: none is wanted until the reader
    /// gets here itself.
    failed: u64,
    /// The window is reconsidered when the frontier gets here.
    turn: u64,
    /// When and where it was last reconsidered.
    turned: (Time, u64),
    /// The reader had to wait since then for something that was planned.
    late: bool,
    read_len: u64,
    last_read: Time,
    counted: Counted,
}

impl Forward {
    pub(super) fn new(candidate: &Candidate, access: &Access) -> Forward {
        Forward {
            start: candidate.start,
            frontier: candidate.end,
            planned: candidate.end,
            window: 0,
            evidence: candidate.bytes(),
            failed: u64::MAX,
            turn: candidate.end + 1,
            turned: (access.time, candidate.end),
            late: false,
            read_len: access.extent.len,
            last_read: access.time,
            counted: Counted::default(),
        }
    }

    pub(super) fn start(&self) -> u64 {
        self.start
    }

    pub(super) fn frontier(&self) -> u64 {
        self.frontier
    }

    pub(super) fn last_read(&self) -> Time {
        self.last_read
    }

    pub(super) fn activity_mut(&mut self) -> &mut Counted {
        &mut self.counted
    }

    /// Whether a read of `extent` is this stream's: within the window, or off by
    /// no more than the disorder that readers show.
    pub(super) fn covers(&self, extent: Extent) -> bool {
        let requests = REORDER_REQUESTS * self.read_len.max(extent.len);
        let reorder = requests.clamp(REORDER_BYTES_MIN, REORDER_BYTES_MAX);
        extent.end().saturating_add(reorder) > self.frontier
            && extent.offset <= self.planned.saturating_add(reorder)
    }

    pub(super) fn distance(&self, offset: u64) -> u64 {
        self.frontier.abs_diff(offset)
    }

    /// The reader asks for `access.extent`; what to add to the window, if
    /// anything. Nothing at or past `limit` is wanted.
    pub(super) fn on_read(&mut self, access: &Access, share: &Share, limit: u64) -> Option<Window> {
        self.last_read = access.time;
        self.read_len = access.extent.len.max(self.read_len - self.read_len / 8);
        self.late |= access.late && access.extent.offset < self.planned;
        self.start = self.start.min(access.extent.offset);
        self.frontier = self.frontier.max(access.extent.end());
        self.planned = self.planned.max(self.frontier);
        if self.frontier > self.failed {
            self.failed = u64::MAX;
        }
        if self.window == 0 {
            self.window = self.first_window(share);
        }
        let turned = self.frontier >= self.turn;
        if turned {
            self.resize(access.time, share);
        }
        let window = self.top_up(share, limit.min(self.failed));
        if turned {
            self.turn = self.planned.max(self.frontier + 1);
        }
        window
    }

    /// Bytes that were planned are not there: plan them again.
    pub(super) fn on_lost(&mut self, extent: Extent) {
        if extent.offset < self.planned && extent.end() > self.frontier {
            self.planned = extent.offset.max(self.frontier);
        }
    }

    /// Bytes that were planned could not be fetched.
    pub(super) fn on_failed(&mut self, extent: Extent) {
        if extent.offset < self.planned && extent.end() > self.frontier {
            self.failed = self.failed.min(extent.offset.max(self.frontier));
        }
        self.on_lost(extent);
    }

    /// What may be wrong at the cost of a latency, between 4 and 16 times what
    /// was read so far.
    fn first_window(&self, share: &Share) -> u64 {
        let least = if self.start == 0 { WINDOW_BYTES_AT_START } else { WINDOW_BYTES_MIN };
        share.competitive_bytes.clamp(4 * self.evidence, 16 * self.evidence).max(least)
    }

    fn resize(&mut self, now: Time, share: &Share) {
        let max = share.window_bytes_max;
        if self.late {
            self.window *= if self.window < max / 16 { 4 } else { 2 };
        } else {
            let (then, frontier) = self.turned;
            let rate = rate(self.frontier - frontier, now.since(then));
            // Twice, since the rate is an average; and a fetch that is being
            // consumed while the next is on its way.
            let needed = 2 * bytes_in(share.service_ns, rate) + 2 * share.fetch_bytes;
            if self.window > 2 * needed {
                self.window = needed.max(self.window / 2);
            }
        }
        self.window = self.window.min(max);
        self.late = false;
        self.turned = (now, self.frontier);
    }

    fn top_up(&mut self, share: &Share, limit: u64) -> Option<Window> {
        let window = self.window.min(share.window_bytes_max);
        if window < WINDOW_BYTES_WORTH {
            return None;
        }
        let step = (window / 4).min(share.fetch_bytes).max(1);
        let mut end = self.frontier + window;
        end -= if window >= 4 * GRAIN { end % GRAIN } else { 0 };
        // A short rest is not left for a fetch of its own.
        if end.saturating_add(window / 4 + GRAIN) >= limit {
            end = limit;
        }
        if end <= self.planned || (end < limit && end - self.planned < step) {
            return None;
        }
        let extent = Extent::between(self.planned, end);
        self.planned = end;
        Some(Window { extent, mark: self.frontier + step })
    }
}
