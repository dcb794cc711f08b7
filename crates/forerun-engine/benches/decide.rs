//! The cost of a decision: `cargo bench -p forerun-engine`. Fails past [`GOAL_NS`].
//!
//! *Read* is the call in which a reader asks for an extent and the policy decides. *Turn* is all work of
//! the engine for a read, with its fetches, until its bytes are released, and the work of the bed. Valgrind
//! counts instructions, where it is installed. They are the same on every machine with the same compiler.

use std::process::{Command, ExitCode};
use std::time::Instant;

use forerun_engine::PolicyChoice;
use patterns::Pattern;

#[path = "../tests/support/bed.rs"]
mod bed;
#[path = "../tests/support/counting.rs"]
mod counting;
#[path = "../tests/support/patterns.rs"]
mod patterns;
#[path = "../tests/support/state.rs"]
mod state;

#[global_allocator]
static COUNTING: counting::Counting = counting::Counting;

/// The median of a decision.
const GOAL_NS: u64 = 700;
const READS_PER_RUN: u64 = 20_000;
/// Odd, so that one of them is the median.
const RUNS: usize = 9;
/// Reads whose instructions are counted, and those before them.
const COUNTED: u64 = 4000;
const DECIDES: &str =
    "<forerun_engine::policy::adaptive::Adaptive as forerun_engine::policy::Policy>::on_read";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, pattern, policy, count] = &args[..]
        && mode == "--reads"
    {
        repeat(pattern, policy, count);
        return ExitCode::SUCCESS;
    }
    println!(
        "Decisions of adaptive, medians of {RUNS} runs of {READS_PER_RUN} reads; 'none' is the engine without"
    );
    println!(
        "                ns a read   none  goal       ns a turn   none  instructions: a decision  a turn   none"
    );
    let mut is_within = true;
    for (pattern, [adaptive, none]) in Pattern::ALL.into_iter().zip(timed(clock_ns())) {
        is_within &= adaptive.0 <= GOAL_NS;
        let verdict = if adaptive.0 <= GOAL_NS { "within" } else { "MORE THAN" };
        let counts = [
            counted(pattern, PolicyChoice::Adaptive, Some(DECIDES)),
            counted(pattern, PolicyChoice::Adaptive, None),
            counted(pattern, PolicyChoice::None, None),
        ]
        .map(|count| count.map_or("?".to_owned(), |count| count.to_string()));
        println!(
            "{:>15} {:9} {:6}  {verdict} {GOAL_NS} {:9} {:6} {:25} {:>7} {:>6}",
            pattern.name(),
            adaptive.0,
            none.0,
            adaptive.1,
            none.1,
            counts[0],
            counts[1],
            counts[2]
        );
    }
    let state =
        [state::bytes_per_stream(), state::bytes_per_open_object(0), state::bytes_per_open_object(16)];
    println!(
        "State in bytes: {} a stream (goal 4096), {} an open object and {} once it was read (goal 1024)",
        state[0], state[1], state[2]
    );
    is_within &= state[0] <= 4 << 10 && state[1].max(state[2]) <= 1 << 10;
    if is_within { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The part that valgrind runs.
fn repeat(pattern: &str, policy: &str, count: &str) {
    let pattern = Pattern::ALL.into_iter().find(|known| known.name() == pattern).expect("a known pattern");
    let policy = if policy == "none" { PolicyChoice::None } else { PolicyChoice::Adaptive };
    let count = count.parse().expect("a number");
    let mut bed = pattern.bed(policy, 2 * COUNTED);
    (0..count).for_each(|index| _ = pattern.read(&mut bed, index));
}

/// Nanoseconds of a read and of a turn.
type Times = (u64, u64);

/// Of each pattern, with `adaptive` and without. All of them run once, then again: what disturbs
/// the machine for a while then disturbs one run of each, not all of one.
fn timed(clock: u64) -> Vec<[Times; 2]> {
    let mut runs = vec![[const { Vec::new() }; 2]; Pattern::ALL.len()];
    for _ in 0..RUNS {
        for (pattern, both) in Pattern::ALL.into_iter().zip(&mut runs) {
            for (policy, times) in [PolicyChoice::Adaptive, PolicyChoice::None].into_iter().zip(both) {
                times.push(run(pattern, policy, clock));
            }
        }
    }
    runs.into_iter().map(|both| both.map(medians)).collect()
}

fn medians(mut runs: Vec<Times>) -> Times {
    let mut median = |of: fn(&Times) -> u64| {
        runs.sort_unstable_by_key(of);
        of(&runs[RUNS / 2])
    };
    (median(|run| run.0), median(|run| run.1))
}

/// The median of the reads, and the mean of the turns.
fn run(pattern: Pattern, policy: PolicyChoice, clock: u64) -> Times {
    let mut bed = pattern.bed(policy, READS_PER_RUN);
    let begun = Instant::now();
    let mut took: Vec<u64> = (0..READS_PER_RUN).map(|index| pattern.read(&mut bed, index)).collect();
    let turn = begun.elapsed().as_nanos() as u64 / READS_PER_RUN;
    took.sort_unstable();
    (took[took.len() / 2].saturating_sub(clock), turn.saturating_sub(clock))
}

/// The cost of reading the clock.
fn clock_ns() -> u64 {
    let mut looks: Vec<u64> = (0..10_001).map(|_| Instant::now().elapsed().as_nanos() as u64).collect();
    looks.sort_unstable();
    looks[looks.len() / 2]
}

/// Instructions of one read, in `function` or in all; none without valgrind.
fn counted(pattern: Pattern, policy: PolicyChoice, function: Option<&str>) -> Option<u64> {
    let reads = |count: u64| {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        valgrind.args(function.map(|name| format!("--toggle-collect={name}")));
        valgrind.arg(std::env::current_exe().ok()?);
        let policy = if matches!(policy, PolicyChoice::None) { "none" } else { "adaptive" };
        valgrind.args(["--reads", &pattern.name(), policy, &count.to_string()]);
        let said = String::from_utf8(valgrind.output().ok()?.stderr).ok()?;
        let line = said.lines().find_map(|line| line.split_once("Collected :"))?;
        line.1.trim().parse::<u64>().ok()
    };
    Some(reads(2 * COUNTED)?.checked_sub(reads(COUNTED)?)? / COUNTED)
}
