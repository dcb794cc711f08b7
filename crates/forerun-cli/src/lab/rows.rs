//! `forerun lab rows`.

use std::error::Error;
use std::process::ExitCode;

use forerun_lab::export;
use forerun_lab::replay::Settings;
use forerun_lab::rows::{Matrix, Scenario, run, tables};
use forerun_sim::device::Preset;

use crate::print::show;
use crate::progress::Progress;
use crate::replay::lists::Policies;
use crate::units::parse_size;

/// Run the standard workloads under every policy
///
/// Runs sequential, backward, strided, interleaved, displaced, sparse and random readers, a walk
/// over small files, and many paced readers in virtual time. Prints useful MB/s and the bytes
/// fetched for each byte requested, beside the best possible.
#[derive(Debug, clap::Args)]
pub(crate) struct RowsCommand {
    /// The device; `forerun help replay` lists them
    #[arg(long, value_name = "NAME", default_value = "demo", value_parser = Preset::from_name)]
    device: Preset,

    /// The memory budget, as in 256MiB
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_size)]
    memory: u64,

    /// The policies, with commas
    #[arg(long, value_name = "POLICIES", default_value = "all")]
    policy: Policies,

    /// Only the workloads whose names contain these words
    #[arg(long, value_name = "WORDS")]
    only: Option<String>,

    /// Print every run's numbers as JSON instead of tables
    #[arg(long)]
    json: bool,
}

impl RowsCommand {
    /// Runs them and prints the tables.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let mut plan = Matrix::new(self.device, self.memory);
        plan.policies = self.policy.0;
        if let Some(words) = &self.only {
            plan.rows = Scenario::named(words)?;
        }
        let progress = Progress::steps("rows", 0);
        let outcomes = run(&plan, |done, all| progress.set(done, all))?;
        drop(progress);
        let settings = Settings { repeat: 1, ..Settings::default() };
        show(&if self.json { export::json(&outcomes, &settings, &[]) } else { tables(&outcomes) })?;
        Ok(ExitCode::SUCCESS)
    }
}
