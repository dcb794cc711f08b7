//! `forerun lab sweep`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use forerun_lab::replay::sweep::{Filled, Shard, Sweep, digest_of_file};
use forerun_lab::workload::find;

use crate::print::say as tell;
use crate::progress::Progress;
use crate::replay::grid::GridOptions;
use crate::replay::output::NumbersOutput;

const EXAMPLES: &str = "\
Examples:
  Four machines that share /net/sweep, each with a quarter:
      forerun lab sweep --traces traces/ --device s3,nvme --into /net/sweep --shard 1/4
      ... 2/4, 3/4 and 4/4 on the others
  The table of all of them, also after one was ended and not repeated:
      forerun lab sweep --traces traces/ --device s3,nvme --into /net/sweep

docs/scale.md has an example for a cluster.";

/// Replay many recordings in parts that machines share
///
/// Replays each recording on each device with each budget and policy, as `forerun replay` does. Each
/// such cell is a file in a folder, and its name is a hash of all that it depends on. Cells that the
/// folder has are not run again, and damaged files are. With --shard, the command runs a part of the
/// cells and prints nothing. Without, it runs those that are missing, and prints the table. The table
/// is the same, whatever ran where.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct SweepCommand {
    /// Recordings, or folders of them
    #[arg(long, value_name = "PATH", num_args = 1.., required = true)]
    traces: Vec<PathBuf>,

    /// The number of accesses to replay of each recording, from its beginning; all without it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    accesses: Option<u64>,

    #[command(flatten)]
    grid: GridOptions,

    /// The folder of the cells; created if it does not exist
    #[arg(long, value_name = "DIR")]
    into: PathBuf,

    /// Run only the I-th of N shares, from 1/N to N/N
    #[arg(long, value_name = "I/N", value_parser = parse_shard, conflicts_with_all = ["json", "csv"])]
    shard: Option<Shard>,

    #[command(flatten)]
    output: NumbersOutput,
}

impl SweepCommand {
    /// Runs the cells, and prints the table unless others run the rest.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        self.output.check(&self.traces)?;
        let reading = Progress::unknown("reading the recordings");
        let found = find(&self.traces, self.accesses)?;
        found.remarks.iter().for_each(|remark| tell(remark));
        if found.workloads.is_empty() {
            let paths: Vec<String> = self.traces.iter().map(|path| path.display().to_string()).collect();
            return Err(format!("no recording in {} can be replayed", paths.join(", ")).into());
        }
        let plan = self.grid.plan(found.workloads)?;
        let sweep = Sweep::new(&plan, &program()?)?;
        drop(reading);
        sweep.left_out().iter().for_each(|reason| tell(&format!("left out: {reason}")));
        std::fs::create_dir_all(&self.into)
            .map_err(|error| format!("the folder {}: {error}", self.into.display()))?;
        let progress = Progress::steps("sweep", 0);
        let filled = sweep.fill(&self.into, self.shard, |done, all| progress.set(done, all))?;
        drop(progress);
        tell(&describe(filled));
        if self.shard.is_none() {
            let outcomes = sweep.outcomes(&self.into)?;
            self.output.write_outcomes(&plan, &outcomes, &[], || plan.tables(&outcomes))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Version and content of this program. Two builds of one version may have other results.
fn program() -> Result<String, Box<dyn Error>> {
    Ok(format!("{} sha256 {}", env!("CARGO_PKG_VERSION"), digest_of_file(Path::new("/proc/self/exe"))?))
}

fn describe(filled: Filled) -> String {
    let Filled { found_count, missing_count, damaged_count } = filled;
    let all = found_count + missing_count + damaged_count;
    let damaged = match damaged_count {
        0 => String::new(),
        count => format!(", {count} of them because their files were damaged"),
    };
    format!("{all} cells: {found_count} were there, {} were run{damaged}", missing_count + damaged_count)
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let number = |text: &str| usize::from_str(text).ok();
    let parts =
        text.split_once('/').and_then(|(number_text, count)| Some((number(number_text)?, number(count)?)));
    match parts {
        Some((number, count)) if (1..=count).contains(&number) => Ok(Shard { number, count }),
        _ => Err("expected a share, from 1/4 to 4/4 if there are four".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_count_from_one() {
        assert_eq!(parse_shard("4/4"), Ok(Shard { number: 4, count: 4 }));
        for wrong in ["0/4", "5/4", "0/0", "1", "1/", "/4", "-1/4", "1/4/4"] {
            assert!(parse_shard(wrong).is_err(), "{wrong}");
        }
    }
}
