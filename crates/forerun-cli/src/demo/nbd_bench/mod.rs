//! `forerun bench nbd`: reads of network block devices on the demo's store, by Forerun and by nbdkit.

mod block_client;
mod disk_reads;
mod nbd_goal;
mod nbd_run;
mod nbd_table;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;

use self::disk_reads::DiskReads;
use self::nbd_run::{NbdBench, NbdRun};
use self::nbd_table::NbdComparison;
use super::link::Shape;
use super::rounds::rounds;
use super::session::{on_threads_of_its_own, stop_asked};
use crate::print::{show, tell};
use crate::progress::Progress;
use crate::units::parse_duration;

/// Measure network block devices, beside nbdkit
///
/// Forerun and nbdkit's curl plugin serve an object of the demo's store at a Unix socket. One client reads from
/// each of them in turn, on one connection, and checks every byte. qemu-img copies the object as well. At last,
/// bytes in memory are read from Forerun and from nbdkit's memory plugin. The command fails if Forerun misses a
/// goal. `make bench-nbd` installs the other programs.
#[derive(Debug, clap::Args)]
pub(crate) struct NbdBenchCommand {
    /// The reads to make; all of them by default
    #[arg(long, value_name = "READS", value_delimiter = ',')]
    only: Vec<DiskReads>,

    /// How long each request to the store waits for its first byte, as in 10ms
    #[arg(long, value_name = "TIME", default_value = "2ms", value_parser = parse_duration)]
    latency: Duration,

    /// How often to measure; medians count
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    repeat: u32,
}

impl NbdBenchCommand {
    /// Measures and prints the table. Fails if Forerun misses a goal, or if a byte was wrong.
    ///
    /// # Errors
    /// The step that failed.
    pub(super) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let shape = Shape { latency: self.latency, ..Shape::default() };
        let comparisons = on_threads_of_its_own(async {
            let stop = stop_asked()?;
            let bench = NbdBench::start(shape).await?;
            tokio::select! {
                done = self.measure_all(&bench) => done,
                () = stop => Err("interrupted".to_owned()),
            }
        })?;
        show(&nbd_table::report(&comparisons, shape))?;
        let holds = comparisons.iter().all(|comparison| comparison.holds(shape));
        Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    async fn measure_all(&self, bench: &NbdBench) -> Result<Vec<NbdComparison>, String> {
        let all = if self.only.is_empty() { DiskReads::value_variants().to_vec() } else { self.only.clone() };
        let progress = Progress::steps("bench nbd", all.len());
        let mut comparisons = Vec::new();
        for reads in all {
            comparisons.push(self.measure(bench, reads).await?);
            progress.advance();
        }
        Ok(comparisons)
    }

    /// Measures all servers in rounds.
    async fn measure(&self, bench: &NbdBench, reads: DiskReads) -> Result<NbdComparison, String> {
        let servers = reads.servers();
        let mut runs: Vec<Vec<NbdRun>> = vec![Vec::new(); servers.len()];
        for place in rounds(self.repeat, servers.len()) {
            let name = format!("{}, {}", reads.title(), servers[place].title());
            let run = bench.measure(reads, servers[place]).await;
            let run = run.map_err(|error| format!("{name}: {error}"))?;
            tell(&format!("{name}: {:.3} s", run.elapsed.as_secs_f64()));
            runs[place].push(run);
        }
        Ok(NbdComparison::of(reads, servers, &runs))
    }
}
