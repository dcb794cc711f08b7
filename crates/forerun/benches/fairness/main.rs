//! How fairly readers share a store that gives 100 MB/s in all, 10 ms away.
//!
//! * Five read a file of 1 GB each, one of them with 16 requests in flight.
//! * Three clients with the weights 1, 2 and 4.
//! * Four read 4 KiB at random, alone, and beside one that reads a file in order.
//!
//! Fails where one of [`GOALS`] is missed. `make bench-fairness`

mod readers;
mod store;

use std::process::ExitCode;
use std::time::Duration;

use readers::{Order, Readers, Way};
use store::{CAP, FILE_BYTES};

/// The first is done at this share of the time of the last.
const FIRST_TO_LAST_MIN: f64 = 0.9;
/// Jain's index of each second: 1 if all get the same, one over their number if one gets all.
const JAIN_MIN: f64 = 0.98;
/// All together get this share of what the store gives.
const TOTAL_MIN: f64 = 0.95;
/// A client's share differs by so much from its weight's.
const WEIGHT_ERROR_MAX: f64 = 0.05;
/// The wait of random readers, at the 99th percentile, beside one in order, to that alone.
const WAIT_MAX: f64 = 2.0;
const RUN: Duration = Duration::from_secs(12);

const ONE: Way = Way { order: Order::Forward, in_flight: 1, weight: 1 };
const MANY: Way = Way { in_flight: 16, ..ONE };
const RANDOM: Way = Way { order: Order::Random, ..ONE };

fn main() -> ExitCode {
    let is_met = [five(), weighted(), waits()];
    if is_met.iter().all(|is_met| *is_met) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn judge(what: &str, figure: f64, is_met: bool, goal: &str) -> bool {
    println!("  {what}: {figure:.3} ({goal}){}", if is_met { "" } else { " MISSED" });
    is_met
}

/// Jain's index of what each has got.
fn jain(shares: &[f64]) -> f64 {
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    sum * sum / (shares.len() as f64 * squares)
}

fn five() -> bool {
    println!("five readers of 1 GB each, 128 KiB at a time, the last with 16 requests in flight");
    let run = Readers::start(&[ONE, ONE, ONE, ONE, MANY]).finish();
    let seconds: Vec<f64> = run.ends.iter().map(Duration::as_secs_f64).collect();
    println!("  s: {seconds:.1?}");
    let last = seconds.iter().copied().fold(0.0, f64::max);
    let first = seconds.iter().copied().fold(last, f64::min);
    let windows: Vec<f64> = run.whole_seconds().iter().map(|shares| jain(shares)).collect();
    let least = windows.iter().copied().fold(1.0, f64::min);
    let total = (seconds.len() as u64 * FILE_BYTES) as f64 / last / CAP as f64;
    [
        judge("first / last", first / last, first / last >= FIRST_TO_LAST_MIN, "at least 0.9"),
        judge("the least Jain index of a second", least, least >= JAIN_MIN, "at least 0.98"),
        judge("seconds", windows.len() as f64, windows.len() >= 10, "at least 10"),
        judge("total / cap", total, total >= TOTAL_MIN, "at least 0.95"),
    ]
    .iter()
    .all(|is_met| *is_met)
}

fn weighted() -> bool {
    println!("three clients with the weights 1, 2 and 4, 128 KiB at a time");
    let weights = [1, 2, 4];
    let run = Readers::start(&weights.map(|weight| Way { weight, ..ONE })).stop_after(RUN);
    let sum: u64 = run.bytes.iter().sum();
    let parts = run.bytes.iter().zip(weights);
    let shares: Vec<f64> =
        parts.map(|(bytes, weight)| *bytes as f64 / sum as f64 * 7.0 / f64::from(weight)).collect();
    println!("  share of its weight's: {shares:.3?}");
    let worst = shares.iter().map(|share| (share - 1.0).abs()).fold(0.0, f64::max);
    let total = sum as f64 / run.time.as_secs_f64() / CAP as f64;
    [
        judge("the largest error", worst, worst <= WEIGHT_ERROR_MAX, "at most 0.05"),
        judge("total / cap", total, total >= TOTAL_MIN, "at least 0.95"),
    ]
    .iter()
    .all(|is_met| *is_met)
}

fn waits() -> bool {
    println!("four readers of 4 KiB at random, without and with one in order");
    let wait = |ways: &[Way]| {
        let mut run = Readers::start(ways).stop_after(RUN);
        let p99 = run.wait(0.99, Order::Random).as_secs_f64() * 1e3;
        let p50 = run.wait(0.5, Order::Random).as_secs_f64() * 1e3;
        let forward = run.bytes.get(4).map_or(0.0, |bytes| *bytes as f64 / run.time.as_secs_f64() / 1e6);
        println!("  {p50:.1} ms at the 50th percentile, {p99:.1} ms at the 99th; in order {forward:.0} MB/s");
        p99
    };
    let (alone, beside) = (wait(&[RANDOM; 4]), wait(&[RANDOM, RANDOM, RANDOM, RANDOM, ONE]));
    judge("99th percentile, with / without", beside / alone, beside / alone <= WAIT_MAX, "at most 2")
}
