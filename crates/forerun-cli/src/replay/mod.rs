//! `forerun replay`.

pub(crate) mod grid;
pub(crate) mod lists;
mod live;
pub(crate) mod output;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use forerun_lab::workload::{Workload, tell_apart};

use crate::progress::Progress;
use crate::trace::RecordingInput;
use grid::GridOptions;
use live::LiveOptions;
use output::ReportOutput;

const EXAMPLES: &str = "\
Examples:
  A recording against every policy, on the store of `forerun demo`:
      forerun replay boot.csv.gz
  Two policies on S3 and on a store that you describe, with two budgets:
      forerun replay app.strace --policy none,adaptive --memory 64MiB,1GiB \\
          --device s3,network:latency=50ms,connection=80MB/s,total=400MB/s
  At the recorded times, with the numbers of every run for other programs:
      forerun replay disk.blktrace.0 --pace recorded --csv runs.csv
  As fast as possible on real storage, through the library, with the files created:
      forerun replay app.strace --live /mnt/slow/replay --live-create --policy none,adaptive
  The numbers only:
      forerun replay boot.csv.gz --json - | jq '.outcomes[].policy'

docs/replay.md tells how to record, and explains the numbers.";

/// Replay recorded accesses against readahead policies, on modelled storage
///
/// Shows the time that each recording takes with each device, budget and policy, beside the best
/// possible, and the bytes fetched. Nothing waits: time is computed, and the output is the same on
/// any machine.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ReplayCommand {
    /// The recordings, in any format of `forerun trace formats`
    #[arg(value_name = "TRACE", required = true)]
    traces: Vec<PathBuf>,

    #[command(flatten)]
    grid: GridOptions,

    #[command(flatten)]
    input: RecordingInput,

    #[command(flatten)]
    output: ReportOutput,

    #[command(flatten)]
    live: LiveOptions,
}

impl ReplayCommand {
    /// Replays, and shows the results.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        self.output.check(&self.traces)?;
        let options = self.input.options();
        let reading = Progress::unknown("reading the recordings");
        let mut workloads =
            self.traces.iter().map(|path| Workload::open(path, options)).collect::<Result<Vec<_>, _>>()?;
        drop(reading);
        tell_apart(&mut workloads)?;
        let plan = self.grid.plan(workloads)?;
        if let Some(url) = self.live.url() {
            let played = self.live.replay(url, &plan, options)?;
            self.output.write_numbers(&plan, &played.outcomes, &[], || played.tables(&plan))?;
            return Ok(ExitCode::SUCCESS);
        }
        let progress = Progress::steps("replay", 0);
        let outcomes = plan.run(|done, all| progress.set(done, all))?;
        drop(progress);
        self.output.write(&plan, &outcomes)?;
        Ok(ExitCode::SUCCESS)
    }
}
