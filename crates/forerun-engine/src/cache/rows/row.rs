//! A row: 64 neighbouring blocks of one object, each state a bit in a word.

use crate::explain::Classes;
use crate::types::{BLOCK_BYTES, Extent, ObjectId};

use super::slots::mask;

/// The number of no row.
pub(crate) const NONE: u32 = u32::MAX;
/// Blocks in a row.
pub(crate) const ROW_BLOCKS: u64 = 64;
/// Bytes in a row.
pub(crate) const ROW_BYTES: u64 = ROW_BLOCKS * BLOCK_BYTES;

/// A row's place in the cache's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowId(pub(crate) u32);

/// Which eviction queue a row waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queue {
    /// Everything resident was read, once: streamed data goes first.
    Read,
    /// Something resident was read again.
    Hot,
    /// Something is resident or in flight that nobody has read yet.
    Unread,
    /// It has left the index.
    Out,
}

/// Invariants:
///
/// * `resident & in_flight == 0`;
/// * `unread` is a part of `resident | in_flight`, and `ahead` of `unread`;
/// * `begun` is a part of the resident blocks that were read;
/// * `slots[i]` has a meaning only if `resident | in_flight` has bit `i`.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) object: ObjectId,
    /// Offset in the object, in rows.
    pub(crate) index: u64,
    /// Bytes have arrived.
    pub(crate) resident: u64,
    /// A fetch is filling the slot.
    pub(crate) in_flight: u64,
    /// Nobody has read the block since it was fetched.
    pub(crate) unread: u64,
    /// It was fetched ahead, and nobody has asked for it since.
    pub(crate) ahead: u64,
    /// A reader read some of the block, up to an edge beyond which lies readahead. A stream that goes on
    /// there needs the rest of the block first.
    pub(crate) begun: u64,
    /// The class of reading for which each block was fetched ahead.
    pub(crate) classes: Classes,
    pub(crate) slots: [u32; ROW_BLOCKS as usize],
    /// Reads that copy from it or wait for it.
    pub(crate) pin_count: u32,
    /// Was invalidated while pinned; goes when the last pin does.
    pub(crate) detached: bool,
    /// Unread blocks may be evicted like read ones: the object has no reader left, or the rules keep no
    /// readahead.
    pub(crate) released: bool,
    /// Some block was read again after it had been read.
    pub(crate) hot: bool,
    /// Was read again while it was hot, since it was last passed over by eviction.
    pub(crate) referenced: bool,
    /// Read again at once means "in smaller steps than a block", not "again".
    pub(crate) last_read_block: u8,
    /// When it is to be read, in bytes read of the object.
    pub(crate) due: u64,
    pub(crate) queue: Queue,
    pub(crate) prev: u32,
    pub(crate) next: u32,
    /// [`Row::spare`] when that was last looked at.
    pub(crate) weight: u32,
}

impl Row {
    pub(crate) fn new(object: ObjectId, index: u64) -> Row {
        Row {
            object,
            index,
            resident: 0,
            in_flight: 0,
            unread: 0,
            ahead: 0,
            begun: 0,
            classes: Classes::default(),
            slots: [0; ROW_BLOCKS as usize],
            pin_count: 0,
            detached: false,
            released: false,
            hot: false,
            referenced: false,
            last_read_block: u8::MAX,
            due: 0,
            queue: Queue::Out,
            prev: u32::MAX,
            next: u32::MAX,
            weight: 0,
        }
    }

    /// The queue that the row's state calls for.
    pub(crate) fn home(&self) -> Queue {
        if self.detached {
            Queue::Out
        } else if self.in_flight != 0 || self.awaited() != 0 && !self.released {
            Queue::Unread
        } else if self.hot {
            Queue::Hot
        } else {
            Queue::Read
        }
    }

    /// Something is resident and nobody copies it.
    pub(crate) fn is_idle(&self) -> bool {
        self.pin_count == 0 && self.resident != 0
    }

    /// Resident blocks that hold no readahead whose reader may come.
    pub(crate) fn spare(&self) -> u64 {
        if self.released { self.resident } else { self.resident & !self.awaited() }
    }

    /// Blocks for which somebody is still to come.
    fn awaited(&self) -> u64 {
        self.unread | self.begun
    }

    /// Blocks that are resident or in flight.
    pub(crate) fn held(&self) -> u64 {
        self.resident | self.in_flight
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.held() == 0
    }

    /// First byte of the row in its object.
    pub(crate) fn offset(&self) -> u64 {
        self.index * ROW_BYTES
    }
}

/// The rows that `extent` touches, each with the bits of its blocks.
pub(crate) fn rows_of(extent: Extent) -> impl Iterator<Item = (u64, u64)> {
    let first_block = extent.offset / BLOCK_BYTES;
    let end_block = extent.end().div_ceil(BLOCK_BYTES);
    let rows =
        if extent.is_empty() { 0..0 } else { first_block / ROW_BLOCKS..end_block.div_ceil(ROW_BLOCKS) };
    rows.map(move |row| {
        let start = first_block.max(row * ROW_BLOCKS) - row * ROW_BLOCKS;
        let end = end_block.min((row + 1) * ROW_BLOCKS) - row * ROW_BLOCKS;
        (row, mask(start as u32, (end - start) as u32))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn an_extent_touches_its_rows() {
        let rows: Vec<_> = rows_of(Extent::new(ROW_BYTES - 1, 2)).collect();
        assert_eq!(rows, [(0, 1 << 63), (1, 1)]);
        assert_eq!(rows_of(Extent::new(5, 0)).count(), 0);
        assert_eq!(rows_of(Extent::new(0, ROW_BYTES)).collect::<Vec<_>>(), [(0, u64::MAX)]);
    }
}
