//! Which way a stream goes.
//!
//! A stream counts positions: the bytes of its way in the order it reads them.
//! Everything else about a stream is the same whichever way it goes.

use super::strides::Strides;
use crate::objects::OBJECT_BYTES_MAX;
use crate::types::Extent;

/// A [`Shape`] in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Up,
    Down,
    Leaps,
}

/// See the module's page.
#[derive(Debug)]
pub(crate) enum Shape {
    /// Positions are offsets.
    Forward,
    /// Positions count down from where no object reaches.
    Backward,
    /// Positions leave out what the stream leaves out.
    Strided(Strides),
}

impl Shape {
    /// The positions of `extent`, if it is on the way; those nearest to `near`,
    /// should the way come by more than once.
    pub(crate) fn positions(&self, extent: Extent, near: u64) -> Option<Extent> {
        match self {
            Shape::Forward => Some(extent),
            Shape::Backward => Some(mirror(extent)),
            Shape::Strided(strides) => strides.positions(extent, near),
        }
    }

    /// The positions of `extent`, which may begin or end beside the way, from the
    /// first that is on it and within `among`.
    pub(super) fn first_within(&self, extent: Extent, among: Extent) -> Option<u64> {
        match self {
            Shape::Strided(strides) => strides.first_within(extent, among),
            _ => self.positions(extent, 0).filter(|found| found.overlaps(&among)).map(|found| found.offset),
        }
    }

    /// What lies at `positions`, in the order in which it is wanted, in pieces of
    /// at most about `piece_bytes` where a fetch would otherwise bring the last
    /// bytes first.
    pub(crate) fn extents(&self, positions: Extent, piece_bytes: u64, mut want: impl FnMut(Extent)) {
        match self {
            Shape::Forward => want(positions),
            Shape::Backward => {
                let mut at = positions.offset;
                while at < positions.end() {
                    let end = (at + uneven(piece_bytes, at)).min(positions.end());
                    want(mirror(Extent::between(at, end)));
                    at = end;
                }
            }
            Shape::Strided(strides) => strides.extents(positions, want),
        }
    }

    /// The first position past what a stream in an object of `size` bytes can read.
    pub(crate) fn limit(&self, size: u64) -> u64 {
        match self {
            Shape::Forward => size,
            Shape::Backward => OBJECT_BYTES_MAX,
            Shape::Strided(strides) => strides.limit(size),
        }
    }

    pub(crate) fn way(&self) -> Way {
        match self {
            Shape::Forward => Way::Up,
            Shape::Backward => Way::Down,
            Shape::Strided(_) => Way::Leaps,
        }
    }

    /// What spans all that lies at `positions`, or more.
    pub(crate) fn span(&self, positions: Extent) -> Extent {
        match self {
            Shape::Forward => positions,
            Shape::Backward => mirror(positions),
            Shape::Strided(strides) => strides.span(positions),
        }
    }

    /// Whether windows go by bytes of the object: then they end at round offsets.
    pub(crate) fn is_dense(&self) -> bool {
        !matches!(self, Shape::Strided(_))
    }
}

fn mirror(extent: Extent) -> Extent {
    Extent::between(OBJECT_BYTES_MAX - extent.end().min(OBJECT_BYTES_MAX), OBJECT_BYTES_MAX - extent.offset)
}

/// Fetches of one size get in step with one another and the link idles; so pieces
/// are from half of `bytes` up.
fn uneven(bytes: u64, at: u64) -> u64 {
    const STEP: u64 = 4096;
    let steps = (bytes / 2 / STEP).max(1);
    (bytes - at / STEP * 7 % steps * STEP).max(STEP) / STEP * STEP
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    #[test]
    fn backward_mirrors_forward() {
        let read = Extent::new(1 << 20, 4096);
        let before = Extent::new((1 << 20) - 4096, 4096);
        let (first, next) =
            (Shape::Backward.positions(read, 0).unwrap(), Shape::Backward.positions(before, 0).unwrap());
        assert_eq!(first.end(), next.offset);
        let mut wanted: Vec<Extent> = vec![];
        Shape::Backward.extents(next, 1 << 20, |extent| wanted.push(extent));
        assert_eq!(wanted, [before]);
    }

    #[test]
    fn what_is_read_next_is_wanted_first() {
        let positions = Shape::Backward.positions(Extent::new(0, 8 << 20), 0).unwrap();
        let mut wanted: Vec<Extent> = vec![];
        Shape::Backward.extents(positions, 1 << 20, |extent| wanted.push(extent));
        assert_eq!(wanted.first().unwrap().end(), 8 << 20);
        assert!(wanted.windows(2).all(|two| two[1].end() == two[0].offset), "{wanted:?}");
        assert!(wanted.iter().all(|piece| piece.len <= 1 << 20));
        assert_eq!(wanted.last().unwrap().offset, 0);
    }
}
