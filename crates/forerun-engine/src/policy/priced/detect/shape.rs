//! Which way a stream goes. Positions count the bytes of its way, so that all ways are alike after this.

use crate::device::Costs;
use crate::types::Extent;

/// Positions of who goes down count from here.
const TOP: u64 = 1 << 62;

/// See the module's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    is_back: bool,
    origin: u64,
    /// From one element to the next; 0 where nothing is left out.
    period: u64,
    element: u64,
}

impl Shape {
    pub(crate) const FORWARD: Shape = Shape::dense(false);

    pub(crate) const fn dense(is_back: bool) -> Shape {
        Shape { is_back, origin: 0, period: 0, element: 0 }
    }

    /// Elements like `first`, `step` bytes apart.
    pub(crate) fn strided(first: Extent, step: i64) -> Shape {
        let shape = Shape::dense(step < 0);
        Shape { origin: shape.along(first).offset, period: step.unsigned_abs(), element: first.len, ..shape }
    }

    pub(crate) fn is_dense(&self) -> bool {
        self.period == 0
    }

    pub(crate) fn is_back(&self) -> bool {
        self.is_back
    }

    /// Bytes of an element; 0 where nothing is left out.
    pub(crate) fn element(&self) -> u64 {
        self.element
    }

    /// Whether its elements are worth a request each: what is left out is dearer, and none of them sends
    /// the device elsewhere for it.
    pub(crate) fn is_worth_it(&self, costs: &Costs) -> bool {
        self.period.saturating_sub(self.element) > costs.through && costs.step <= costs.wait
    }

    /// Mirrors who goes down; its own inverse.
    fn along(&self, extent: Extent) -> Extent {
        if self.is_back { Extent::new(TOP - extent.end().min(TOP), extent.len) } else { extent }
    }

    /// Where `extent` lies on the way, if it does.
    pub(crate) fn positions(&self, extent: Extent) -> Option<Extent> {
        let extent = self.along(extent);
        if self.is_dense() {
            return Some(extent);
        }
        let distance = extent.offset.checked_sub(self.origin)?;
        let (number, within) = (distance / self.period, distance % self.period);
        let len = extent.len.min(self.element.saturating_sub(within));
        (len > 0).then(|| Extent::new(number * self.element + within, len))
    }

    /// What lies at `positions`, in order: in pieces of about `piece` where that is against the order of
    /// addresses.
    pub(crate) fn extents(&self, positions: Extent, piece: u64, mut want: impl FnMut(Extent)) {
        let (mut at, end) = (positions.offset, positions.end());
        while at < end {
            let (start, len) = if !self.is_dense() {
                let (number, within) = (at / self.element, at % self.element);
                (self.origin + number * self.period + within, (self.element - within).min(end - at))
            } else if self.is_back {
                (at, piece.max(4096).min(end - at))
            } else {
                (at, end - at)
            };
            want(self.along(Extent::new(start, len)));
            at += len;
        }
    }

    /// The first position past what there is in an object of `size` bytes.
    pub(crate) fn limit(&self, size: u64) -> u64 {
        let end = if self.is_back { TOP } else { size };
        if self.is_dense() {
            return end;
        }
        end.saturating_sub(self.origin).div_ceil(self.period) * self.element
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn extents(shape: Shape, positions: Extent) -> Vec<(u64, u64)> {
        let mut found = Vec::new();
        shape.extents(positions, 10, |extent| found.push((extent.offset, extent.len)));
        found
    }

    #[test]
    fn what_lies_at_a_position_is_found_at_that_position() {
        let up = Shape::strided(Extent::new(100, 10), 50);
        let down = Shape::strided(Extent::new(200, 10), -50);
        assert_eq!(extents(up, Extent::new(5, 20)), [(105, 5), (150, 10), (200, 5)]);
        assert_eq!(extents(down, Extent::new(0, 20)), [(200, 10), (150, 10)]);
        for shape in [Shape::FORWARD, Shape::dense(true), up, down] {
            let at = shape.positions(Extent::new(150, 10)).expect("it is on the way");
            assert_eq!(extents(shape, at), [(150, 10)], "{shape:?}");
        }
        assert_eq!(up.positions(Extent::new(120, 10)), None, "it is left out");
    }

    #[test]
    fn a_way_ends_where_the_object_does() {
        assert_eq!(Shape::FORWARD.limit(1000), 1000);
        assert_eq!(Shape::strided(Extent::new(0, 10), 100).limit(1000), 100);
        let down = Shape::strided(Extent::new(900, 10), -100);
        assert_eq!(extents(down, Extent::between(80, down.limit(1000))), [(100, 10), (0, 10)]);
    }
}
