//! How many accesses a second a core simulates: `cargo bench -p forerun-lab --bench speed`.
//! Fails below [`FLOOR`], and if memory grows with the length of a trace.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use forerun_engine::Config;
use forerun_lab::table::{Column, Table};
use forerun_lab::workload::{Failure, Workload};
use forerun_policies::PolicyKind;
use forerun_sim::device::Preset;
use forerun_sim::source::{Pace, Replay, Scan};
use forerun_sim::world::World;
use forerun_trace::{Access, ReadOptions};

/// Simulated accesses a second: a day of a busy disk in a minute.
const FLOOR: f64 = 1e6;
const RUNS: usize = 5;
/// A measurement is this long at least.
const LONG_ENOUGH: Duration = Duration::from_millis(400);
/// How much more memory a trace 20 times as long may need.
const GROWTH_BYTES_MAX: u64 = 1 << 20;

fn main() -> ExitCode {
    // First, while the process has needed no memory for anything else.
    let stays = memory_stays();
    let fast = is_fast();
    if stays && fast { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn is_fast() -> bool {
    let mut table = Table::new([
        Column::word("accesses"),
        Column::word("device"),
        Column::number("median").below("million a second"),
        Column::number("lowest").below("million a second"),
        Column::number("highest").below("million a second"),
    ]);
    let mut fast = true;
    for (trace, sample) in [("boot-ide.csv.gz", "boot-ide.frt.gz"), ("boot-virtio.csv", "boot-virtio.frt.gz")]
    {
        let workload = Workload::open(&find(trace, sample), ReadOptions::default()).expect("a whole trace");
        let failure = Failure::default();
        let accesses: Vec<Access> = workload.accesses(&failure).collect();
        for device in ["demo", "s3"] {
            let preset = Preset::from_name(device).expect("a known device");
            let mut rates: Vec<f64> = (0..RUNS).map(|_| rate(&accesses, workload.scan(), &preset)).collect();
            rates.sort_by(f64::total_cmp);
            fast &= rates[RUNS / 2] >= FLOOR;
            let millions = |at: usize| format!("{:.2}", rates[at] / 1e6);
            table.row([
                workload.name().into(),
                device.into(),
                millions(RUNS / 2),
                millions(0),
                millions(RUNS - 1),
            ]);
        }
    }
    print!("{table}");
    if !fast {
        eprintln!("less than {:.0} million accesses a second", FLOOR / 1e6);
    }
    fast
}

/// The recording, or where it is not here the sample of it.
fn find(trace: &str, sample: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = std::env::var_os("FORERUN_SHARED").map_or(root.join("../shared"), PathBuf::from);
    let path = shared.join("traces/csv").join(trace);
    if path.exists() { path } else { root.join("samples").join(sample) }
}

fn world(preset: &Preset, memory_bytes: u64) -> World<'static> {
    let config = Config { policy: PolicyKind::Adaptive.into(), ..Config::new(memory_bytes) };
    World::new(config, preset.build(1)).expect("a good configuration")
}

/// Accesses a second of one core, of whole replays of a trace that is in memory.
fn rate(accesses: &[Access], scan: &Scan, preset: &Preset) -> f64 {
    let begin = spent_by_this_thread();
    let mut count = 0;
    loop {
        let mut source = Replay::new(accesses.iter().cloned(), scan.clone(), Pace::Closed);
        let run = world(preset, 256 << 20).run(&mut source).expect("a run that ends");
        assert!(run.elapsed_ns > 0);
        count += accesses.len();
        let spent = spent_by_this_thread() - begin;
        if spent >= LONG_ENOUGH {
            return count as f64 / spent.as_secs_f64();
        }
    }
}

/// Whether the most memory that this process had is the same for a trace once and 20
/// times, each time read from its file.
fn memory_stays() -> bool {
    let path = find("boot-virtio.csv", "boot-virtio.frt.gz");
    let workload = Workload::open(&path, ReadOptions::default()).expect("a whole trace");
    let preset = Preset::from_name("s3").expect("a known device");
    let failure = Failure::default();
    let peak_of = |times: usize| {
        let accesses = (0..times).flat_map(|_| workload.accesses(&failure));
        let mut source = Replay::new(accesses, workload.scan().clone(), Pace::Closed);
        let run = world(&preset, 32 << 20).run(&mut source).expect("a run that ends");
        assert_eq!(run.read_count, times as u64 * workload.scan().read_count);
        peak_bytes()
    };
    let (once, often) = (peak_of(1), peak_of(20));
    println!("peak memory of the process: {once} bytes with a trace once, {often} with it 20 times");
    let stays = often <= once + GROWTH_BYTES_MAX;
    if !stays {
        eprintln!("memory grows with the length of the trace");
    }
    stays
}

/// Time on a core: others that use the machine do not count.
fn spent_by_this_thread() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells");
    let ns = stat.split_whitespace().next().and_then(|number| number.parse().ok());
    Duration::from_nanos(ns.expect("a number"))
}

/// The most memory that this process had.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux tells the peak");
    let kibibytes = line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok());
    kibibytes.expect("a number") << 10
}
