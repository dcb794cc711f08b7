//! Whether a read is a stream's: how far it may be from what comes next, and whether the stream
//! leaves out too much by now to be one.

use super::{Shape, Stream};
use crate::cache::Cache;
use crate::policy::Access;
use crate::types::{Extent, ObjectId};

/// Requests of disorder that an established stream absorbs.
//= claims D1: NFS servers shuffle within 4 to 16 requests
const REORDER_REQUESTS: u64 = 32;
/// A read is short that is less than one of so many parts of its stream's reads: a push into the page
/// cache shows as a long one.
const SHORT_SHARE: u64 = 8;
/// Bounds of that disorder in bytes.
pub(crate) const REORDER_BYTES_MIN: u64 = 64 << 10;
pub(crate) const REORDER_BYTES_MAX: u64 = 4 << 20;

/// The reads of an object before this one.
pub(crate) struct Past<'a> {
    pub(crate) object: ObjectId,
    pub(crate) cache: &'a Cache,
    /// The last reads that were beside one another.
    pub(crate) last: Extent,
    /// The device is so far away that a wait is worth many bytes.
    pub(crate) is_far: bool,
}

impl Stream {
    /// Where `extent` is on its way, if it is.
    pub(crate) fn positions(&self, extent: Extent) -> Option<Extent> {
        self.shape.positions(extent, self.frontier)
    }

    /// Whether a read of `positions` is just what comes next.
    pub(crate) fn expects(&self, positions: Extent) -> bool {
        positions.offset == self.frontier
    }

    /// How far a read of `access`, which is at `positions`, is from what comes next if it is this
    /// stream's: within the window, or off by no more than the disorder that readers show. Requests
    /// cost as much as `through_bytes` each.
    pub(crate) fn distance(
        &self,
        access: &Access,
        positions: Extent,
        through_bytes: u64,
        past: &Past<'_>,
    ) -> Option<u64> {
        let reorder = self.reorder_bytes(access.extent.len);
        // Disorder ahead is of requests as long as the read, if the stream's are much longer.
        let is_short = SHORT_SHARE * access.extent.len < self.read_len();
        let ahead = if is_short { REORDER_REQUESTS * access.extent.len } else { reorder };
        let is_next = positions.offset <= self.frontier.saturating_add(ahead);
        // Whoever comes to what is left of a stream has not left it; past that is somebody else.
        let last = self.planned.saturating_add(if self.is_settled { 0 } else { ahead + 1 });
        let covers = !self.is_over(through_bytes)
            && positions.end().saturating_add(reorder) > self.frontier
            && (is_next || positions.offset < last)
            && !self.is_look(positions, ahead, past);
        covers.then(|| self.frontier.abs_diff(positions.offset))
    }

    /// Whether a read of `positions` ahead does not carry the stream there: its reader comes back to
    /// what comes next. It follows nothing that was read, and is more than `near` away, as the last
    /// page that a copy of mapped memory touches; or it comes from above. Near by it costs little to
    /// take it for a jump.
    fn is_look(&self, positions: Extent, near: u64, past: &Past<'_>) -> bool {
        let was_read = |position| self.was_read(position, past.object, past.cache);
        if !past.is_far || positions.offset <= self.frontier || was_read(positions.offset - 1) {
            return false;
        }
        if positions.offset <= self.frontier.saturating_add(near) {
            return positions.end() < self.planned && was_read(positions.end());
        }
        // A reader that leaves something out each time goes on from read to read.
        let last = self.shape.positions(past.last, self.frontier).unwrap_or_default();
        last.offset <= self.frontier
            || positions.offset <= last.offset
            || positions.offset > last.end() + near
    }

    /// Whether what lies at `position` was read, by whomever.
    pub(super) fn was_read(&self, position: u64, object: ObjectId, cache: &Cache) -> bool {
        let mut was_read = false;
        self.shape.extents(Extent::new(position, 1), 1, |byte| was_read = cache.is_read(object, byte.offset));
        was_read
    }

    /// Where reads may be that are no longer than the second, and whose distance is known
    /// or that are of what lies ahead. Longer ones may be beside that, in positions by no more
    /// than [`REORDER_BYTES_MAX`].
    pub(crate) fn reach(&self) -> (Extent, u64) {
        let reorder = self.reorder_bytes(0);
        let start = self.frontier.saturating_sub(reorder + self.read_len());
        let end = self.planned.saturating_add(reorder);
        (self.shape.span(Extent::between(start, end)), self.read_len())
    }

    /// How far off a request of `len` bytes may be. Whoever comes near a stream that is
    /// over, or that is none, is most likely somebody else.
    fn reorder_bytes(&self, len: u64) -> u64 {
        let count = if self.is_settled || self.is_accident { 1 } else { REORDER_REQUESTS };
        (count * self.read_len().max(len)).clamp(REORDER_BYTES_MIN, REORDER_BYTES_MAX)
    }

    /// The reader asks for `positions`. False if it has left out too much by now, where
    /// `gap_bytes` are as dear as a request, which costs as much as `through_bytes` even
    /// if there are others. Of what it leaves out, others have read `read_bytes`.
    pub(crate) fn passes(
        &mut self,
        positions: Extent,
        read_bytes: u64,
        gap_bytes: u64,
        through_bytes: u64,
    ) -> bool {
        self.read_bytes += read_bytes;
        self.density.note(positions.len + read_bytes, positions.end().saturating_sub(self.frontier));
        if !self.shape.is_dense() {
            return !self.density.is_patchy();
        }
        self.is_dear = self.density.is_dear(gap_bytes.max(through_bytes));
        !self.is_dear && !self.density.is_thin(through_bytes)
    }

    /// It leaves out too much for everything to be read: whoever reads here is up
    /// to something else.
    pub(crate) fn is_over(&self, through_bytes: u64) -> bool {
        if !self.shape.is_dense() {
            return self.density.is_patchy();
        }
        self.is_dear
            || self.density.is_thin(through_bytes)
            || (self.is_disordered() && matches!(self.shape, Shape::Backward))
    }
}
