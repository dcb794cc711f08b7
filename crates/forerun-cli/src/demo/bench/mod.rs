//! `forerun bench`: repeated measurements of a mount's readers, against gates.

mod gate;
mod report;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use super::attacks::AttacksCommand;
use super::clients::ClientsCommand;
use super::crowd::ServerBenchCommand;
use super::link::Shape;
use super::median::median;
use super::nbd_bench::NbdBenchCommand;
use super::processors::PROCESSORS_TAKEN_MAX;
use super::programs::ProgramsCommand;
use super::reader::Pattern;
use super::session::{Measured, Run, Session};
use super::soak::SoakCommand;
use super::vm_bench::VmBenchCommand;
use super::{parse_bytes, parse_pattern};
use crate::print::{show, tell};
use crate::progress::Progress;
use crate::units::{parse_duration, parse_size};

const MEMORY_BYTES: u64 = 256 << 20;
/// Enough for players too.
const LITTLE_MEMORY_BYTES: u64 = 64 << 20;
/// No run is cut short.
const TIME_MAX: Duration = Duration::from_secs(600);

/// Measure the mount, and fail if it misses a promised rate
///
/// Reads through the mount with policy `adaptive`, and compares the medians with the promises. The
/// demo's readers run at several latencies, the others at the latency of the demo.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct BenchCommand {
    #[command(subcommand)]
    other: Option<OtherBench>,

    /// The latencies to measure at
    #[arg(long, value_name = "TIMES", value_delimiter = ',', default_value = "10ms,2ms,50ms", value_parser = parse_duration)]
    latency: Vec<Duration>,

    /// The memory of the mount; the rates are promised with 256 MiB
    #[arg(long, value_name = "SIZES", value_delimiter = ',', default_value = "256MiB", value_parser = parse_size)]
    memory: Vec<u64>,

    /// The readers to run at each of the latencies
    #[arg(long, value_name = "READERS", value_delimiter = ',', value_parser = parse_pattern)]
    only: Vec<Pattern>,

    /// How often to measure; the table has medians
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    repeat: u32,

    /// The size of `one.bin`, and of all files of `big/` together, as in 1GiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_bytes)]
    size: u64,
}

/// Benches with names of their own.
#[derive(Debug, clap::Subcommand)]
enum OtherBench {
    Programs(ProgramsCommand),
    Clients(ClientsCommand),
    Attacks(AttacksCommand),
    Server(ServerBenchCommand),
    Nbd(NbdBenchCommand),
    Vm(VmBenchCommand),
    Soak(SoakCommand),
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
struct BenchCase {
    pattern: Pattern,
    shape: Shape,
    memory_bytes: u64,
    is_learned: bool,
}

/// The outcome of a row: the median rate, and the worst of everything else.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Outcome {
    mb_s: f64,
    fetched_ratio: f64,
    memory_peak_mb: f64,
    late_reads: u64,
    processors_taken: f64,
    is_correct: bool,
}

impl BenchCommand {
    /// Runs the rows. Fails if a gate does not hold.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        match self.other {
            Some(OtherBench::Programs(programs)) => return programs.run(),
            Some(OtherBench::Clients(clients)) => return clients.run(),
            Some(OtherBench::Attacks(attacks)) => return attacks.run(),
            Some(OtherBench::Server(server)) => return server.run(),
            Some(OtherBench::Nbd(nbd)) => return nbd.run(),
            Some(OtherBench::Vm(vm)) => return vm.run(),
            Some(OtherBench::Soak(soak)) => return soak.run(),
            None => {}
        }
        let rows = self.rows();
        let progress = Progress::steps(
            "bench",
            rows.iter().map(BenchCase::measurements).sum::<usize>() * self.repeat as usize,
        );
        let measured = Session::with(self.size, async |session| {
            // Runs all rows once, then again: a temporary disturbance then affects one measurement
            // of each row, not all of one.
            let mut measured = vec![(Vec::new(), Vec::new()); rows.len()];
            for _ in 0..self.repeat {
                for (row, (adaptive, none)) in rows.iter().zip(&mut measured) {
                    if row.has_comparison() {
                        none.push(row.measure(session, "none").await?);
                        progress.advance();
                    }
                    adaptive.push(row.measure(session, "adaptive").await?);
                    progress.advance();
                }
            }
            Ok(measured)
        })?;
        drop(progress);
        let judged: Vec<_> = rows
            .iter()
            .zip(&measured)
            .map(|(row, (adaptive, none))| {
                let none = (!none.is_empty()).then(|| Outcome::of(none));
                (row, row.gate(self.size, none), Outcome::of(adaptive))
            })
            .collect();
        show(&report::report(&judged))?;
        let passed = judged.iter().all(|(_, gate, outcome)| outcome.passes(gate));
        Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn rows(&self) -> Vec<BenchCase> {
        self.memory.iter().flat_map(|memory_bytes| self.rows_of(*memory_bytes)).collect()
    }

    fn rows_of(&self, memory_bytes: u64) -> Vec<BenchCase> {
        let patterns = if self.only.is_empty() { Pattern::DEMO.to_vec() } else { self.only.clone() };
        let shapes = self.latency.iter().map(|latency| Shape { latency: *latency, ..Shape::default() });
        let row = |pattern, shape| BenchCase { pattern, shape, memory_bytes, is_learned: false };
        let mut rows: Vec<_> =
            shapes.flat_map(|shape| patterns.iter().map(move |pattern| row(*pattern, shape))).collect();
        if self.only.is_empty() {
            rows.extend(Pattern::MORE.map(|pattern| row(pattern, Shape::default())));
        }
        let paced =
            rows.iter().filter(|row| row.pattern == Pattern::Paced && memory_bytes > LITTLE_MEMORY_BYTES);
        let little: Vec<_> =
            paced.map(|row| BenchCase { memory_bytes: LITTLE_MEMORY_BYTES, ..*row }).collect();
        rows.extend(little);
        let learned =
            Pattern::LEARNED.into_iter().filter(|pattern| rows.iter().any(|row| row.pattern == *pattern));
        let learned: Vec<_> =
            learned.map(|pattern| BenchCase { is_learned: true, ..row(pattern, Shape::default()) }).collect();
        rows.extend(learned);
        rows
    }
}

impl BenchCase {
    fn title(&self) -> String {
        let learned = if self.is_learned { ", learned" } else { "" };
        format!("{}{learned}", self.pattern.title())
    }

    /// Whether it is measured without readahead too.
    fn has_comparison(&self) -> bool {
        self.pattern == Pattern::Random && !self.is_learned
    }

    /// How often it is measured in one round.
    fn measurements(&self) -> usize {
        1 + usize::from(self.has_comparison())
    }

    async fn measure(&self, session: &mut Session, policy: &str) -> Result<Measured, String> {
        let run = Run {
            policy: policy.to_owned(),
            pattern: self.pattern,
            shape: self.shape,
            memory_bytes: self.memory_bytes,
            is_learned: self.is_learned,
            time_max: TIME_MAX,
            // About 5 s for a reader that waits for each of them.
            random_reads: (5000 / (self.shape.latency.as_millis() as usize + 1)).clamp(50, 400),
        };
        let measured = session.measure(&run).await?;
        tell(&format!(
            "{} ms, {}, policy {policy}: {:.2} MB/s{}",
            self.shape.latency.as_millis(),
            self.title(),
            measured.mb_s(),
            if measured.processors_taken > PROCESSORS_TAKEN_MAX { ", disturbed" } else { "" }
        ));
        Ok(measured)
    }
}

impl Outcome {
    fn of(measured: &[Measured]) -> Outcome {
        let worst = |value: fn(&Measured) -> f64| measured.iter().map(value).fold(0.0, f64::max);
        Outcome {
            mb_s: median(measured.iter().map(Measured::mb_s).collect()),
            fetched_ratio: worst(Measured::fetched_ratio),
            memory_peak_mb: worst(Measured::memory_peak_mb),
            late_reads: measured.iter().map(|one| one.reading.tally.late_reads).max().unwrap_or(0),
            processors_taken: worst(|measured| measured.processors_taken),
            is_correct: measured.iter().all(Measured::is_correct),
        }
    }
}
