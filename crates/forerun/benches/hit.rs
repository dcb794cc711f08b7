//! What a 4 KiB read costs whose bytes are in memory, with a bare copy of as many
//! bytes beside it as the bound. Fails if one thread needs more than 1 us; what
//! two threads need that get in each other's way is shown beside it.
//!
//! Then what the policy costs of that: a sequential copy of what is in memory, with
//! `adaptive` and with `none` in turns. Fails if the pieces that `cp` reads take it more
//! than 1 % longer; for the smallest ones it is shown beside it.
//!
//! `cargo bench -p forerun`

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::{Arc, Barrier};
use std::time::Instant;

use forerun::{Advice, Forerun, Options, PolicyKind, Reader};
use forerun_backend::MemoryBackend;

const OBJECT_BYTES: usize = 64 << 20;
const READ_BYTES: usize = 4096;
const READS_PER_RUN: usize = 200_000;
/// Odd, so that one of them is the median.
const RUNS: usize = 9;
const GOAL_NS: u64 = 1000;
/// What `cp` reads at a time.
const COPY_BYTES: usize = 128 << 10;
/// How much longer a copy may take for its policy.
const GOAL_RATIO: f64 = 1.01;
/// Copies with each policy, one after the other.
const COPIES: usize = 105;
/// Pairs of instances that are copied from in turns.
const INSTANCES: usize = 5;

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
            Order::Random => {
                // SplitMix64, so that no step is like another.
                let mixed = (index + thread * 7919).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                mixed ^ (mixed >> 27)
            }
        };
        block % blocks * READ_BYTES
    }
}

fn main() -> ExitCode {
    let forerun = over_memory(PolicyKind::Adaptive);
    let (reader, all) = cached(&forerun);

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
    is_within &= policy_costs_little();
    if is_within { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn over_memory(policy: PolicyKind) -> Forerun {
    let memory = MemoryBackend::new();
    memory.replace("a", vec![1; OBJECT_BYTES]);
    let options = Options::default().with_policy(policy);
    Forerun::over(Arc::new(memory), options).expect("the default options")
}

/// A reader of the object, all of which is in memory.
fn cached(forerun: &Forerun) -> (Reader, Vec<u8>) {
    let reader = forerun.open_blocking("a").expect("the object is there");
    let filler = forerun.open_blocking("a").expect("the object is there");
    let mut all = vec![0; OBJECT_BYTES];
    // Nothing is read ahead, so that with each policy all lies in memory in the same way.
    filler.advise(Advice::Random);
    filler.read_at_blocking(&mut all, 0).expect("memory does not fail");
    (reader, all)
}

/// Whether a copy takes `adaptive` hardly longer than `none`.
fn policy_costs_little() -> bool {
    // Which pages of the machine an instance got makes a difference of its own.
    let instances: Vec<[Forerun; 2]> =
        (0..INSTANCES).map(|_| [PolicyKind::Adaptive, PolicyKind::None].map(over_memory)).collect();
    let readers: Vec<[Reader; 2]> =
        instances.iter().map(|pair| [cached(&pair[0]).0, cached(&pair[1]).0]).collect();
    let ratio_in = |piece_bytes: usize| {
        let mut buf = vec![0; piece_bytes];
        let mut copy = |reader: &Reader| {
            let started = Instant::now();
            for offset in (0..OBJECT_BYTES).step_by(piece_bytes) {
                reader.read_at_blocking(&mut buf, offset as u64).expect("memory does not fail");
                black_box(&buf);
            }
            started.elapsed().as_secs_f64()
        };
        let pairs = readers.iter().cycle().take(COPIES);
        let mut ratios: Vec<f64> = pairs.map(|[adaptive, none]| copy(adaptive) / copy(none)).collect();
        ratios.sort_by(f64::total_cmp);
        ratios[COPIES / 2]
    };
    println!("sequential copy of what is in memory, adaptive to none: median of {COPIES} pairs");
    let ratio = ratio_in(COPY_BYTES);
    let verdict = if ratio <= GOAL_RATIO { "within" } else { "MORE THAN" };
    println!("{:>7} KiB a read: {ratio:.4}  {verdict} {GOAL_RATIO}", COPY_BYTES >> 10);
    println!("{:>7} KiB a read: {:.4}", READ_BYTES >> 10, ratio_in(READ_BYTES));
    ratio <= GOAL_RATIO
}

fn read(reader: &Reader, offset: usize, buf: &mut [u8]) {
    let len = reader.read_at_blocking(buf, offset as u64).expect("memory does not fail");
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
