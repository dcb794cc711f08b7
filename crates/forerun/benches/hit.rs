//! What a 4 KiB read costs whose bytes are in memory, with a bare copy of as many
//! bytes beside it as the bound. Fails if one thread needs more than 1 us; what
//! two threads need that get in each other's way is shown beside it.
//!
//! `cargo bench -p forerun`

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::{Arc, Barrier};
use std::time::Instant;

use forerun::{Forerun, Options, Reader};
use forerun_backend::MemoryBackend;

const OBJECT_BYTES: usize = 64 << 20;
const READ_BYTES: usize = 4096;
const READS_PER_RUN: usize = 200_000;
/// Odd, so that one of them is the median.
const RUNS: usize = 9;
const GOAL_NS: u64 = 1000;

/// Where the reads of one run go.
#[derive(Clone, Copy)]
enum Order {
    Sequential,
    Random,
}

impl Order {
    /// The offset of read `index` of a thread.
    fn offset(self, thread: usize, index: usize) -> usize {
        let blocks = OBJECT_BYTES / READ_BYTES;
        let block = match self {
            Order::Sequential => index + thread * blocks / 2,
            // A full cycle over the blocks: their number is a power of two.
            Order::Random => (index + thread * 7919).wrapping_mul(0x9e37_79b1).wrapping_add(index >> 14),
        };
        block % blocks * READ_BYTES
    }
}

fn main() -> ExitCode {
    let memory = MemoryBackend::new();
    memory.replace("a", vec![1; OBJECT_BYTES]);
    let forerun = Forerun::over(Arc::new(memory), Options::default()).expect("the default options");
    let reader = forerun.block_on(forerun.open("a")).expect("the object is there");
    let mut all = vec![0; OBJECT_BYTES];
    reader.read_at(&mut all, 0).expect("memory does not fail");

    println!("4 KiB reads, all hits, ns per read and thread: median of {RUNS} runs (least .. most)");
    let mut is_within = true;
    for (name, order) in [("sequential", Order::Sequential), ("random", Order::Random)] {
        for threads in [1, 2] {
            let copies = runs(threads, order, |offset, buf| {
                buf.copy_from_slice(&all[offset..][..READ_BYTES]);
            });
            let hits = runs(threads, order, |offset, buf| read(&reader, offset, buf));
            is_within &= threads > 1 || hits[RUNS / 2] <= GOAL_NS;
            let verdict = if hits[RUNS / 2] <= GOAL_NS { "within" } else { "MORE THAN" };
            println!("{name:>10}, threads: {threads}  memcpy   {}", show(&copies));
            println!("{name:>10}, threads: {threads}  read_at  {}  {verdict} {GOAL_NS} ns", show(&hits));
        }
    }
    let counters = forerun.counters();
    let fetched_bytes = counters.demand_bytes + counters.readahead_bytes;
    assert_eq!(fetched_bytes, OBJECT_BYTES as u64, "not all reads were hits");
    if is_within { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn read(reader: &Reader, offset: usize, buf: &mut [u8]) {
    let len = reader.read_at(buf, offset as u64).expect("memory does not fail");
    assert_eq!(len, READ_BYTES);
}

/// Nanoseconds per read of each run, sorted.
fn runs(threads: usize, order: Order, read: impl Fn(usize, &mut [u8]) + Sync) -> [u64; RUNS] {
    let mut results = [0; RUNS];
    for result in &mut results {
        let start = Barrier::new(threads);
        let run = |thread| {
            let mut buf = [0; READ_BYTES];
            start.wait();
            let started = Instant::now();
            for index in 0..READS_PER_RUN {
                read(order.offset(thread, index), &mut buf);
                black_box(&buf);
            }
            started.elapsed().as_nanos() as u64
        };
        let ns = std::thread::scope(|scope| {
            let run = &run;
            let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
            threads.into_iter().map(|thread| thread.join().expect("a read failed")).max().unwrap_or(0)
        });
        *result = ns / READS_PER_RUN as u64;
    }
    results.sort_unstable();
    results
}

fn show(results: &[u64; RUNS]) -> String {
    format!("{:5} ({} .. {})", results[RUNS / 2], results[0], results[RUNS - 1])
}
