//! A read of a stream: what it moves, and what is wanted then.

use alloc::vec::Vec;

use super::{GRAIN, Shape, Stream, to_u32};
use crate::policy::adaptive::amounts::Share;
use crate::policy::{Access, Window};
use crate::types::{BLOCK_BYTES, Extent};

impl Stream {
    /// The reader asks for `positions`.
    pub(crate) fn advance(&mut self, access: &Access, positions: Extent) {
        self.is_accident &= positions.offset != self.frontier;
        self.last_read = access.time;
        self.read_bytes += positions.len;
        let blocks = u32::try_from(access.unread_bytes / BLOCK_BYTES).unwrap_or(u32::MAX);
        self.at_risk_blocks = self.at_risk_blocks.saturating_sub(blocks);
        self.read_len = to_u32(access.extent.len).max(self.read_len - self.read_len / 8);
        self.late |= access.late && positions.offset < self.planned;
        self.start = self.start.min(positions.offset);
        self.resumed_at = self.resumed_at.min(positions.offset);
        self.frontier = self.frontier.max(positions.end());
        self.planned = self.planned.max(self.frontier);
    }

    /// The reader asks for `access.extent`, which is at `positions`. True if more may be wanted now.
    pub(crate) fn on_read(
        &mut self,
        access: &Access,
        positions: Option<Extent>,
        share: &Share,
        reach: Option<u64>,
    ) -> bool {
        let Some(positions) = positions else { return false };
        let is_next = positions.offset == self.frontier;
        if let Shape::Strided(strides) = &mut self.shape
            && positions.offset > strides.element_end(self.frontier.max(1) - 1)
        {
            strides.tune(access.extent, positions.offset);
        }
        self.advance(access, positions);
        if self.frontier > self.failed.saturating_add(GRAIN) {
            self.failed = u64::MAX;
        }
        if self.window == 0 {
            self.window = self.first_window(share, reach);
            self.begin_reason(reach);
        }
        if is_next {
            self.open(share);
        }
        if self.frontier >= self.turn {
            self.resize(access.time, share);
            self.turn = u64::MAX;
        }
        // A reader that comes back begins a run, which is as long as others if their length is known.
        let is_run_begun = self.frontier - self.resumed_at <= positions.len;
        if is_run_begun && reach.is_some() {
            self.window = self.window.max(self.first_window(share, reach));
        }
        self.frontier + self.window > self.planned
    }

    /// Adds to the window up to position `limit`, if that is worth it now and the
    /// window then is not more than `allowed`.
    pub(crate) fn top_up(&mut self, share: &Share, limit: u64, allowed: u64, windows: &mut Vec<Window>) {
        self.note_limits(limit, allowed);
        if let Some((positions, mark)) = self.grow(share, limit.min(self.failed), allowed) {
            let is_forward = matches!(self.shape, Shape::Forward);
            let piece = if share.is_serial { 2 * positions.len } else { share.fetch_bytes / 2 };
            self.shape.extents(positions, piece, |extent| {
                let mark = if is_forward { mark } else { extent.offset };
                windows.push(Window { extent, mark, stream: Some(self.id) });
            });
        }
    }

    /// The last block that the stream has wanted, as a window that can be fetched first.
    pub(crate) fn last_block(&self) -> Window {
        let last = Extent::between(self.planned.saturating_sub(BLOCK_BYTES).max(self.frontier), self.planned);
        let mut extent = Extent::default();
        self.shape.extents(last, last.len, |block| extent = block);
        Window { extent, mark: extent.offset, stream: Some(self.id) }
    }

    /// The window that was reconsidered was topped up.
    pub(crate) fn settle_turn(&mut self) {
        if self.turn == u64::MAX {
            self.turn = self.planned.max(self.frontier + 1);
        }
    }
}
