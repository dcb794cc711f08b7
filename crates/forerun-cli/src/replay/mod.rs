//! `forerun replay`.

pub(crate) mod lists;
mod live;
pub(crate) mod output;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use forerun_lab::replay::{Plan, Settings};
use forerun_lab::workload::{Workload, tell_apart};
use forerun_sim::source::Pace;

use crate::progress::Progress;
use crate::trace::RecordingInput;
use crate::units::{nanoseconds, parse_size, parse_time};
use lists::{Devices, Policies};
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

    /// The policies, with commas, or all
    #[arg(long, value_name = "POLICY,...", default_value = "all")]
    policy: Policies,

    /// Also run `adaptive` with the profile of an earlier run of the same recording
    #[arg(long, conflicts_with = "live")]
    learned: bool,

    /// The devices, with commas
    #[arg(long, value_name = "DEVICE,...", default_value = "demo", long_help = lists::device_help())]
    device: Devices,

    /// The memory budgets, with commas, as in 64MiB,1G
    #[arg(long, value_name = "SIZE,...", default_value = "256MiB", value_delimiter = ',', value_parser = parse_size)]
    memory: Vec<u64>,

    /// How often to run each row, each time with another seed
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    repeat: u64,

    /// The seed of a device whose answers are random; it grows by one each time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=1 << 62))]
    seed: u64,

    /// The pace of the accesses; the default is dependencies if the recording has some, else closed
    #[arg(long, value_name = "PACE")]
    pace: Option<PaceName>,

    /// The share of the recorded think time to keep between dependent accesses, in percent
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u64).range(..=10_000))]
    think: Option<u64>,

    /// The time that each read costs its reader besides the wait, as in 20us
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = parse_read_cost)]
    read_cost: Duration,

    /// The largest window of policies that have a fixed maximum; adaptive has none
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    window: Option<u64>,

    #[command(flatten)]
    input: RecordingInput,

    #[command(flatten)]
    output: ReportOutput,

    #[command(flatten)]
    live: LiveOptions,
}

/// Keeps the sum of very many reads' costs within the range of a time.
const READ_COST_MAX: Duration = Duration::from_secs(60);

fn parse_read_cost(text: &str) -> Result<Duration, String> {
    let cost = parse_time(text)?;
    match cost > READ_COST_MAX {
        true => Err("expected a minute at most".to_owned()),
        false => Ok(cost),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PaceName {
    /// Each access at its recorded time, even if earlier ones are late
    Recorded,
    /// Each access when the one before it in its thread is done
    Closed,
    /// Each access when those it depends on are done and its thread has thought
    Dependencies,
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
        workloads.iter().try_for_each(|workload| self.check_pace(workload))?;
        let plan = Plan {
            workloads,
            devices: self.device.0.clone(),
            memory_bytes: self.budgets(),
            policies: self.policy.0.clone(),
            learned: self.learned,
            settings: self.settings(),
        };
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

    /// Each once, in the order given.
    fn budgets(&self) -> Vec<u64> {
        let mut budgets = Vec::new();
        for bytes in &self.memory {
            if !budgets.contains(bytes) {
                budgets.push(*bytes);
            }
        }
        budgets
    }

    fn settings(&self) -> Settings {
        let dependencies = || Pace::Dependencies { think_percent: self.think.unwrap_or(100) };
        let pace = match self.pace {
            Some(PaceName::Recorded) => Some(Pace::Recorded),
            Some(PaceName::Closed) => Some(Pace::Closed),
            Some(PaceName::Dependencies) => Some(dependencies()),
            None => self.think.map(|_| dependencies()),
        };
        Settings {
            repeat: self.repeat,
            seed: self.seed,
            pace,
            read_cost_ns: nanoseconds(self.read_cost),
            window_bytes_max: self.window,
        }
    }

    /// A pace by dependencies needs a recording that has some.
    fn check_pace(&self, workload: &Workload) -> Result<(), String> {
        let option = match (self.pace, self.think) {
            (Some(PaceName::Recorded | PaceName::Closed), Some(_)) => {
                return Err("--think needs --pace dependencies; leave one of them out".to_owned());
            }
            (Some(PaceName::Dependencies), _) => "--pace dependencies",
            (None, Some(_)) => "--think",
            _ => return Ok(()),
        };
        if workload.has_dependencies() {
            return Ok(());
        }
        let path = workload.path().display();
        Err(format!("{option}: {path} has no dependencies between accesses; use --pace closed or recorded"))
    }
}
