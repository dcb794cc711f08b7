//! The memory budget: what is charged, and how it falls and rises. `cache/` keeps to it: nothing comes in without room.

use alloc::vec::Vec;

use super::Engine;
use crate::config::Config;
use crate::types::{MemoryRange, Time};

impl Engine {
    /// Memory charged now: resident and in flight, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.cache.used_bytes()
    }

    /// Whether the last `poll_fetch` found no memory for something. [`Engine::release`] may make room for it;
    /// otherwise nothing is to be fetched because of a release.
    pub fn is_short_of_memory(&self) -> bool {
        self.cache.is_short
    }

    /// From now on the memory has `bytes`: at least [`Config::MEMORY_BYTES_MIN`], and at most the
    /// [`Config::memory_bytes_max`] that the engine began with.
    ///
    /// Blocks beyond that go at once. Those that are in flight, or that answered reads hold, go when they can, and
    /// until then nothing new comes in. [`Usage::memory_bytes_max`](crate::Usage::memory_bytes_max) tells how far that is.
    ///
    /// Returns `bytes` within these limits.
    pub fn set_memory_bytes(&mut self, now: Time, bytes: u64) -> u64 {
        let bytes = bytes.clamp(Config::MEMORY_BYTES_MIN, self.region_bytes);
        self.config.memory_bytes_max = bytes;
        self.device.set_limits(&self.config);
        self.rules = self.policy.rules(&self.config);
        self.cache.set_memory_bytes(now, bytes);
        self.report_lost(now);
        self.audit();
        bytes
    }

    /// The memory that was taken out of use since the last call. It holds nothing until
    /// [`Engine::set_memory_bytes`] makes the memory larger.
    pub fn take_withdrawn(&mut self) -> Vec<MemoryRange> {
        self.cache.take_withdrawn()
    }
}
