//! Which bytes are where: in every slot, in what is in flight, and with who waits for them.

use forerun_engine::*;

use super::model::{BLOCKS, Model};

/// The content of a slot: object, block, and the version of the object when it was fetched.
pub(crate) type Content = (u64, u64, u64);

pub(crate) struct InFlight {
    pub(crate) fetch: Fetch,
    pub(crate) version: u64,
    pub(crate) done: u64,
}

pub(crate) struct Waiting {
    pub(crate) read: ReadId,
    pub(crate) object: u64,
    pub(crate) extent: Extent,
    /// For each block the version when the read was asked for: nothing older
    /// will do.
    pub(crate) versions: Vec<u64>,
}

impl Model {
    /// Bytes `start .. end` are others from now on.
    pub(super) fn change(&mut self, object: u64, start: u64, end: u64) {
        if start == end {
            return;
        }
        let object = object as usize;
        self.versions[object] += 1;
        for block in start / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES).min(BLOCKS as u64) {
            self.block_versions[object][block as usize] = self.versions[object];
        }
    }

    /// A reader was told where its bytes are: they must be the right ones, and
    /// stay so until it releases them.
    pub(super) fn copy(&mut self, waited: Waiting, memory: Vec<MemoryRange>) {
        let Waiting { read, object, extent, versions } = waited;
        assert_eq!(memory.iter().map(|range| range.len).sum::<u64>(), extent.len);
        let mut offset = extent.offset;
        let mut contents = Vec::new();
        for range in &memory {
            assert_eq!(range.start % BLOCK_BYTES, offset % BLOCK_BYTES);
            for slot in range.start / BLOCK_BYTES..(range.start + range.len).div_ceil(BLOCK_BYTES) {
                let content = self.slots[&slot];
                let block = (offset + slot * BLOCK_BYTES).saturating_sub(range.start) / BLOCK_BYTES;
                let block = block.max(offset / BLOCK_BYTES);
                assert_eq!((content.0, content.1), (object, block), "wrong block");
                let version = versions[(block - self.base / BLOCK_BYTES) as usize];
                assert!(content.2 >= version, "bytes from before a change");
                contents.push(content);
            }
            offset += range.len;
        }
        self.copying.push((read, memory, contents));
    }

    pub(super) fn release(&mut self, index: usize) {
        let (read, memory, contents) = self.copying.swap_remove(index);
        let now: Vec<Content> = memory
            .iter()
            .flat_map(|range| range.start / BLOCK_BYTES..(range.start + range.len).div_ceil(BLOCK_BYTES))
            .map(|slot| self.slots[&slot])
            .collect();
        assert_eq!(now, contents, "memory changed under a reader");
        self.engine.release(read);
    }

    /// The first `bytes` of a fetch are written to its memory.
    pub(super) fn fill(&mut self, index: usize, bytes: u64) {
        let InFlight { fetch, version, done } = &mut self.in_flight[index];
        // Reported bytes are not written again, nor half a block at the end.
        if bytes <= *done {
            return;
        }
        let mut position = 0;
        for range in &fetch.memory {
            for slot in range.start / BLOCK_BYTES..(range.start + range.len).div_ceil(BLOCK_BYTES) {
                if position < bytes && position + BLOCK_BYTES > *done {
                    let block = (fetch.extent.offset + position) / BLOCK_BYTES;
                    self.slots.insert(slot, (fetch.object.0, block, *version));
                }
                position += BLOCK_BYTES;
            }
        }
        *done = bytes;
    }
}
