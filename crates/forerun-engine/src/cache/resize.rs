//! A budget that falls and rises.

use alloc::vec::Vec;

use super::{Cache, Room, memory_of};
use crate::types::{BLOCK_BYTES, MemoryRange, Time};

impl Cache {
    /// From now on the memory has `bytes`, as soon as blocks that may not go now are free.
    pub(crate) fn set_memory_bytes(&mut self, now: Time, bytes: u64) {
        self.slots.resize((bytes / BLOCK_BYTES) as u32);
        self.shrink(now);
    }

    /// Evicts blocks as far as the memory is larger than it shall be.
    pub(crate) fn shrink(&mut self, now: Time) {
        while !self.slots.withdraw() && self.make_room(now, 1, Room::Demand) {}
    }

    /// The memory that blocks may take now.
    pub(crate) fn kept_bytes(&self) -> u64 {
        u64::from(self.slots.kept_count()) * BLOCK_BYTES
    }

    /// The memory that was taken out of use since the last call, and is still.
    pub(crate) fn take_withdrawn(&mut self) -> Vec<MemoryRange> {
        memory_of(self.slots.tell_withdrawn(), u64::MAX)
    }
}
