//! Sums of what an engine did.

use std::ffi::c_int;
use std::mem;

use crate::engine::Engine;
use crate::error::guard;
use crate::raw;

/// Sums since the engine was made. Sizes are in bytes.
#[derive(Debug)]
#[repr(C)]
pub struct Stats {
    /// sizeof(struct forerun_stats), set by the caller. Later versions of the struct are longer.
    pub size: usize,
    /// Reads asked for.
    pub read_count: u64,
    /// Bytes asked for: the sum of the next three.
    pub read_bytes: u64,
    /// Bytes that were in memory when asked for.
    pub hit_bytes: u64,
    /// Bytes that were in flight when asked for.
    pub late_bytes: u64,
    /// Bytes that were neither.
    pub miss_bytes: u64,
    /// Fetches that a reader waited for.
    pub demand_count: u64,
    /// Bytes of these fetches, with the readahead that they included.
    pub demand_bytes: u64,
    /// Fetches ahead of any reader.
    pub readahead_count: u64,
    /// Bytes of these fetches.
    pub readahead_bytes: u64,
    /// Requests that repeated late ones (hedged requests).
    pub hedged_count: u64,
    /// Bytes of these requests.
    pub hedged_bytes: u64,
    /// Bytes fetched ahead that left the memory unread.
    pub wasted_bytes: u64,
    /// Fetches that failed.
    pub failed_count: u64,
    /// Memory in use now: cached and in flight.
    pub memory_bytes: u64,
    /// The most memory that was ever in use.
    pub memory_bytes_peak: u64,
}

// SAFETY: it is `repr(C)`, each field has 8 bytes, so that no padding is between them, and any
// bytes are numbers.
unsafe impl raw::Growing for Stats {
    const FIRST_BYTES: usize = mem::offset_of!(Stats, memory_bytes_peak) + mem::size_of::<u64>();
    const NAME: &'static str = "forerun_stats";
}

/// Fills *stats, whose size the caller has set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forerun_stats(engine: *const Engine, stats: *mut Stats) -> c_int {
    guard(|| {
        // SAFETY: docs/c.md asks callers for open handles or NULL.
        let forerun = unsafe { raw::reference(engine, "engine")? }.forerun.get()?;
        let sums = forerun.counters();
        let filled = Stats {
            size: mem::size_of::<Stats>(),
            read_count: sums.read_count,
            read_bytes: sums.read_bytes,
            hit_bytes: sums.hit_bytes,
            late_bytes: sums.late_bytes,
            miss_bytes: sums.miss_bytes,
            demand_count: sums.demand_count,
            demand_bytes: sums.demand_bytes,
            readahead_count: sums.readahead_count,
            readahead_bytes: sums.readahead_bytes,
            hedged_count: sums.repeated_count,
            hedged_bytes: sums.repeated_bytes,
            wasted_bytes: sums.wasted_bytes,
            failed_count: sums.failed_count,
            memory_bytes: forerun.memory_bytes(),
            memory_bytes_peak: sums.memory_bytes_peak,
        };
        // SAFETY: docs/c.md asks callers for a struct that is as long as its size says.
        unsafe { raw::put_sized(stats, &filled)? };
        Ok(0)
    }) as c_int
}
