//! Reads near one another that may become a stream.

use super::Shape;
use crate::types::Extent;

/// Requests of disorder that still belong together: eight threads that each take the next request stay
/// within it.
pub(crate) const DISORDER_REQUESTS: u64 = 8;
/// Reads out of order that make a stream, if they fill half of the span. The second number is for reads
/// that only go up and leave gaps, since fewer of them may be a stride.
const DISORDERED_COUNT: u32 = 3;
const SPARSE_COUNT: u32 = 6;

/// See the module's page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) extent: Extent,
    pub(crate) bytes: u64,
    count: u32,
    /// Steps upward, to the bytes that follow, and to the bytes right before.
    up: u32,
    adjacent_up: u32,
    adjacent_down: u32,
    /// Where the read before was.
    last: u64,
    /// The object's reads that were its first and its last, and how many lay between two at most.
    first: u64,
    index: u64,
    pub(crate) gap: u64,
    /// More was fetched on the strength of it.
    pub(crate) is_helped: bool,
}

impl Candidate {
    pub(crate) fn new(extent: Extent, index: u64) -> Candidate {
        Candidate {
            extent,
            bytes: extent.len,
            count: 1,
            up: 0,
            adjacent_up: 0,
            adjacent_down: 0,
            last: extent.offset,
            first: index,
            index,
            gap: 0,
            is_helped: false,
        }
    }

    /// The bytes that a candidate touches if a read of `extent` could belong to it.
    pub(crate) fn around(extent: Extent) -> Extent {
        let slack = DISORDER_REQUESTS * extent.len;
        Extent::between(extent.offset.saturating_sub(slack), extent.end().saturating_add(slack))
    }

    /// Whether it touches `around`.
    pub(crate) fn is_near(&self, around: &Extent) -> bool {
        // A processor cannot predict which of the two fails for random reads: one branch is cheaper than two.
        let end = self.extent.offset.wrapping_add(self.extent.len);
        let above = end.wrapping_sub(around.offset).cast_signed();
        let below = around.end().wrapping_sub(self.extent.offset).cast_signed();
        above | below >= 0
    }

    /// The object's read number `index`, of `extent`, belongs to it.
    pub(crate) fn add(&mut self, extent: Extent, index: u64) {
        self.adjacent_up += u32::from(extent.offset == self.extent.end());
        self.adjacent_down += u32::from(extent.end() == self.extent.offset);
        self.up += u32::from(extent.offset >= self.last);
        self.last = extent.offset;
        let end = self.extent.end().max(extent.end());
        self.extent = Extent::between(self.extent.offset.min(extent.offset), end);
        self.bytes += extent.len;
        self.count += 1;
        self.gap = self.gap.max(index - self.index);
        self.index = index;
    }

    /// The shape of a stream, if there is one. Two reads in order make one, either way, since random reads
    /// almost never do. Gaps do not matter where each fetch costs as much as `through` bytes.
    pub(crate) fn shape(&self, through: u64) -> Option<Shape> {
        let steps = self.count - 1;
        let in_order = steps > 0 && (self.adjacent_up == steps || self.adjacent_down == steps);
        let enough = if self.up == steps { SPARSE_COUNT } else { DISORDERED_COUNT };
        let left_out = self.extent.len.saturating_sub(self.bytes);
        let fills = self.count >= enough && left_out <= self.bytes.max(through * u64::from(steps));
        (in_order || fills).then(|| Shape::dense(self.up * 2 < steps))
    }

    /// Whether `other` is the object's read right before or after its first one, and nothing continued
    /// `other`.
    pub(crate) fn is_beside(&self, other: &Candidate) -> bool {
        other.count == 1 && other.index.abs_diff(self.first) == 1
    }

    /// Nothing is known but one read.
    pub(crate) fn is_new(&self) -> bool {
        self.count == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(offsets: &[u64], expected: Option<Shape>) {
        let mut candidate = Candidate::new(Extent::new(offsets[0], 10), 0);
        offsets[1..].iter().for_each(|offset| candidate.add(Extent::new(*offset, 10), 0));
        assert_eq!(candidate.shape(0), expected, "{offsets:?}");
    }

    #[test]
    fn two_in_order_are_a_stream_either_way() {
        check(&[100, 110], Some(Shape::FORWARD));
        check(&[100, 90], Some(Shape::dense(true)));
        check(&[100, 120], None);
        check(&[100, 80], None);
    }

    #[test]
    fn three_in_disorder_are_a_stream() {
        check(&[120, 100, 110], Some(Shape::FORWARD));
        check(&[100, 120, 110], Some(Shape::FORWARD));
        check(&[120, 100, 80], Some(Shape::dense(true)));
        check(&[100, 180, 140], None);
    }

    #[test]
    fn reads_with_gaps_need_more_reads_to_be_a_stream() {
        check(&[100, 120, 130, 150, 160], None);
        check(&[100, 120, 130, 150, 160, 170], Some(Shape::FORWARD));
    }

    #[test]
    fn where_requests_are_dear_gaps_do_not_matter() {
        let mut candidate = Candidate::new(Extent::new(0, 10), 0);
        (1..6).for_each(|index| candidate.add(Extent::new(index * 80, 10), 0));
        assert_eq!(candidate.shape(60), None);
        assert_eq!(candidate.shape(70), Some(Shape::FORWARD));
    }
}
