//! The contents of the memory: in debug builds, every answer is compared with it.

use forerun_engine::{BLOCK_BYTES, Fetch, FetchId, MemoryRange};

use crate::map::Map;
use crate::source::{Extent, ObjectId};

/// Which block of which object each slot holds.
#[derive(Debug)]
pub(super) struct Memory {
    slots: Vec<(ObjectId, u64)>,
    /// Fetches under way, and how much of each has arrived.
    fetches: Map<FetchId, (Fetch, u64)>,
}

const NOTHING: (ObjectId, u64) = (ObjectId(u64::MAX), u64::MAX);

impl Memory {
    pub(super) fn new(bytes: u64) -> Memory {
        let count = if cfg!(debug_assertions) { bytes / BLOCK_BYTES } else { 0 };
        Memory { slots: vec![NOTHING; count as usize], fetches: Map::default() }
    }

    pub(super) fn start(&mut self, fetch: &Fetch) {
        if cfg!(debug_assertions) {
            self.fetches.insert(fetch.id, (fetch.clone(), 0));
        }
    }

    /// The first `bytes` bytes of the fetch, in total, are there.
    pub(super) fn arrive(&mut self, id: FetchId, bytes: u64) {
        let Some((fetch, arrived)) = self.fetches.get_mut(&id) else { return };
        let mut position = 0;
        for range in &fetch.memory {
            for slot in range.start / BLOCK_BYTES..(range.start + range.len).div_ceil(BLOCK_BYTES) {
                if position < bytes && position + BLOCK_BYTES > *arrived {
                    let block = (fetch.extent.offset + position) / BLOCK_BYTES;
                    self.slots[slot as usize] = (fetch.object, block);
                }
                position += BLOCK_BYTES;
            }
        }
        *arrived = bytes;
    }

    pub(super) fn end(&mut self, id: FetchId) {
        let Some(len) = self.fetches.get(&id).map(|(fetch, _)| fetch.extent.len) else { return };
        self.arrive(id, len);
        self.fetches.remove(&id);
    }

    pub(super) fn forget(&mut self, id: FetchId) {
        self.fetches.remove(&id);
    }

    /// # Panics
    /// In debug builds, if `ranges` are not where `extent` is.
    pub(super) fn check(&self, object: ObjectId, extent: Extent, ranges: &[MemoryRange]) {
        if !cfg!(debug_assertions) {
            return;
        }
        assert_eq!(ranges.iter().map(|range| range.len).sum::<u64>(), extent.len, "of {extent:?}");
        let mut offset = extent.offset;
        for range in ranges {
            let mut start = range.start;
            while start < range.start + range.len {
                let held = self.slots[(start / BLOCK_BYTES) as usize];
                assert_eq!(held, (object, offset / BLOCK_BYTES), "wrong bytes in answer to {extent:?}");
                let step = (BLOCK_BYTES - start % BLOCK_BYTES).min(range.start + range.len - start);
                start += step;
                offset += step;
            }
        }
    }
}
