//! Reads that lie one beside the other.

use crate::types::Extent;

/// Reads one beside the other, in order. Packed, since every object has one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    pub(super) offset: u64,
    /// Eight times its bytes, and the flags below.
    len_and_flags: u64,
}

/// Each read is right below the one before.
const IS_DOWN: u64 = 1;
/// There is more than one read.
const IS_LONG: u64 = 2;
/// It was read in parts, of which the last closed the gap between others.
const IS_JOINED: u64 = 4;

impl Run {
    fn new(extent: Extent, flags: u64) -> Run {
        Run { offset: extent.offset, len_and_flags: extent.len << 3 | flags }
    }

    pub(super) fn extent(&self) -> Extent {
        Extent::new(self.offset, self.len_and_flags >> 3)
    }

    pub(super) fn is_down(&self) -> bool {
        self.len_and_flags & IS_DOWN != 0
    }

    /// Whether a read of `extent` is of this run, which it makes longer then.
    pub(super) fn takes(&mut self, extent: Extent) -> bool {
        let own = self.extent();
        if own.is_empty() {
            return false;
        }
        let is_above = own.end() == extent.offset && !self.is_down();
        let is_below = extent.end() == own.offset && (self.is_down() || !self.is_long());
        if is_above || is_below {
            let both = Extent::new(own.offset.min(extent.offset), own.len + extent.len);
            let flags = IS_LONG | if is_below { IS_DOWN } else { self.len_and_flags & IS_JOINED };
            *self = Run::new(both, flags);
            return true;
        }
        extent.offset >= own.offset && extent.end() <= own.end()
    }

    pub(super) fn is_long(&self) -> bool {
        self.len_and_flags & IS_LONG != 0
    }

    /// Where its first read began, or ended if it goes down.
    pub(super) fn anchor(&self, is_down: bool) -> i64 {
        if is_down { self.extent().end() as i64 } else { self.offset as i64 }
    }

    /// Whether parts of it were read in another order than upward.
    pub(super) fn is_joined(&self) -> bool {
        self.len_and_flags & IS_JOINED != 0
    }

    /// One run of this one and of `other`, which it touches.
    pub(super) fn joined(&self, other: &Run) -> Run {
        let (own, other) = (self.extent(), other.extent());
        Run::new(Extent::new(own.offset.min(other.offset), own.len + other.len), IS_LONG | IS_JOINED)
    }

    /// A lone read.
    pub(super) fn of_one(extent: Extent) -> Run {
        Run::new(extent, 0)
    }
}
