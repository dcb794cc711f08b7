//! How much a stream keeps ahead: twice as much with each window consumed, as far as it may.

use alloc::vec::Vec;

use super::detect::Stream;
use super::window_state::{GRAIN, Sizing};
use crate::ablation::Rule;
use crate::device::{Costs, bytes_in};
use crate::explain::Why;
use crate::policy::Window;
use crate::types::{BLOCK_BYTES, Extent};

/// A window of fewer bytes is not worth a request.
const WINDOW_BYTES_WORTH: u64 = 16 << 10;
/// The first window at an object's start, and of a reader that has announced sequential reads.
const WINDOW_BYTES_AT_START: u64 = 256 << 10;
/// The first window is at least and at most this many times the bytes that were read.
const OPENING_TIMES: [u64; 2] = [4, 16];
/// The window of a reader that waits grows to the bytes of this many waits at once. It has at most this
/// many times the bytes that were read.
const STEP_WAITS: u64 = 4;
const STEP_TIMES: u64 = 8;
/// The most elements ahead of a strided stream.
const ELEMENTS_MAX: u64 = 256;
/// A window is refilled once this share of it was consumed. For a reader that does not wait, it is refilled
/// once this share is left. Where fetches overlap, that has to last twice as long as a read
/// and a slow fetch take. Else a reader nearly as fast as the device would leave it idle in between. Where each
/// return is dear, a window is mostly refilled after the second share.
const TOP_UP_SHARE: u64 = 4;
const LEAP_SHARE: u64 = 2;

/// The bounds of a window at the read under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Its share of memory and device, and which of the two bounds it.
    pub(super) share: u64,
    pub(super) share_why: Why,
    /// The bytes that it is trusted with.
    pub(super) allowed: u64,
    /// The position where it ends, or will most likely.
    pub(super) limit: u64,
    /// Bytes of a stream here, if that is known.
    pub(super) reach: Option<u64>,
    /// Streams that wait at the same time.
    pub(super) reading: u64,
    /// How long a slow fetch takes.
    pub(super) service_ns: u64,
    /// Its reader has said that it reads on.
    pub(super) is_announced: bool,
}

impl Stream {
    /// Plans the bytes that are kept ahead within `bounds`. Adds them to `windows`.
    pub(super) fn top_up(&mut self, costs: &Costs, bounds: &Bounds, windows: &mut Vec<Window>) {
        let is_dense = self.shape.is_dense();
        let share =
            if is_dense { bounds.share } else { bounds.share.min(ELEMENTS_MAX * self.shape.element()) };
        if self.sizing.window == 0 {
            self.open(costs, bounds);
        } else if self.frontier >= self.sizing.trigger || self.steps_early(costs, bounds) {
            self.reconsider(costs, bounds);
        }
        if self.sizing.window >= share {
            (self.sizing.window, self.sizing.why) = (share, bounds.share_why);
        }
        let window = self.sizing.window.min(bounds.allowed);
        let limit = bounds.limit.min(self.failed);
        let least = if costs.step > 0 { self.read_len } else { 0 }.max(WINDOW_BYTES_WORTH);
        self.explain(window, limit, bounds.allowed);
        if window > 0 && !(is_dense && window < least) {
            self.extend(costs, window, share, limit, windows);
        }
        if self.sizing.trigger == u64::MAX || self.sizing.trigger == 0 {
            self.sizing.trigger = self.planned.max(self.frontier + 1);
        }
    }

    /// The first window: a wrong one costs at most a latency.
    fn open(&mut self, costs: &Costs, bounds: &Bounds) {
        let [least, most] = OPENING_TIMES.map(|times| times * self.read_bytes);
        let at_start = match self.start {
            _ if !self.shape.is_dense() => 0,
            0 => WINDOW_BYTES_AT_START,
            _ => GRAIN,
        };
        let reach = bounds.reach.filter(|_| self.shape.is_dense());
        self.sizing.why = Why::FirstWindow;
        self.sizing.window = if bounds.is_announced {
            self.sizing.why = Why::Advised;
            WINDOW_BYTES_AT_START
        } else if self.is_doubted {
            // A seek for a chance costs more than it can save: its next read decides.
            if costs.apart > 0 { 0 } else { self.read_bytes.max(WINDOW_BYTES_WORTH) }
        } else if let Some(reach) = reach {
            self.sizing.why = Why::EndKnown;
            reach.saturating_sub(self.run()).max(GRAIN)
        } else if !self.shape.is_dense() && costs.apart > 0 {
            self.shape.element()
        } else {
            costs.opening.clamp(least, most).max(at_start)
        };
    }

    /// The least size that one step of a window should reach.
    fn step(&self, costs: &Costs, bounds: &Bounds) -> u64 {
        let worth = STEP_WAITS * costs.wait.max(costs.opening) / bounds.reading;
        if self.start == 0 { worth } else { worth.min(STEP_TIMES * self.own()) }
    }

    /// Whether its reader waits although the window is small: it grows before the trigger.
    fn steps_early(&self, costs: &Costs, bounds: &Bounds) -> bool {
        let is_known = self.start == 0 || STEP_TIMES * self.own() > self.sizing.window;
        self.sizing.late
            && self.count > 1
            && !Rule::Step.is_off()
            && is_known
            && self.step(costs, bounds) > self.sizing.window
    }

    /// It has consumed a window. The next is larger in any case: a reader that does not wait also makes the
    /// device return, and larger batches need fewer returns.
    fn reconsider(&mut self, costs: &Costs, bounds: &Bounds) {
        let Sizing { window, late, .. } = self.sizing;
        let least = if late && !Rule::Step.is_off() { self.step(costs, bounds) } else { 0 };
        self.sizing.window = (2 * window).max(least);
        self.sizing.why = if late { Why::Growing } else { Why::Steady };
        let meanwhile = bytes_in(bounds.service_ns, self.rate()) + self.read_len;
        self.sizing.is_fed = !late && (costs.apart > 0 || 2 * meanwhile <= window / TOP_UP_SHARE);
        self.sizing.late = false;
        self.sizing.trigger = u64::MAX;
    }

    /// Plans the missing part of `window`, up to position `limit`, unless that is too little yet.
    fn extend(&mut self, costs: &Costs, window: u64, share: u64, limit: u64, windows: &mut Vec<Window>) {
        let is_dense = self.shape.is_dense();
        // Where each return is dear, a window is refilled seldom. It is refilled even more seldom for a
        // reader that does not wait, if two conditions hold. The window has its full size, and its last
        // quarter lasts for some reads.
        let is_dear = costs.step > 0 || self.shape.is_back() && costs.back_piece > window;
        let is_full = window >= share && TOP_UP_SHARE * self.read_len <= window / TOP_UP_SHARE;
        let step = if is_dense && self.sizing.is_fed && !Rule::Fed.is_off() && (costs.step == 0 || is_full) {
            window - window / TOP_UP_SHARE
        } else if is_dense && is_dear && !Rule::Leaps.is_off() {
            window / LEAP_SHARE
        } else {
            (window / TOP_UP_SHARE).max(costs.step.min(window)).min(costs.fetch)
        }
        .max(1);
        let mut end = self.frontier + window;
        if !is_dense {
            end = end.next_multiple_of(self.shape.element());
        } else if window >= 4 * GRAIN {
            end -= end % GRAIN;
        } else if !self.shape.is_back() {
            end = end.next_multiple_of(BLOCK_BYTES);
        }
        if is_dense && end.saturating_add(window / 4 + GRAIN) >= limit {
            end = limit;
        }
        end = end.min(limit);
        let is_bounded = window < self.sizing.window || end >= limit;
        let quiet_until = |end: u64| if is_bounded { 0 } else { (end + step).saturating_sub(window) };
        if end <= self.planned || end < limit && end - self.planned < step {
            self.sizing.quiet_until = quiet_until(self.planned);
            return;
        }
        let wanted = Extent::between(self.planned, end);
        self.planned = end;
        self.sizing.quiet_until = quiet_until(end).min(self.sizing.trigger);
        let (shape, id, mark, reason) = (self.shape, self.id, self.frontier + step, self.reason());
        shape.extents(wanted, costs.back_piece.min(wanted.len), |extent| {
            let mark = if is_dense && !shape.is_back() { mark } else { extent.offset };
            windows.push(Window { extent, mark, stream: Some(id), reason });
        });
    }

    fn explain(&mut self, window: u64, limit: u64, allowed: u64) {
        let room = limit.saturating_sub(self.frontier);
        self.sizing.kept = window.min(room);
        if room <= window {
            self.sizing.why = Why::EndKnown;
        } else if allowed < self.sizing.window {
            self.sizing.why = Why::LimitedByAccount;
        }
    }
}
