//! The cost of a 4 KiB read whose bytes are in memory, in order and at random, and of that:
//! * copy: a bare copy of as many bytes;
//! * decision: the engine alone;
//! * lock: the rest, which is lock, clock and driver;
//! * pread: the same read of a file in the kernel's page cache, beside it.
//!
//! They are measured in turns, in many short runs, so that a disturbance hits few runs of each. Then two
//! threads on two objects, and two that only copy. Fails past [`GOALS`] or below [`GOAL_SPEEDUP`].
//!
//! Then what the policy costs of a sequential copy (`policy.rs`). Fails if the pieces that `cp` reads take
//! it more than 1 % longer; for the smallest ones it is shown beside it.
//!
//! `cargo bench -p forerun --bench hit`

mod engine;
mod policy;

use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::process::ExitCode;
use std::sync::{Arc, Barrier};
use std::time::Instant;

use forerun::{Advice, Forerun, Options, PolicyKind, Reader};
use forerun_backend::MemoryBackend;

const OBJECT_BYTES: usize = 64 << 20;
const READ_BYTES: usize = 4096;
/// So few that most runs end before another program has its turn.
const READS_PER_RUN: usize = 2000;
/// Odd, so that one of them is the median.
const RUNS: usize = 301;
/// The time of a read to that of a `pread`, in order and at random.
const GOALS: [f64; 2] = [1.2, 1.5];
/// How much more two threads should read than one.
const GOAL_SPEEDUP: f64 = 1.4;

/// Where the reads of one run go.
#[derive(Clone, Copy)]
enum Order {
    Sequential,
    Random,
}

impl Order {
    /// The offset of read `index`.
    fn offset(self, index: usize) -> usize {
        let blocks = OBJECT_BYTES / READ_BYTES;
        let block = match self {
            Order::Sequential => index,
            Order::Random => {
                // SplitMix64, so that no step is like another.
                let mixed = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                mixed ^ (mixed >> 27)
            }
        };
        block % blocks * READ_BYTES
    }
}

fn main() -> ExitCode {
    let forerun = over_memory(PolicyKind::Adaptive);
    let readers = ["a", "b"].map(|path| cached(&forerun, path));
    let fetched_bytes = fetched(&forerun);
    println!("4 KiB reads, all hits, ns a read: median of {RUNS} runs of {READS_PER_RUN} reads (least)");
    let mut is_within = true;
    for (name, order, goal) in
        [("in order", Order::Sequential, GOALS[0]), ("random", Order::Random, GOALS[1])]
    {
        let [all, decision, copy, pread] = parts(&readers[0], order);
        let ratio = all.0 as f64 / pread.0 as f64;
        is_within &= ratio <= goal;
        let lock = all.0.saturating_sub(decision.0 + copy.0);
        let verdict = if ratio <= goal { "within" } else { "MORE THAN" };
        println!(
            "{name:>9}: {:4} ({:3}), {ratio:.2} of a pread ({:4})  {verdict} {goal:.2}; copy {:4} ({:3}), decision {:4} ({:3}), lock {lock:4}",
            all.0, all.1, pread.0, copy.0, copy.1, decision.0, decision.1
        );
        let hits = speedup(order, |thread, offset, buf| read(&readers[thread], offset, buf));
        let objects = [1, 2].map(|byte| vec![byte; OBJECT_BYTES]);
        let copies = speedup(order, |thread, offset, buf| copy_from(&objects[thread], offset, buf));
        is_within &= hits >= GOAL_SPEEDUP;
        let verdict = if hits >= GOAL_SPEEDUP { "within" } else { "LESS THAN" };
        println!(
            "{name:>9}: two threads on two objects {hits:.2} times one  {verdict} {GOAL_SPEEDUP}; two that only copy {copies:.2} times"
        );
    }
    assert_eq!(fetched(&forerun), fetched_bytes, "not all reads were hits");
    is_within &= policy::policy_costs_little();
    if is_within { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn over_memory(policy: PolicyKind) -> Forerun {
    let memory = MemoryBackend::new();
    ["a", "b"].into_iter().for_each(|path| memory.replace(path, vec![1; OBJECT_BYTES]));
    let options = Options::default().with_policy(policy);
    Forerun::over(Arc::new(memory), options).expect("the default options")
}

/// A reader of an object, all of which is in memory.
fn cached(forerun: &Forerun, path: &str) -> Reader {
    let reader = forerun.open_blocking(path).expect("the object is there");
    let filler = forerun.open_blocking(path).expect("the object is there");
    // Nothing is read ahead, so that with each policy all lies in memory in the same way.
    filler.advise(Advice::Random);
    filler.read_at_blocking(&mut vec![0; OBJECT_BYTES], 0).expect("memory does not fail");
    reader
}

fn fetched(forerun: &Forerun) -> u64 {
    let counters = forerun.counters();
    counters.demand_bytes + counters.readahead_bytes
}

fn read(reader: &Reader, offset: usize, buf: &mut [u8]) {
    let len = reader.read_at_blocking(buf, offset as u64).expect("memory does not fail");
    assert_eq!(len, READ_BYTES);
    black_box(buf);
}

fn copy_from(object: &[u8], offset: usize, buf: &mut [u8]) {
    black_box(buf).copy_from_slice(&object[offset..][..READ_BYTES]);
}

/// An unnamed file as large as an object, in the page cache.
fn cached_file() -> File {
    let mut file = tempfile::tempfile().expect("a folder for temporary files");
    file.write_all(&vec![1; OBJECT_BYTES]).expect("there is room for it");
    file
}

/// Median and least nanoseconds of a read, of the engine alone, of a copy, and of a `pread`.
fn parts(reader: &Reader, order: Order) -> [(u64, u64); 4] {
    let (mut alone, all, file) = (engine::Alone::new(), vec![1; OBJECT_BYTES], cached_file());
    let mut buf = [0; READ_BYTES];
    let mut runs = [const { Vec::new() }; 4];
    for run in 0..RUNS {
        let offsets = || (0..READS_PER_RUN).map(|index| order.offset(run * READS_PER_RUN + index));
        runs[0].push(ns_of(|| offsets().for_each(|offset| read(reader, offset, &mut buf))));
        runs[1].push(ns_of(|| offsets().for_each(|offset| alone.hit(offset))));
        runs[2].push(ns_of(|| offsets().for_each(|offset| copy_from(&all, offset, &mut buf))));
        runs[3].push(ns_of(|| {
            offsets().for_each(|offset| {
                file.read_exact_at(black_box(&mut buf), offset as u64).expect("the file is there");
            });
        }));
    }
    runs.map(|mut runs| {
        runs.sort_unstable();
        (runs[RUNS / 2] / READS_PER_RUN as u64, runs[0] / READS_PER_RUN as u64)
    })
}

fn ns_of(work: impl FnOnce()) -> u64 {
    let started = Instant::now();
    work();
    started.elapsed().as_nanos() as u64
}

/// How many times the reads of one thread two do in the same time, each on its object: the median.
fn speedup(order: Order, read: impl Fn(usize, usize, &mut [u8]) + Sync) -> f64 {
    let rounds = |thread: usize, start: &Barrier| {
        let mut buf = [0; READ_BYTES];
        let rounds = (0..RUNS).map(|run| {
            start.wait();
            ns_of(|| {
                let offsets = (0..READS_PER_RUN).map(|index| order.offset(run * READS_PER_RUN + index));
                offsets.for_each(|offset| read(thread, offset, &mut buf));
            })
        });
        rounds.collect::<Vec<u64>>()
    };
    let median = |mut runs: Vec<u64>| {
        runs.sort_unstable();
        runs[RUNS / 2] as f64
    };
    let one = median(rounds(0, &Barrier::new(1)));
    let start = Barrier::new(2);
    let two = std::thread::scope(|scope| {
        let other = scope.spawn(|| rounds(1, &start));
        let ours = rounds(0, &start);
        let theirs = other.join().expect("a read failed");
        ours.into_iter().zip(theirs).map(|(ours, theirs)| ours.max(theirs)).collect()
    });
    2.0 * one / median(two)
}
