//! An allocator that counts the bytes that are in use.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's, counted.
pub(crate) struct Counting;

static USED: AtomicU64 = AtomicU64::new(0);

// SAFETY: all of it is the system's allocator; counting touches no memory of its own.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        USED.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of this very call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of this very call.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Bytes in use now, of all threads.
pub(crate) fn used_bytes() -> u64 {
    USED.load(Ordering::Relaxed)
}
