//! Runs schedules of faults, or one again.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Parser;
use forerun_faults::{Verdict, replay, run};

/// Run Forerun over simulated servers that fail.
#[derive(Parser)]
struct Arguments {
    /// Run this one schedule, and print all that happens.
    #[arg(long)]
    seed: Option<u64>,
    /// How many schedules to run.
    #[arg(long, default_value_t = 10_000)]
    schedules: u64,
    /// The seed of the first; the others follow.
    #[arg(long, default_value_t = 0)]
    first: u64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(seed) = arguments.seed {
        let verdict = run(seed, true);
        print!("{}", verdict.trace);
        println!("trace {:016x}", verdict.trace_hash);
        return report(seed, &verdict);
    }
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    let (began, next) = (Instant::now(), AtomicU64::new(arguments.first));
    let end = arguments.first.saturating_add(arguments.schedules);
    let (failed, reads, longest_ms) = (Mutex::new(BTreeMap::new()), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    let verdict = run(seed, false);
                    reads.fetch_add(verdict.read_count, Ordering::Relaxed);
                    longest_ms.fetch_max(verdict.longest.as_millis() as u64, Ordering::Relaxed);
                    if !verdict.accusations.is_empty() {
                        report(seed, &verdict);
                        failed.lock().expect("no thread panics with it").insert(seed, verdict);
                    }
                }
            });
        }
    });
    let (took, failed) = (began.elapsed().as_secs_f64(), failed.into_inner().expect("no thread panicked"));
    println!(
        "{} schedules with {} reads in {took:.1} s, {:.0} a second; the longest operation took {} virtual s; \
         {} failed",
        arguments.schedules,
        reads.into_inner(),
        arguments.schedules as f64 / took,
        longest_ms.into_inner() / 1000,
        failed.len()
    );
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn report(seed: u64, verdict: &Verdict) -> ExitCode {
    if verdict.accusations.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("seed {seed}:");
    verdict.accusations.iter().for_each(|what| println!("  {what}"));
    println!("  {}", replay(seed));
    ExitCode::FAILURE
}
