//! Which way a stream goes. Positions count the bytes of its way, so that all ways are alike after this.

use crate::device::Costs;
use crate::types::{BLOCK_BYTES, Extent};

/// The positions of a dense stream that goes down count from here.
const TOP: u64 = 1 << 62;

/// A large element may begin and end this share of its length elsewhere, in whole blocks.
const SLACK_SHARE: u64 = 64;

/// How far an element of `len` bytes may lie from where it is expected.
pub(super) fn slack(len: u64) -> u64 {
    len / SLACK_SHARE / BLOCK_BYTES * BLOCK_BYTES
}

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

    /// Elements like `first`, `step` bytes apart. Each element is read upward, whichever way they go.
    pub(crate) fn strided(first: Extent, step: i64) -> Shape {
        let period = step.unsigned_abs();
        Shape { is_back: step < 0, origin: first.offset, period, element: first.len }
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

    /// Whether each of its elements is worth a fetch: the gap costs more, and no element needs a seek.
    pub(crate) fn is_worth_it(&self, costs: &Costs) -> bool {
        self.period.saturating_sub(self.element) > costs.through && costs.step <= costs.wait
    }

    /// The place of `extent` in a dense stream. Going down mirrors it; that is its own inverse.
    fn along(&self, extent: Extent) -> Extent {
        if self.is_back { Extent::new(TOP - extent.end().min(TOP), extent.len) } else { extent }
    }

    /// Where `extent` lies on the way, if it does.
    pub(crate) fn positions(&self, extent: Extent) -> Option<Extent> {
        if self.is_dense() {
            return Some(self.along(extent));
        }
        let (number, within) = if self.is_back && extent.offset < self.origin {
            let number = (self.origin - extent.offset).div_ceil(self.period);
            (number, number * self.period - (self.origin - extent.offset))
        } else {
            let distance = extent.offset.checked_sub(self.origin)?;
            if self.is_back && distance >= self.element {
                return None;
            }
            (distance / self.period, distance % self.period)
        };
        let len = extent.len.min(self.element.saturating_sub(within));
        (len > 0).then(|| Extent::new(number * self.element + within, len))
    }

    /// Whether an element of it begins with `extent`, give or take a block if it is large.
    pub(crate) fn begins(&self, extent: Extent) -> bool {
        let most = 2 * slack(self.element).min(BLOCK_BYTES);
        self.positions(extent).is_some_and(|at| at.offset % self.element <= most)
    }

    /// Tells the extents at `positions`, in order: in pieces of about `piece` bytes where the stream goes down.
    pub(crate) fn extents(&self, positions: Extent, piece: u64, mut want: impl FnMut(Extent)) {
        let (mut at, end) = (positions.offset, positions.end());
        while at < end {
            let len = if !self.is_dense() {
                (self.element - at % self.element).min(end - at)
            } else if self.is_back {
                piece.max(4096).min(end - at)
            } else {
                end - at
            };
            want(self.extent(Extent::new(at, len)));
            at += len;
        }
    }

    /// The extent at `positions`, which are of one element.
    fn extent(&self, positions: Extent) -> Extent {
        if self.is_dense() {
            return self.along(positions);
        }
        let (number, within) = (positions.offset / self.element, positions.offset % self.element);
        let away = number * self.period;
        let start = if self.is_back { self.origin.saturating_sub(away) } else { self.origin + away };
        Extent::new(start + within, positions.len)
    }

    /// The first position past the end of an object of `size` bytes.
    pub(crate) fn limit(&self, size: u64) -> u64 {
        match (self.is_dense(), self.is_back) {
            (true, false) => size,
            (true, true) => TOP,
            (false, false) => size.saturating_sub(self.origin).div_ceil(self.period) * self.element,
            (false, true) => (self.origin / self.period + 1) * self.element,
        }
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
    fn extents_and_positions_are_each_others_inverse() {
        let up = Shape::strided(Extent::new(100, 10), 50);
        let down = Shape::strided(Extent::new(200, 10), -50);
        assert_eq!(extents(up, Extent::new(5, 20)), [(105, 5), (150, 10), (200, 5)]);
        assert_eq!(extents(down, Extent::new(5, 20)), [(205, 5), (150, 10), (100, 5)]);
        for shape in [Shape::FORWARD, Shape::dense(true), up, down] {
            let at = shape.positions(Extent::new(150, 10)).expect("it is on the way");
            assert_eq!(extents(shape, at), [(150, 10)], "{shape:?}");
        }
        for at in [120, 90, 290] {
            assert_eq!(up.positions(Extent::new(at, 10)), None, "{at} is left out");
        }
        for at in [120, 190, 220, 250] {
            assert_eq!(down.positions(Extent::new(at, 10)), None, "{at} is left out");
        }
    }

    #[test]
    fn a_way_ends_where_the_object_does() {
        assert_eq!(Shape::FORWARD.limit(1000), 1000);
        assert_eq!(Shape::strided(Extent::new(0, 10), 100).limit(1000), 100);
        let down = Shape::strided(Extent::new(900, 10), -100);
        assert_eq!(extents(down, Extent::between(80, down.limit(1000))), [(100, 10), (0, 10)]);
    }
}
