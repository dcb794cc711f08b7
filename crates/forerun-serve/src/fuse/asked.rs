//! Counters of the kernel's requests to a mount.

use std::sync::atomic::{AtomicU64, Ordering};

/// The kernel's requests to a mount since it was mounted: for programs, and for the kernel's own
/// readahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asked {
    /// READ requests.
    pub read_count: u64,
    /// Bytes of READ requests, including bytes past the end of a file.
    pub read_bytes: u64,
    /// Bytes put into the page cache before the kernel asked for them.
    pub pushed_bytes: u64,
}

/// The sums behind an [`Asked`].
#[derive(Debug, Default)]
pub(crate) struct Tally {
    read_count: AtomicU64,
    read_bytes: AtomicU64,
    pushed_bytes: AtomicU64,
}

impl Tally {
    pub(crate) fn add_read(&self, bytes: u64) {
        self.read_count.fetch_add(1, Ordering::Relaxed);
        self.read_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn add_push(&self, bytes: u64) {
        self.pushed_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The sums so far.
    pub(crate) fn get(&self) -> Asked {
        Asked {
            read_count: self.read_count.load(Ordering::Relaxed),
            read_bytes: self.read_bytes.load(Ordering::Relaxed),
            pushed_bytes: self.pushed_bytes.load(Ordering::Relaxed),
        }
    }
}
