//! Whether a read is a stream's, and whether the stream still is one.

use super::super::evidence::ENOUGH;
use super::Stream;
use super::stream::Lately;
use crate::ablation::Rule;
use crate::device::Costs;
use crate::policy::adaptive::window_state::GRAIN;
use crate::types::Extent;

/// The requests by which others may overtake in an established stream, and the most bytes of those.
//= claims D1: NFS servers shuffle within 4 to 16 requests
const REORDER_REQUESTS: u64 = 32;
const REORDER_BYTES_MAX: u64 = 4 << 20;
/// A stream passes at most this many times the bytes that it reads.
const SPARSE_MAX: u64 = 5;
/// A stream is over after this many reads of the object elsewhere, and this many more for each read between
/// two of its own.
pub(crate) const PATIENCE_READS: u64 = 8;
pub(crate) const PATIENCE_GAPS: u64 = 4;

impl Stream {
    /// The reorder horizon for a request of `len` bytes. A read near a stream that is over, or near none,
    /// most likely belongs to another reader.
    pub(crate) fn reorder(&self, len: u64) -> u64 {
        let count =
            if self.is_over || self.is_doubted || Rule::Disorder.is_off() { 1 } else { REORDER_REQUESTS };
        (count * self.read_len.max(len)).clamp(GRAIN, REORDER_BYTES_MAX)
    }

    /// The distance of a read from the stream's next read, if it may belong to the stream. A reader may
    /// return from further away for bytes that were fetched and skipped.
    pub(crate) fn distance(&self, extent: Extent, is_useful: bool) -> Option<u64> {
        let at = self.shape.positions(extent)?;
        // Most reads are far from most streams, on a side that a processor cannot predict: one branch is
        // cheaper than two.
        let above = at.end().wrapping_add(REORDER_BYTES_MAX).wrapping_sub(self.frontier).cast_signed();
        let below = self.planned.wrapping_add(REORDER_BYTES_MAX).wrapping_sub(at.offset).cast_signed();
        if above | below < 0 {
            return None;
        }
        let reorder = self.reorder(extent.len);
        let last = self.planned.saturating_add(if self.is_over { 0 } else { reorder + 1 });
        let back = if is_useful && at.offset >= self.start { REORDER_BYTES_MAX } else { reorder };
        let covers = at.end().saturating_add(back) > self.frontier
            && (at.offset <= self.frontier.saturating_add(reorder) || at.offset < last);
        covers.then(|| self.frontier.abs_diff(at.offset))
    }

    /// Whether a read is exactly the next of the stream.
    pub(crate) fn expects(&self, extent: Extent) -> bool {
        self.shape.positions(extent).is_some_and(|at| at.offset == self.frontier)
    }

    /// Whether it is past `extent`.
    pub(crate) fn has_passed(&self, extent: Extent) -> bool {
        self.shape.positions(extent).is_some_and(|at| at.end() < self.frontier)
    }

    /// Whether it leaves something out, and `extent` begins within an element, or the last `run` went past one.
    pub(crate) fn is_off(&self, extent: Extent, run: Extent) -> bool {
        let has = |at| self.shape.positions(Extent::new(at, 1)).is_some();
        let is_past = has(run.offset) && !has(run.end().saturating_sub(1));
        !self.shape.is_dense() && (is_past || !self.shape.begins(extent))
    }

    /// Whether it has planned some of `extent`, and its reader has not read it yet.
    pub(crate) fn awaits(&self, extent: Extent) -> bool {
        !self.is_over && self.shape.positions(extent).is_some_and(|at| at.overlaps(&self.ahead()))
    }

    /// Whether it leaves out too much to be a stream.
    pub(crate) fn leaves_out(&self, costs: &Costs) -> bool {
        let Lately { read, passed, count } = self.lately;
        let count_min = if Rule::Sparse.is_off() { u64::MAX } else { ENOUGH as u64 };
        if !self.shape.is_dense() {
            let is_patchy = self.count >= count_min && SPARSE_MAX * read < passed;
            return is_patchy || !self.shape.is_worth_it(costs);
        }
        let left_out = passed.saturating_sub(read);
        let is_sparse = SPARSE_MAX * read < passed && left_out > costs.through * count;
        self.count >= count_min && is_sparse
    }

    /// Whether nobody reads it any more, by the object's read number `reads`.
    pub(crate) fn is_left(&self, reads: u64) -> bool {
        !Rule::Settle.is_off() && reads > self.index + PATIENCE_READS + PATIENCE_GAPS * self.gap
    }
}
