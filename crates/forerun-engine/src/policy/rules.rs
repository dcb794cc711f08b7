//! The rules by which windows are fetched and kept: those of the software that the policy is from. So a
//! historic policy does not change with the engine's own rules.

use crate::cache::Reclaim;
use crate::config::Config;
use crate::device::whole_blocks;
use crate::types::BLOCK_BYTES;

/// The most bytes of one request to a disk: 1024 sectors.
//= linux 2.6.10 include/linux/blkdev.h
const KERNEL_REQUEST_BYTES_MAX: u64 = 512 << 10;

/// A fetch has at most this share of the memory, since it must find room.
const MEMORY_SHARE: u64 = 8;

/// See the module's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    /// The engine's own. The device model decides the size of fetches, their slices on a disk, and their
    /// number. Readahead is kept for its reader.
    Engine,
    /// A kernel's. A window is requested at once, in requests of the largest size, and the first of them
    /// includes the read. The page cache does not distinguish readahead from pages that were read.
    Kernel {
        /// The most bytes of a request, in whole blocks.
        request_bytes_max: u64,
    },
    /// librbd's: a window is requested at once, as one operation for each storage object,
    /// beside those that its reader waits for. So is its cache.
    Librbd {
        /// The size of storage objects, not 0.
        object_bytes: u64,
        /// The most bytes of an operation, in whole blocks.
        operation_bytes_max: u64,
    },
}

impl Rules {
    pub(crate) fn kernel(config: &Config) -> Rules {
        let bytes = KERNEL_REQUEST_BYTES_MAX.max(config.fetch_bytes_min).min(fetch_bytes_max(config));
        Rules::Kernel { request_bytes_max: whole_blocks(bytes) }
    }

    pub(crate) fn librbd(config: &Config) -> Rules {
        Rules::Librbd {
            object_bytes: config.storage_object_bytes,
            operation_bytes_max: whole_blocks(fetch_bytes_max(config)),
        }
    }

    /// The order in which blocks are evicted.
    pub(crate) fn reclaim(self) -> Reclaim {
        match self {
            Rules::Engine => Reclaim::Informed,
            Rules::Kernel { .. } | Rules::Librbd { .. } => Reclaim::TwoLists,
        }
    }

    /// Whether the engine decides when readahead is fetched, and in which pieces.
    pub(crate) fn are_ours(self) -> bool {
        self == Rules::Engine
    }

    /// Whether readahead that continues a demand fetch is one fetch with it.
    pub(crate) fn ride_along(self) -> bool {
        !matches!(self, Rules::Librbd { .. })
    }

    /// The most bytes that a fetch from the block at `offset` on has, if that is not the
    /// engine's to decide.
    pub(crate) fn fetch_bytes_max(self, offset: u64) -> Option<u64> {
        match self {
            Rules::Engine => None,
            Rules::Kernel { request_bytes_max } => Some(request_bytes_max),
            Rules::Librbd { object_bytes, operation_bytes_max } => {
                let rest = object_bytes - offset % object_bytes;
                Some(rest.next_multiple_of(BLOCK_BYTES).min(operation_bytes_max))
            }
        }
    }
}

fn fetch_bytes_max(config: &Config) -> u64 {
    config.fetch_bytes_max.min(config.memory_bytes_max / MEMORY_SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn librbd_asks_for_what_is_left_of_a_storage_object() {
        let config = Config::new(64 << 20);
        assert_eq!(Rules::librbd(&config).fetch_bytes_max(5 << 20), Some(3 << 20));
        let odd = Config { storage_object_bytes: 5000, ..config };
        assert_eq!(Rules::librbd(&odd).fetch_bytes_max(4096), Some(4096), "whole blocks");
    }

    #[test]
    fn fetches_fit_into_little_memory() {
        let config = Config::new(4 << 20);
        assert_eq!(Rules::kernel(&config).fetch_bytes_max(0), Some(512 << 10));
        assert_eq!(Rules::librbd(&config).fetch_bytes_max(0), Some(512 << 10));
        assert_eq!(Rules::Engine.fetch_bytes_max(0), None);
    }
}
