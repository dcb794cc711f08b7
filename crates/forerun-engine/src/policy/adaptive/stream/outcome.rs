//! What became of what a stream has wanted: skipped, left behind, lost or of use.

use core::mem;

use super::{Shape, Stream};
use crate::cache::Cache;
use crate::explain::End;
use crate::policy::Access;
use crate::types::{BLOCK_BYTES, Extent, ObjectId};

/// Reads that had to wait behind the frontier before all that lies there is fetched.
const BEHIND_MIN: u8 = 2;
/// A stream that was not read while so many other reads were made, and so many times as
/// many as lay between two of its own so far, has ended.
const SETTLE_READS_MIN: u64 = 32;
const SETTLE_GAPS: u64 = 4;
/// A stream that comes back after more reads of others is not awaited.
const READ_GAP_MAX: u16 = 256;
/// Who came back once may have jumped.
const RETURNS_MIN: u8 = 2;

impl Stream {
    /// It is read, by the object's read number `index`. True if what lies ahead had
    /// been counted as wasted.
    pub(crate) fn resume(&mut self, index: u64) -> bool {
        if self.read_index > 0 {
            let gap = index - self.read_index;
            self.note_gap(gap);
            self.return_count = if gap > 1 { self.return_count.saturating_add(1) } else { 0 };
        }
        self.read_index = index;
        self.is_told = false;
        if self.is_settled {
            self.resumed_at = self.frontier;
        }
        mem::take(&mut self.is_settled)
    }

    /// The object's read number `index` is ahead of the frontier and does not move it. The reader had
    /// to wait if `is_late`.
    pub(crate) fn look_ahead(&mut self, index: u64, is_late: bool) {
        self.read_index = index;
        self.late |= is_late;
    }

    /// Its reader comes back to it from elsewhere, each time.
    pub(crate) fn is_returned_to(&self) -> bool {
        self.return_count >= RETURNS_MIN
    }

    /// So many of the object's reads lay between two of its own.
    pub(crate) fn note_gap(&mut self, gap: u64) {
        let gap = u16::try_from(gap).unwrap_or(READ_GAP_MAX).min(READ_GAP_MAX);
        self.read_gap = gap.max(self.read_gap - self.read_gap / 8);
    }

    /// What lies ahead is counted as wasted.
    pub(crate) fn settle(&mut self) {
        self.is_settled = true;
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// It is over, because of `cause` unless more is known of it: why, unless that was told
    /// already. Its object has `size` bytes.
    pub(crate) fn end(&mut self, size: u64, through_bytes: u64, cause: End) -> Option<End> {
        if mem::replace(&mut self.is_told, true) {
            return None;
        }
        Some(match cause {
            _ if self.frontier >= self.shape.limit(size) => End::ObjectEnd,
            _ if self.is_over(through_bytes) => End::LeftOut,
            _ => cause,
        })
    }

    /// The object's read after which it is over, unless it goes on before: none if that
    /// was counted.
    pub(crate) fn over_after(&self) -> u64 {
        let patience = SETTLE_READS_MIN + SETTLE_GAPS * u64::from(self.read_gap);
        if self.is_settled { u64::MAX } else { self.read_index + patience }
    }

    /// The positions that it has wanted.
    pub(crate) fn ahead(&self) -> Extent {
        Extent::between(self.frontier, self.planned)
    }

    /// `bytes` more are fetched for it.
    pub(crate) fn put_at_risk(&mut self, bytes: u64) {
        let blocks = u32::try_from(bytes / BLOCK_BYTES).unwrap_or(u32::MAX);
        self.at_risk_blocks = self.at_risk_blocks.saturating_add(blocks);
    }

    /// Bytes that were fetched for it and that nobody has read yet.
    pub(crate) fn at_risk_bytes(&self) -> u64 {
        (u64::from(self.at_risk_blocks) * BLOCK_BYTES).min(self.ahead().len)
    }

    /// Those of them that a read of `positions` leaves out.
    pub(crate) fn skipped(&self, positions: Option<Extent>) -> Extent {
        Extent::between(self.frontier, positions.unwrap_or_default().offset.min(self.planned))
    }

    /// Its reader skipped `bytes` that were read ahead for it.
    pub(crate) fn note_skipped(&mut self, bytes: u64) {
        self.skipped_bytes += bytes;
    }

    /// See [`Stream::note_skipped`].
    pub(crate) fn skipped_bytes(&self) -> u64 {
        self.skipped_bytes
    }

    /// What a reader of `extent` has behind it then: nothing if it does not go up.
    pub(crate) fn passed(&self, extent: Extent) -> Option<Extent> {
        let in_order = matches!(self.shape, Shape::Forward) && !self.is_disordered();
        let goes_up = in_order && extent.end() > self.frontier;
        goes_up.then(|| Extent::between(self.frontier, extent.end()))
    }

    /// How long its reads are.
    pub(crate) fn read_len(&self) -> u64 {
        u64::from(self.read_len)
    }

    /// Bytes at `positions` that were fetched and that nobody has read.
    pub(crate) fn unread_bytes(&self, positions: Extent, object: ObjectId, cache: &Cache) -> u64 {
        let mut bytes = 0;
        if !positions.is_empty() {
            self.shape
                .extents(positions, positions.len, |extent| bytes += cache.unread_bytes(object, extent));
        }
        bytes
    }

    /// Bytes at `positions` that were read, by whomever.
    pub(crate) fn bytes_read(&self, positions: Extent, object: ObjectId, cache: &Cache) -> u64 {
        let mut bytes = 0;
        if !positions.is_empty() {
            self.shape.extents(positions, positions.len, |extent| bytes += cache.read_bytes(object, extent));
        }
        bytes.min(positions.len)
    }

    /// Its reader is done: it has come as far as what was read of what lies ahead, in whatever order.
    pub(crate) fn catch_up(&mut self, object: ObjectId, cache: &Cache) {
        let blocks = self.ahead().len / BLOCK_BYTES;
        let is_read = |end: &u64| self.was_read(end - 1, object, cache);
        let end = (0..blocks).map(|count| self.planned - count * BLOCK_BYTES).find(is_read);
        if let Some(end) = end {
            self.read_bytes += self.bytes_read(Extent::between(self.frontier, end), object, cache);
            self.frontier = end;
        }
    }

    /// Whether what it has wanted ends with `extent`.
    pub(crate) fn ends_with(&self, extent: Extent) -> bool {
        let positions = self.shape.positions(extent.to_blocks(), self.frontier);
        positions.is_some_and(|positions| positions.end() >= self.planned)
    }

    /// Whether a lone read of `extent` was of this stream's reader: it lies on the way so far, or right
    /// at the frontier. The stream then has come past it.
    pub(crate) fn joins(&mut self, extent: Extent) -> bool {
        let way = Extent::between(self.start, self.frontier + 1);
        let positions = self.shape.positions(extent, self.frontier);
        let Some(positions) = positions.filter(|positions| positions.overlaps(&way)) else { return false };
        self.read_bytes += positions.end().saturating_sub(self.frontier);
        self.frontier = self.frontier.max(positions.end());
        self.planned = self.planned.max(self.frontier);
        true
    }

    /// Bytes that it has wanted itself of the blocks in which `extent` lies.
    pub(crate) fn unread_bytes_of(&self, extent: Extent) -> u64 {
        let blocks = extent.to_blocks();
        if self.shape.is_dense() {
            let positions = self.shape.positions(blocks, self.frontier).unwrap_or_default();
            return positions.intersection(&self.ahead()).len;
        }
        // No element may begin where the first block does.
        let positions = self.shape.positions(extent, self.frontier).unwrap_or_default();
        let positions = positions.intersection(&self.ahead());
        let mut bytes = 0;
        self.shape.extents(positions, positions.len, |element| {
            bytes += element.to_blocks().intersection(&blocks).len;
        });
        bytes
    }

    /// What the reader left out in its disorder, once it came behind its frontier more
    /// than once: it comes for that soon.
    pub(crate) fn left_out(&mut self, access: &Access) -> Option<Extent> {
        let is_behind = access.missing && self.shape.is_dense() && self.expects_behind(access.extent);
        self.behind_count = self.behind_count.saturating_add(u8::from(is_behind));
        if !self.is_disordered() || !matches!(self.shape, Shape::Forward) {
            return None;
        }
        let left = match is_behind {
            true => Extent::between(access.extent.end(), self.frontier),
            false => Extent::between(self.planned.min(access.extent.offset), access.extent.offset),
        };
        (!left.is_empty()).then_some(left)
    }

    /// Its reader comes behind its frontier, again and again.
    pub(crate) fn is_disordered(&self) -> bool {
        self.behind_count >= BEHIND_MIN
    }

    fn expects_behind(&self, extent: Extent) -> bool {
        self.shape.positions(extent, self.frontier).is_some_and(|positions| positions.end() < self.frontier)
    }

    /// Bytes that were planned are not there: plan them again, and all that follows. How many
    /// were, and how many follow, that had not been counted as wasted; none if the stream has not
    /// planned any.
    pub(crate) fn on_lost(&mut self, extent: Extent) -> Option<(u64, u64)> {
        let position = self.lost_at(extent)?;
        let follow = (self.planned - position).saturating_sub(extent.len);
        (self.planned, self.quiet_until) = (position, 0);
        Some(if self.is_settled { (0, 0) } else { (extent.len, follow) })
    }

    /// Bytes that were planned could not be fetched.
    pub(crate) fn on_failed(&mut self, extent: Extent) {
        if let Some(position) = self.lost_at(extent) {
            self.failed = self.failed.min(position);
            (self.planned, self.quiet_until) = (position, 0);
        }
    }

    fn lost_at(&self, extent: Extent) -> Option<u64> {
        let window = Extent::between(self.frontier, self.planned);
        self.shape.first_within(extent, window).map(|position| position.max(self.frontier))
    }
}
