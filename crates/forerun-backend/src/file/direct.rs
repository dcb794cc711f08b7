//! Reads past the page cache.

use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use rustix::fs::OFlags;

/// File systems read whole blocks into memory that begins at a multiple of them. This is the largest block of a page.
const BLOCK_BYTES: usize = 4096;

/// Whether the file system below a directory takes direct reads.
#[derive(Debug)]
pub(super) struct Direct {
    /// The directory, for the warning.
    name: PathBuf,
    is_refused: AtomicBool,
}

impl Direct {
    pub(super) fn new(name: PathBuf) -> Direct {
        Direct { name, is_refused: AtomicBool::new(false) }
    }

    /// Whether the file system has refused a direct read.
    pub(super) fn is_refused(&self) -> bool {
        self.is_refused.load(Ordering::Relaxed)
    }

    /// Lets reads of `file` be direct. False if the file system refuses this.
    pub(super) fn begin(&self, file: &File) -> bool {
        if self.is_refused() {
            return false;
        }
        let begun = rustix::fs::fcntl_getfl(file)
            .and_then(|flags| rustix::fs::fcntl_setfl(file, flags | OFlags::DIRECT));
        if begun.is_err() {
            self.refuse();
        }
        begun.is_ok()
    }

    /// The file system has refused a direct read. Others are not tried.
    pub(super) fn refuse(&self) {
        if !self.is_refused.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                target: "forerun::store",
                directory = %self.name.display(),
                "the file system refuses direct reads: its files are read through the page cache"
            );
        }
    }
}

/// Lets reads of `file` go through the page cache.
///
/// # Errors
/// If the system does not know the file.
pub(super) fn end(file: &File) -> rustix::io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    rustix::fs::fcntl_setfl(file, flags - OFlags::DIRECT)
}

/// Memory for a direct read: the blocks around an extent.
#[derive(Debug)]
pub(super) struct DirectBuffer {
    memory: Vec<u8>,
    /// Where the blocks begin in `memory`.
    begin: usize,
    blocks_len: usize,
    /// Where the blocks begin in the file.
    offset: u64,
    /// Where the extent begins in the blocks, and its length.
    skipped: usize,
    len: usize,
}

impl DirectBuffer {
    /// For `len` bytes at `offset`.
    pub(super) fn new(offset: u64, len: usize) -> DirectBuffer {
        let skipped = (offset % BLOCK_BYTES as u64) as usize;
        let blocks_len = (skipped + len).next_multiple_of(BLOCK_BYTES);
        let memory = vec![0; blocks_len + BLOCK_BYTES];
        let begin = memory.as_ptr().align_offset(BLOCK_BYTES);
        DirectBuffer { memory, begin, blocks_len, offset: offset - skipped as u64, skipped, len }
    }

    /// The first byte of the file to read.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn room(&mut self) -> &mut [u8] {
        &mut self.memory[self.begin..self.begin + self.blocks_len]
    }

    /// The bytes of the extent, after `count` bytes were read.
    pub(super) fn into_bytes(self, count: usize) -> Bytes {
        let end = count.min(self.skipped + self.len).max(self.skipped);
        Bytes::from(self.memory).slice(self.begin + self.skipped..self.begin + end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_has_whole_blocks_and_yields_the_extent() {
        for (offset, len) in [(0, 4096), (1, 1), (4095, 2), (5000, 20_000)] {
            let mut buffer = DirectBuffer::new(offset, len);
            assert_eq!(buffer.offset() % 4096, 0);
            let first = buffer.offset();
            let room = buffer.room();
            assert_eq!((room.as_ptr().align_offset(4096), room.len() % 4096), (0, 0));
            (0..).zip(&mut *room).for_each(|(at, byte)| *byte = ((first + at) % 251) as u8);
            let count = room.len();
            let expected: Vec<u8> = (offset..offset + len as u64).map(|at| (at % 251) as u8).collect();
            assert_eq!(buffer.into_bytes(count), expected);
        }
        // The file ends within, and before the extent.
        assert_eq!(DirectBuffer::new(5000, 20_000).into_bytes(1000).len(), 96);
        assert!(DirectBuffer::new(5000, 20_000).into_bytes(904).is_empty());
    }
}
