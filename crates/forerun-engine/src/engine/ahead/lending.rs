//! Readahead that a front end copies into a cache of its own before its readers ask for it.
//!
//! Such a copy is no read: the reader may never come. The bytes stay unread here. The policy sees a read
//! once the front end knows that the reader has passed them.

use alloc::vec::Vec;

use crate::config::Config;
use crate::engine::Engine;
use crate::reads::{Phase, Read};
use crate::types::*;

impl Engine {
    /// How many bytes of `extent` are resident and unread, without a gap from its start, or
    /// from its end if `from_end`. Whole blocks, but for the object's end.
    pub fn unread_bytes(&self, object: ObjectId, extent: Extent, from_end: bool) -> u64 {
        let extent = extent.intersection(&Extent::new(0, self.objects.size(object)));
        let blocks = extent.to_blocks();
        let count = blocks.len / BLOCK_BYTES;
        let is_unread = |index: &u64| {
            let index = if from_end { count - 1 - index } else { *index };
            self.cache.is_unread(object, blocks.offset + index * BLOCK_BYTES)
        };
        let unread = (0..count).take_while(is_unread).count() as u64 * BLOCK_BYTES;
        let part = if from_end {
            Extent::between(blocks.end() - unread, blocks.end())
        } else {
            Extent::new(blocks.offset, unread)
        };
        part.intersection(&extent).len
    }

    /// Lends the bytes of `extent` if all of them are resident. `memory` is cleared, and holds
    /// where they are; they stay there until [`Engine::release`].
    pub fn peek(
        &mut self,
        object: ObjectId,
        extent: Extent,
        memory: &mut Vec<MemoryRange>,
    ) -> Option<ReadId> {
        memory.clear();
        debug_assert!(extent.len <= Config::READ_BYTES_MAX, "a peek too long for the engine");
        let extent = extent.intersection(&Extent::new(0, self.objects.size(object)));
        let rows = self.cache.locate(object, extent);
        let residency = self.cache.residency(extent, &rows);
        if extent.is_empty() || residency.in_flight + residency.missing > 0 {
            return None;
        }
        let pins = self.cache.pin_located(rows);
        self.cache.memory(extent, &pins, memory);
        let reader = ReaderId::NOBODY;
        Some(self.reads.insert(Read { object, reader, extent, phase: Phase::Ready, pins }))
    }

    /// `reader` has come past `extent` in the front end's cache, which counts as a read of it.
    /// Nothing is fetched for that.
    pub fn consume(&mut self, now: Time, object: ObjectId, reader: ReaderId, extent: Extent) {
        match self.read(now, object, reader, extent, &mut Vec::new()) {
            Outcome::Ready(read) => self.release(read),
            Outcome::Parked(read) => self.abandon(read),
        }
    }
}
