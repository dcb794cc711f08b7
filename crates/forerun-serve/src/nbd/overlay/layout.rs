//! The places in the file of an overlay.

use std::ops::Range;

/// A client writes whole blocks of this size mostly, and then nothing is read from the base. It
/// is the page size of the system, so the system writes a block as a whole or not.
pub(super) const BLOCK_BYTES: u64 = 4096;
/// A slot of the map. It is written at once.
pub(super) const SLOT_BYTES: usize = 4096;
/// Generation and checksum, at the start of a slot.
pub(super) const SLOT_HEAD_BYTES: usize = 16;
/// States of blocks in a page, two bits each.
pub(super) const STATE_BYTES: usize = SLOT_BYTES - SLOT_HEAD_BYTES;
/// Blocks of a page of the map: almost 64 MiB of the export.
pub(super) const PAGE_BLOCKS: u64 = 4 * STATE_BYTES as u64;
/// The head of the file.
pub(super) const HEAD_BYTES: usize = 4096;

/// The layout for an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    size: u64,
    pub(super) pages: u64,
}

impl Layout {
    pub(super) fn new(size: u64) -> Layout {
        Layout { size, pages: size.div_ceil(BLOCK_BYTES).div_ceil(PAGE_BLOCKS) }
    }

    /// The first of the two slots of a page; the other follows it.
    pub(super) fn slots_offset(page: u64) -> u64 {
        HEAD_BYTES as u64 + page * 2 * SLOT_BYTES as u64
    }

    /// The place in the file of the export's byte `offset`.
    pub(super) fn data_offset(&self, offset: u64) -> u64 {
        Layout::slots_offset(self.pages) + offset
    }

    /// The length of the file.
    pub(super) fn file_bytes(&self) -> u64 {
        self.data_offset(self.size.next_multiple_of(BLOCK_BYTES))
    }

    /// The end of the block that begins at `start`; the last one may be shorter than others.
    pub(super) fn block_end(&self, start: u64) -> u64 {
        (start + BLOCK_BYTES).min(self.size)
    }

    /// The blocks that have some of the bytes.
    pub(super) fn touched(offset: u64, len: u64) -> Range<u64> {
        offset / BLOCK_BYTES..(offset + len).div_ceil(BLOCK_BYTES)
    }

    /// The blocks that lie within the bytes as a whole; they may be none.
    pub(super) fn whole(&self, offset: u64, len: u64) -> Range<u64> {
        let (first, end) = (offset.div_ceil(BLOCK_BYTES), offset + len);
        let end = if end == self.size { end.div_ceil(BLOCK_BYTES) } else { end / BLOCK_BYTES };
        first..end.max(first)
    }
}

/// The first byte of a block.
pub(super) fn start_of(block: u64) -> u64 {
    block * BLOCK_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_block_is_whole_where_the_export_ends() {
        let layout = Layout::new(10_000);
        assert_eq!(Layout::touched(4095, 2), 0..2);
        assert_eq!(layout.whole(1, 9999), 1..3);
        assert_eq!(layout.whole(1, 9998), 1..2);
        assert_eq!(layout.whole(1, 5), 1..1);
        assert_eq!((layout.block_end(8192), layout.pages), (10_000, 1));
        assert_eq!(layout.file_bytes(), 4096 + 8192 + 3 * 4096);
        assert_eq!(Layout::new(0).file_bytes(), 4096);
    }
}
