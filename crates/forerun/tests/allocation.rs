//! A hit allocates nothing. Here on its own, because it counts what the whole
//! program allocates.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use forerun::{Forerun, Options, Reader};
use forerun_backend::MemoryBackend;

/// The system's allocator, counting each thread's requests.
struct Counting;

thread_local!(static COUNT: Cell<usize> = const { Cell::new(0) });

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is passed on to the system's allocator as it came; the
// counter beside it neither allocates nor is dropped.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

const OBJECT_BYTES: usize = 4 << 20;
const READ_BYTES: usize = 4096;
const RANDOM_READS: usize = 10_000;

/// Reads at random, then all of it front to back; says how many reads that were.
fn read_everywhere(reader: &Reader) -> usize {
    let mut buf = [0; READ_BYTES];
    for index in 0..RANDOM_READS as u64 {
        let offset = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (OBJECT_BYTES - READ_BYTES) as u64;
        assert_eq!(reader.read_at_blocking(&mut buf, offset).unwrap(), READ_BYTES);
    }
    for offset in (0..OBJECT_BYTES as u64).step_by(READ_BYTES) {
        assert_eq!(reader.read_at_blocking(&mut buf, offset).unwrap(), READ_BYTES);
    }
    RANDOM_READS + OBJECT_BYTES / READ_BYTES
}

#[test]
fn a_hit_allocates_nothing() {
    let memory = MemoryBackend::new();
    memory.replace("a", vec![1; OBJECT_BYTES]);
    let forerun = Forerun::over(Arc::new(memory), Options::default()).unwrap();
    let reader = forerun.open_blocking("a").unwrap();
    assert_eq!(reader.read_at_blocking(&mut vec![0; OBJECT_BYTES], 0).unwrap(), OBJECT_BYTES);
    // The policy's tables of candidates and runs grow to their bound once.
    (0..12).for_each(|_| _ = read_everywhere(&reader));
    let before = COUNT.get();
    let read_count = read_everywhere(&reader);
    // Debug builds check the engine's invariants after each of the three calls
    // that a hit makes, with a table of their own.
    let audits = if cfg!(debug_assertions) { 3 * read_count } else { 0 };
    let count = COUNT.get() - before;
    assert!(count <= audits, "{count} allocations in {read_count} hits");
}
