//! One stream: how much to keep ahead of its reader.
//!
//! ```text
//!      start          frontier            planned
//!  ------|================|--------------------|------------>  position
//!          read (disorder   in memory, in flight  not asked for
//!          within reorder)  or about to be
//!                         |<----- window ----->|
//! ```
//! The window is topped up as the reader advances. Once per window consumed it
//! is reconsidered: it grows while the reader had to wait and shrinks to what
//! rate and service time call for when it is far larger. Positions are counted along
//! the stream's way, see [`super::shape`].

use super::Share;
use super::activity::Counted;
use super::density::Density;
use super::shape::Shape;
use crate::cache::Cache;
use crate::device::{bytes_in, rate};
use crate::policy::{Access, Window};
use crate::types::{BLOCK_BYTES, Extent, ObjectId, Time};
use alloc::vec::Vec;
use core::mem;

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

/// Elements of a strided way to keep ahead at most: what may be in flight at once,
/// and as much again.
const ELEMENTS_MAX: u64 = 128;

/// See the module's page. `start <= frontier <= planned`.
#[derive(Debug)]
pub(super) struct Stream {
    shape: Shape,
    start: u64,
    frontier: u64,
    planned: u64,
    /// Bytes to keep ahead; 0 until the first read decides.
    window: u64,
    /// Bytes that were read before this was known to be a stream.
    evidence: u64,
    /// Bytes from here on could not be fetched: none is wanted until the reader
    /// gets past here itself.
    failed: u64,
    /// The window is reconsidered when the frontier gets here.
    turn: u64,
    /// When and where it was last reconsidered.
    turned: (Time, u64),
    /// The reader had to wait since then for something that was planned.
    late: bool,
    /// How often it was reconsidered.
    turn_count: u32,
    read_len: u64,
    last_read: Time,
    counted: Counted,
    density: Density,
    /// Which of the object's reads the last was.
    read_index: u64,
    /// What lies ahead was counted as wasted.
    is_settled: bool,
}

impl Stream {
    /// A stream that has come `evidence` bytes from position `start` to `frontier`.
    pub(super) fn new(shape: Shape, way: Extent, evidence: u64, access: &Access) -> Stream {
        Stream {
            shape,
            start: way.offset,
            frontier: way.end(),
            planned: way.end(),
            window: 0,
            evidence,
            failed: u64::MAX,
            turn: way.end() + 1,
            turned: (access.time, way.end()),
            late: false,
            turn_count: 0,
            read_len: access.extent.len,
            last_read: access.time,
            counted: Counted::default(),
            density: Density::new(evidence, way.len),
            read_index: 0,
            is_settled: false,
        }
    }

    /// So much here is read at random that it may be two reads beside each other by
    /// chance: its first window is no larger than it must be.
    pub(super) fn doubt(&mut self) {
        self.window = (4 * self.evidence).max(WINDOW_BYTES_WORTH);
    }

    pub(super) fn shape(&self) -> &Shape {
        &self.shape
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

    /// Whether a read of `extent` is just what comes next.
    pub(super) fn expects(&self, extent: Extent) -> bool {
        self.shape.positions(extent, self.frontier).is_some_and(|positions| positions.offset == self.frontier)
    }

    /// How far a read of `extent` is from what comes next if it is this stream's:
    /// within the window, or off by no more than the disorder that readers show.
    pub(super) fn distance(&self, extent: Extent) -> Option<u64> {
        let positions = self.shape.positions(extent, self.frontier)?;
        let requests = REORDER_REQUESTS * self.read_len.max(extent.len);
        let reorder = requests.clamp(REORDER_BYTES_MIN, REORDER_BYTES_MAX);
        let covers = !self.density.is_thin()
            && positions.end().saturating_add(reorder) > self.frontier
            && positions.offset <= self.planned.saturating_add(reorder);
        covers.then(|| self.frontier.abs_diff(positions.offset))
    }

    /// It consumed a window: it is no accident.
    pub(super) fn is_proven(&self) -> bool {
        // The first time is with the first read.
        self.turn_count > 1
    }

    /// The reader asks for `extent`. False if it has left out too much by now.
    pub(super) fn passes(&mut self, extent: Extent) -> bool {
        let Some(positions) = self.shape.positions(extent, self.frontier) else { return false };
        self.density.note(positions.len, positions.end().saturating_sub(self.frontier));
        !self.density.is_thin()
    }

    /// It is read, by the object's read number `index`. True if what lies ahead had
    /// been counted as wasted.
    pub(super) fn resume(&mut self, index: u64) -> bool {
        self.read_index = index;
        mem::take(&mut self.is_settled)
    }

    /// What lies ahead is counted as wasted.
    pub(super) fn settle(&mut self) {
        self.is_settled = true;
    }

    pub(super) fn is_settled(&self) -> bool {
        self.is_settled
    }

    pub(super) fn read_index(&self) -> u64 {
        self.read_index
    }

    /// The positions that it has wanted.
    pub(super) fn ahead(&self) -> Extent {
        Extent::between(self.frontier, self.planned)
    }

    /// Those of them that a read of `extent` leaves out.
    pub(super) fn skipped(&self, extent: Extent) -> Extent {
        let positions = self.shape.positions(extent, self.frontier).unwrap_or_default();
        Extent::between(self.frontier, positions.offset.min(self.planned))
    }

    /// Bytes at `positions` that were fetched and that nobody has read.
    pub(super) fn unread_bytes(&self, positions: Extent, object: ObjectId, cache: &Cache) -> u64 {
        let mut bytes = 0;
        if !positions.is_empty() {
            self.shape
                .extents(positions, positions.len, |extent| bytes += cache.unread_bytes(object, extent));
        }
        bytes
    }

    /// Bytes of `extent` that it has wanted itself, in whole blocks.
    pub(super) fn unread_bytes_of(&self, extent: Extent) -> u64 {
        let positions = self.shape.positions(extent.to_blocks(), self.frontier).unwrap_or_default();
        positions.intersection(&self.ahead()).len
    }

    /// Bytes of its way so far.
    pub(super) fn own_bytes(&self) -> u64 {
        self.frontier - self.start
    }

    /// The reader asks for `access.extent`. True if more may be wanted now.
    pub(super) fn on_read(&mut self, access: &Access, share: &Share) -> bool {
        let Some(positions) = self.shape.positions(access.extent, self.frontier) else { return false };
        self.last_read = access.time;
        self.read_len = access.extent.len.max(self.read_len - self.read_len / 8);
        self.late |= access.late && positions.offset < self.planned;
        self.start = self.start.min(positions.offset);
        self.frontier = self.frontier.max(positions.end());
        self.planned = self.planned.max(self.frontier);
        if self.frontier > self.failed.saturating_add(GRAIN) {
            self.failed = u64::MAX;
        }
        if self.window == 0 {
            self.window = self.first_window(share);
        }
        if self.frontier >= self.turn {
            self.resize(access.time, share);
            self.turn = u64::MAX;
        }
        self.frontier + self.window > self.planned
    }

    /// Adds to the window up to position `limit`, if that is worth it now and the
    /// window then is not more than `allowed`.
    pub(super) fn top_up(&mut self, share: &Share, limit: u64, allowed: u64, windows: &mut Vec<Window>) {
        if let Some((positions, mark)) = self.grow(share, limit.min(self.failed), allowed) {
            let is_forward = matches!(self.shape, Shape::Forward);
            let piece = if share.is_serial { 2 * positions.len } else { share.fetch_bytes / 2 };
            self.shape.extents(positions, piece, |extent| {
                windows.push(Window { extent, mark: if is_forward { mark } else { extent.offset } });
            });
        }
    }

    /// It leaves out too much for everything to be read: whoever reads here is up
    /// to something else.
    pub(super) fn is_over(&self) -> bool {
        self.density.is_thin()
    }

    /// The window that was reconsidered was topped up.
    pub(super) fn settle_turn(&mut self) {
        if self.turn == u64::MAX {
            self.turn = self.planned.max(self.frontier + 1);
        }
    }

    /// Bytes that were planned are not there: plan them again. How many were, that
    /// had not been counted as wasted.
    pub(super) fn on_lost(&mut self, extent: Extent) -> u64 {
        let Some(position) = self.lost_at(extent) else { return 0 };
        self.planned = position;
        if self.is_settled { 0 } else { extent.len }
    }

    /// Bytes that were planned could not be fetched.
    pub(super) fn on_failed(&mut self, extent: Extent) {
        if let Some(position) = self.lost_at(extent) {
            self.failed = self.failed.min(position);
            self.planned = position;
        }
    }

    fn lost_at(&self, extent: Extent) -> Option<u64> {
        let window = Extent::between(self.frontier, self.planned);
        self.shape.first_within(extent, window).map(|position| position.max(self.frontier))
    }

    /// What may be wrong at the cost of a latency, between 4 and 16 times what
    /// was read so far.
    fn first_window(&self, share: &Share) -> u64 {
        let least = match self.shape {
            Shape::Strided(_) => 0,
            _ if self.start == 0 => WINDOW_BYTES_AT_START,
            _ => WINDOW_BYTES_MIN,
        };
        share.competitive_bytes.clamp(4 * self.evidence, 16 * self.evidence).max(least)
    }

    fn resize(&mut self, now: Time, share: &Share) {
        let max = self.window_max(share);
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
        self.turn_count = self.turn_count.saturating_add(1);
        self.turned = (now, self.frontier);
    }

    fn window_max(&self, share: &Share) -> u64 {
        match &self.shape {
            Shape::Strided(strides) => share.window_bytes_max.min(ELEMENTS_MAX * strides.element_bytes()),
            // Such windows are half empty on average; large ones gain nothing by that.
            _ if self.reserve(share).is_some() => {
                (share.window_bytes_max / 2 * 3).min(GRAIN).max(share.window_bytes_max)
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
        let reserve = (share.service_ns * share.reading_count / pause + 1) * self.read_len;
        let is_slow = share.window_bytes_max < share.fetch_bytes && 4 * reserve <= share.window_bytes_max;
        is_slow.then_some(reserve)
    }

    /// What to add to the window at least. Whoever goes backward on a disk does it
    /// in long leaps, each of them read forward: the disk turns one way.
    fn step(&self, window: u64, share: &Share) -> u64 {
        match self.shape {
            Shape::Backward if share.is_serial => window / 2,
            Shape::Forward | Shape::Backward if let Some(reserve) = self.reserve(share) => {
                window.saturating_sub(reserve).max(1)
            }
            _ => (window / 4).min(share.fetch_bytes).max(1),
        }
    }

    /// The positions to add to the window, and where that is reconsidered.
    fn grow(&mut self, share: &Share, limit: u64, allowed: u64) -> Option<(Extent, u64)> {
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
        if end <= self.planned || (end < limit && end - self.planned < step) {
            return None;
        }
        let positions = Extent::between(self.planned, end);
        self.planned = end;
        Some((positions, self.frontier + step))
    }
}
