//! `forerun lab fairness`.

use std::error::Error;
use std::process::ExitCode;

use forerun_lab::sharing::{FILES_EACH_MAX, SharingTrial, figures, tables};
use forerun_sim::queue::ELEVATORS;

use crate::progress::Progress;
use crate::replay::lists::Policies;
use crate::replay::output::NumbersOutput;
use crate::units::parse_size;

/// Show how fairly clients share a server or a store
///
/// The first table has five clients of a file server, as in seed 004. The server is Linux 2.4 with
/// several elevators, or Forerun with several policies, on the disk or over a file system. The second
/// table has clients that read from one engine, such as one with many requests in flight beside
/// others. All of it runs in virtual time. docs/sharing.md explains the shares, and
/// `make bench-fairness` measures them in real time.
#[derive(Debug, clap::Args)]
pub(crate) struct FairnessCommand {
    /// The elevators of the file server's disk, with commas
    #[arg(
        long,
        value_name = "NAME,...",
        default_value = "linus,deadline,cfq,bfq",
        value_delimiter = ',',
        value_parser = parse_elevator
    )]
    elevator: Vec<&'static str>,

    /// The policies of the engine, with commas, or all
    #[arg(long, value_name = "POLICY,...", default_value = "none,ondemand,adaptive")]
    policy: Policies,

    /// The memory of the file server for files; the default has room for about half of those in use
    #[arg(long, value_name = "SIZE", default_value = "80MiB", value_parser = parse_size)]
    memory: u64,

    /// The number of files of 30 MiB that each client of the file server writes and reads back
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=FILES_EACH_MAX))]
    files: u64,

    /// The seed of the times at which these clients begin
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    output: NumbersOutput,
}

impl FairnessCommand {
    /// Runs them, and prints the tables.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        self.output.check(&[])?;
        let trial = SharingTrial {
            elevators: self.elevator,
            policies: self.policy.0,
            memory_bytes: self.memory,
            files_each: self.files,
            seed: self.seed,
        };
        let progress = Progress::steps("fairness", 0);
        let rows = trial.run(|done, all| progress.set(done, all))?;
        drop(progress);
        self.output.write_figures(&figures(&rows), || tables(&trial, &rows))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn parse_elevator(name: &str) -> Result<&'static str, String> {
    let known = ELEVATORS.iter().copied().find(|known| *known == name);
    known.ok_or_else(|| format!("no elevator is called {name:?}; there are {}", ELEVATORS.join(", ")))
}
