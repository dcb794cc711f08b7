//! How much a stream keeps ahead.
//!
//! The window is topped up as the reader advances. Once per window consumed it is
//! reconsidered: it grows while the reader had to wait.

use super::{GRAIN, Shape, Stream};
use crate::device::rate;
use crate::policy::adaptive::amounts::Share;
use crate::types::{BLOCK_BYTES, Extent, Time};

/// The first window of a reader at an object's start: what a request to a store
/// costs in time anyway.
const WINDOW_BYTES_AT_START: u64 = 256 << 10;
/// The first window of a reader who has said that it reads on.
const WINDOW_BYTES_ANNOUNCED: u64 = 1 << 20;
/// The first window of a stream found elsewhere, at least.
const WINDOW_BYTES_MIN: u64 = 64 << 10;
/// Below this, reading ahead is not worth a request.
const WINDOW_BYTES_WORTH: u64 = 16 << 10;
/// Where streams take turns, the share of a turn that one keeps ahead of its reader.
const FORWARD_SHARE: u64 = 2;
/// And what one may keep ahead however short turns are.
const FORWARD_BYTES_MIN: u64 = 1 << 20;
/// The share of a disk's throughput that is as much as one stream gets, with moves between.
const FED_SHARE: u64 = 4;
/// Who goes in leaps on a disk makes them long soon if so few streams are being read: himself, and
/// what he was first taken for.
const LEAPING_COUNT_MAX: u64 = 2;

impl Stream {
    /// So much here is read at random that it may be two reads beside each other by
    /// chance: its first window is no larger than it must be.
    pub(crate) fn doubt(&mut self) {
        self.window = (4 * u64::from(self.evidence)).max(WINDOW_BYTES_WORTH);
    }

    /// As many streams as there were are to be expected where all is read at random: it is
    /// none until it goes on, and as much again as was read will show that.
    pub(crate) fn doubt_altogether(&mut self) {
        self.window = u64::from(self.evidence).max(WINDOW_BYTES_WORTH);
        self.is_accident = true;
    }

    /// What may be wrong at the cost of a latency, between 4 and 16 times what
    /// was read so far.
    pub(super) fn first_window(&self, share: &Share, reach: Option<u64>) -> u64 {
        if let Some(reach) = reach
            && self.shape.is_dense()
            && !self.is_announced
        {
            let rest = reach.saturating_sub(self.frontier - self.resumed_at);
            return rest.max(WINDOW_BYTES_MIN).min(share.window_bytes_max);
        }
        let least = match &self.shape {
            // Far ahead nothing is gained by it as long as its reader need not wait.
            Shape::Strided(strides) if share.is_disk => return strides.element_bytes(),
            Shape::Strided(_) => 0,
            _ if self.is_announced => WINDOW_BYTES_ANNOUNCED,
            _ if self.start == 0 => WINDOW_BYTES_AT_START,
            _ => WINDOW_BYTES_MIN,
        };
        let evidence = u64::from(self.evidence);
        share.competitive_bytes.clamp(4 * evidence, 16 * evidence).max(least)
    }

    /// Who goes on from an object's start to what was read ahead, far away, and has to wait even so: each
    /// step of a window would cost him a latency, so that he gets at once all that his share and the
    /// ledger allow. Streams elsewhere are many and short: the first would leave nothing for others.
    pub(super) fn open(&mut self, share: &Share) {
        if share.is_steep && self.start == 0 && self.late && self.turn_count > 0 {
            self.window = self.window.max(self.window_max(share));
        }
    }

    pub(super) fn resize(&mut self, now: Time, share: &Share) {
        let max = self.window_max(share);
        let (then, frontier) = self.turned;
        let rate = rate(self.frontier - frontier, now.since(then));
        self.note_turn(rate, share.service_ns);
        if self.late {
            self.window *= self.growth(rate, max, share);
        }
        self.note_share(max);
        self.window = self.window.min(max);
        self.late = false;
        self.turn_count = self.turn_count.saturating_add(1);
        self.turned = (now, self.frontier);
    }

    /// How many times as large a window is worth it whose reader had to wait, with so many bytes a
    /// second.
    fn growth(&self, rate: u64, max: u64, share: &Share) -> u64 {
        let is_steep = self.leaps(share) && share.reading_count <= LEAPING_COUNT_MAX;
        let small = max / if is_steep { 4 } else { 16 };
        if self.is_fed(rate, share) {
            1
        } else if self.is_announced || self.window < small {
            4
        } else {
            2
        }
    }

    /// Whether its reader gets what a disk can bring, and waits for it however much is ahead. A pause
    /// and others leave less to it; the most that a disk ever brought came from its own buffer.
    fn is_fed(&self, rate: u64, share: &Share) -> bool {
        share.is_disk && matches!(self.shape, Shape::Forward) && FED_SHARE * rate >= share.rate
    }

    fn window_max(&self, share: &Share) -> u64 {
        match &self.shape {
            // Such windows are half empty on average; large ones gain nothing by that.
            Shape::Forward | Shape::Backward if self.reserve(share).is_some() => {
                (share.window_bytes_max / 2 * 3).min(GRAIN).max(share.window_bytes_max)
            }
            // Others wait for its turn, and longer than that it need not be: two that are
            // read together take twice as much before it is the other's.
            Shape::Forward if let Some(turn) = share.turn_bytes => {
                share.window_bytes_max.min((turn / FORWARD_SHARE).max(FORWARD_BYTES_MIN))
            }
            _ => share.window_bytes_max,
        }
    }

    /// Who reads so slowly that there is time for a fetch while the last bit of a
    /// small window is consumed, even behind everybody else's: how much that is. Such
    /// windows are consumed before the next, so that fetches are as large as they can
    /// be.
    fn reserve(&self, share: &Share) -> Option<u64> {
        let pause = self.counted.pause_ns()?.max(1);
        let reserve = (share.service_ns * share.reading_count / pause + 1) * self.read_len();
        let is_slow = share.window_bytes_max < share.fetch_bytes && 4 * reserve <= share.window_bytes_max;
        is_slow.then_some(reserve)
    }

    /// Whether it goes backward on a disk: in long leaps, each of them read forward, since the
    /// disk turns one way. Each costs most of a turn, however short it is.
    fn leaps(&self, share: &Share) -> bool {
        share.is_serial && matches!(self.shape, Shape::Backward)
    }

    /// What to add to the window at least.
    fn step(&self, window: u64, share: &Share) -> u64 {
        match self.shape {
            _ if self.leaps(share) => window / 2,
            Shape::Forward | Shape::Backward if let Some(reserve) = self.reserve(share) => {
                window.saturating_sub(reserve).max(1)
            }
            _ => (window / 4).min(share.fetch_bytes).max(1),
        }
    }

    /// What is wanted next begins past `next`, if the window and where it must stop are
    /// the same then.
    fn be_quiet(&mut self, next: u64, window: u64, limit: u64) {
        let is_free = next.saturating_add(window / 4 + GRAIN + BLOCK_BYTES) < limit;
        self.quiet_until = if is_free { next.saturating_sub(window + BLOCK_BYTES) } else { 0 };
    }

    /// Whether it makes a difference if all that its reader comes for is there up to `end`.
    pub(crate) fn may_rest(&self, end: u64) -> bool {
        let is_known = matches!(self.shape, Shape::Forward) && self.window > 0;
        is_known && self.quiet_before(end) > self.quiet_until.max(self.frontier)
    }

    /// All that its reader comes for is there, up to `end`.
    pub(crate) fn rest_until(&mut self, end: u64) {
        self.quiet_until = self.quiet_until.max(self.quiet_before(end));
    }

    /// Where it would want more if all is there up to `end`.
    fn quiet_before(&self, end: u64) -> u64 {
        end.saturating_sub(self.window + self.window / 4 + GRAIN)
    }

    /// The positions to add to the window, and where that is reconsidered.
    pub(super) fn grow(&mut self, share: &Share, limit: u64, allowed: u64) -> Option<(Extent, u64)> {
        let window = self.window.min(self.window_max(share)).min(allowed);
        let is_dense = self.shape.is_dense();
        if is_dense && window < WINDOW_BYTES_WORTH {
            return None;
        }
        let step = self.step(window, share);
        let mut end = self.frontier + window;
        if let Shape::Strided(strides) = &self.shape {
            end = strides.element_end(end - 1);
        } else if window >= 4 * GRAIN {
            end -= end % GRAIN;
        } else if matches!(self.shape, Shape::Forward) {
            // The next window is not to begin in a block that may have been read by then.
            end = end.next_multiple_of(BLOCK_BYTES);
        }
        // A short rest is not left for a fetch of its own.
        if is_dense && end.saturating_add(window / 4 + GRAIN) >= limit {
            end = limit;
        }
        end = end.min(limit);
        let is_worth = end > self.planned && (end >= limit || end - self.planned >= step);
        self.be_quiet(if is_worth { end } else { self.planned } + step, window, limit);
        if !is_worth {
            return None;
        }
        let positions = Extent::between(self.planned, end);
        self.planned = end;
        Some((positions, self.frontier + step))
    }
}
