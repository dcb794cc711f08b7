//! Writes to an overlay.

use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use forerun::{Error, Result, Zeroing};

use super::super::changes::{Claim, file_error, on_disk, slow};
use super::super::disk::Disk;
use super::Overlay;
use super::layout::{BLOCK_BYTES, Layout, SLOT_BYTES, start_of};
use super::slots;
use super::states::State;

/// The zeros of a part of a block.
const BLOCK_OF_ZEROS: &[u8] = &[0; BLOCK_BYTES as usize];

impl Overlay {
    /// Writes `bytes`, and drops `held` once they are not needed any more.
    pub(in super::super) async fn write(
        self: &Arc<Overlay>,
        base: &Disk,
        offset: u64,
        bytes: Bytes,
        held: impl Send + 'static,
    ) -> Result<()> {
        self.flushes.check()?;
        let claim = self.claims.claim(Layout::touched(offset, bytes.len() as u64)).await;
        self.write_claimed(base, offset, bytes, (claim, held)).await
    }

    /// Writes zeros.
    pub(in super::super) async fn write_zeroes(
        self: &Arc<Overlay>,
        base: &Disk,
        offset: u64,
        len: u32,
        zeroing: Zeroing,
    ) -> Result<()> {
        self.flushes.check()?;
        let (end, whole) = (offset + u64::from(len), self.layout.whole(offset, u64::from(len)));
        let claim = Arc::new(self.claims.claim(Layout::touched(offset, u64::from(len))).await);
        // The rest of the first and the last block has to stay.
        let edges = if whole.is_empty() {
            let middle = end.min(start_of(offset / BLOCK_BYTES + 1));
            [offset..middle, middle..end]
        } else {
            [offset..start_of(whole.start), start_of(whole.end).min(end)..end]
        };
        for edge in edges {
            let is_zero = self.marks.lock().get(edge.start / BLOCK_BYTES) == State::Zero;
            if !edge.is_empty() && (zeroing.has_space || !is_zero) {
                let zeros = Bytes::from_static(&BLOCK_OF_ZEROS[..(edge.end - edge.start) as usize]);
                self.write_claimed(base, edge.start, zeros, Arc::clone(&claim)).await?;
            }
        }
        let overlay = Arc::clone(self);
        on_disk(move || overlay.zero_blocks(whole, zeroing, claim)).await
    }

    /// Gives up the blocks that lie within the bytes as a whole. They are zeros from then on.
    pub(in super::super) async fn trim(self: &Arc<Overlay>, offset: u64, len: u32) -> Result<()> {
        self.flushes.check()?;
        let blocks = self.layout.whole(offset, u64::from(len));
        let claim = Arc::new(self.claims.claim(blocks.clone()).await);
        let (overlay, zeroing) = (Arc::clone(self), Zeroing { has_space: false, is_fast: false });
        on_disk(move || overlay.zero_blocks(blocks, zeroing, claim)).await
    }

    /// Makes all writes last that have ended.
    pub(in super::super) async fn flush(self: &Arc<Overlay>) -> Result<()> {
        let overlay = Arc::clone(self);
        self.flushes.flush(on_disk(move || overlay.sync())).await
    }

    fn sync(&self) -> Result<()> {
        // Marks that are taken now have their bytes in the file, which `Flushes::sync` waits for.
        let taken = self.marks.lock().take();
        self.flushes.sync(&self.file)?;
        if taken.is_empty() {
            return Ok(());
        }
        let written = taken.iter().try_for_each(|taken| slots::write(&self.file, taken));
        if let Err(error) = written {
            self.marks.lock().give_back(&taken, false);
            return Err(self.failed("the map cannot be written", error));
        }
        self.flushes.sync(&self.file)?;
        self.marks.lock().give_back(&taken, true);
        Ok(())
    }

    /// Writes `bytes` to blocks that nobody else changes while `held` is kept.
    async fn write_claimed(
        self: &Arc<Overlay>,
        base: &Disk,
        offset: u64,
        bytes: Bytes,
        held: impl Send + 'static,
    ) -> Result<()> {
        let end = offset + bytes.len() as u64;
        let first = offset / BLOCK_BYTES * BLOCK_BYTES;
        let last = (end - 1) / BLOCK_BYTES * BLOCK_BYTES;
        let before = self.rest(base, first..offset);
        let after = self.rest(base, end..self.layout.block_end(last));
        let (before, after) = futures::try_join!(before, after)?;
        let (offset, bytes) = if before.is_empty() && after.is_empty() {
            (offset, bytes)
        } else {
            let mut all = BytesMut::with_capacity(before.len() + bytes.len() + after.len());
            [&before[..], &bytes, &after].iter().for_each(|part| all.extend_from_slice(part));
            (offset - before.len() as u64, all.freeze())
        };
        let overlay = Arc::clone(self);
        on_disk(move || {
            let _held = held;
            overlay.store(offset, &bytes)
        })
        .await
    }

    /// The bytes of a block beside those that are written, unless the file has them.
    async fn rest(&self, base: &Disk, bytes: Range<u64>) -> Result<Vec<u8>> {
        if bytes.is_empty() {
            return Ok(Vec::new());
        }
        let state = self.marks.lock().get(bytes.start / BLOCK_BYTES);
        let mut rest = vec![0; if state == State::Data { 0 } else { (bytes.end - bytes.start) as usize }];
        if state == State::Base {
            base.read_at(&mut rest, bytes.start).await?;
        }
        Ok(rest)
    }

    /// Writes bytes to the file, then marks their blocks.
    fn store(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let blocks = Layout::touched(offset, bytes.len() as u64);
        self.reserve_pages(&blocks)?;
        let written = self.file.write_all_at(bytes, self.layout.data_offset(offset));
        written.map_err(|error| self.failed("the bytes cannot be written", error))?;
        self.mark(blocks, State::Data);
        Ok(())
    }

    fn zero_blocks(&self, blocks: Range<u64>, zeroing: Zeroing, _claim: Arc<Claim>) -> Result<()> {
        if blocks.is_empty() {
            return Ok(());
        }
        self.reserve_pages(&blocks)?;
        let failed = |error| self.failed("the zeros cannot be written", error);
        let (at, end) = (self.layout.data_offset(start_of(blocks.start)), start_of(blocks.end));
        let len = self.layout.data_offset(end) - at;
        if !zeroing.has_space {
            let runs = self.marks.lock().runs(blocks.clone());
            self.mark(blocks, State::Zero);
            for (run, _) in runs.into_iter().filter(|(_, state)| *state == State::Data) {
                let at = self.layout.data_offset(start_of(run.start));
                // Without it they keep their space, and nothing else.
                self.file.punch(at, start_of(run.end - run.start)).map_err(failed)?;
            }
            return Ok(());
        }
        if !self.file.zero_in_place(at, len).map_err(failed)? {
            if zeroing.is_fast {
                return Err(slow());
            }
            self.file.write_zeros(at, len).map_err(failed)?;
        }
        self.mark(blocks, State::Data);
        Ok(())
    }

    /// Gives pages of the map a place in the file, so that a flush needs no more space.
    fn reserve_pages(&self, blocks: &Range<u64>) -> Result<()> {
        let missing = self.marks.lock().missing_pages(blocks);
        for page in missing {
            let reserved = self.file.reserve(Layout::slots_offset(page), 2 * SLOT_BYTES as u64);
            reserved.map_err(|error| self.failed("the map has no space", error))?;
        }
        Ok(())
    }

    fn mark(&self, blocks: Range<u64>, state: State) {
        self.marks.lock().set(blocks, state);
        self.flushes.count_write();
    }

    fn failed(&self, failed: &str, error: std::io::Error) -> Error {
        file_error(&self.path, failed, error)
    }
}
