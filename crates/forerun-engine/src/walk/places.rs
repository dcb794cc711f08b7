//! The objects of an order by their place on one reader's way through it, with their costs.

use super::directories::{Listing, OrderId};
use super::habits::{Kinds, ReadLengths};
use super::opened::Part;
use crate::types::ClientId;

/// A fetch of a few bytes takes about as long as a fetch of this many.
const FILE_BYTES_MIN: u64 = 32 << 10;

/// The cost of a fetch of `bytes` of an object, in bytes.
pub(super) fn cost(bytes: u64) -> u64 {
    if bytes == 0 { 0 } else { bytes.max(FILE_BYTES_MIN) }
}

/// How a reader goes through an order.
#[derive(Clone, Debug)]
pub(super) struct Manner {
    pub(super) order: OrderId,
    /// The client that walks.
    pub(super) client: ClientId,
    /// From the last object to the first.
    pub(super) is_backward: bool,
    /// The kinds of file that it opens.
    pub(super) kinds: Kinds,
}

/// See the module's page.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    pub(super) manner: &'a Manner,
    pub(super) listing: &'a Listing,
    pub(super) lengths: &'a ReadLengths,
}

impl Places<'_> {
    pub(super) fn len(&self) -> u32 {
        self.listing.len()
    }

    /// The place of an index of the listing; and the index at a place.
    pub(super) fn mirrored(&self, at: u32) -> u32 {
        if self.manner.is_backward { self.len().saturating_sub(at + 1) } else { at }
    }

    /// The bytes to read of the object at `place`; 0 if it is left out.
    pub(super) fn bytes(&self, place: u32) -> u64 {
        let index = self.mirrored(place);
        let size = self.listing.size(index);
        let is_opened =
            self.manner.order == OrderId::Trail || self.manner.kinds.wants(self.listing.kind(index));
        if is_opened { self.part(index, size, size).bytes() } else { 0 }
    }

    /// The part to read of the object at `index`, which has `size` bytes, if `wanted` bytes are planned. An
    /// earlier run knows the bytes that it read of each.
    pub(super) fn part(&self, index: u32, size: u64, wanted: u64) -> Part {
        match self.manner.order {
            OrderId::Trail => Part { head: wanted, tail: 0 },
            OrderId::Directory(_) => self.lengths.part(self.listing.kind(index), size),
        }
    }
}
