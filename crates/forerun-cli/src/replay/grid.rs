//! The options of the commands that replay recordings on many devices.

use std::time::Duration;

use clap::ValueEnum;
use forerun_lab::replay::{Plan, Settings};
use forerun_lab::workload::Workload;
use forerun_sim::source::Pace;

use super::lists::{Devices, Policies, device_help};
use crate::units::{nanoseconds, parse_size, parse_time};

/// The policies, devices and budgets, and how recordings are replayed with them.
#[derive(Debug, clap::Args)]
pub(crate) struct GridOptions {
    /// The policies, with commas, or all
    #[arg(long, value_name = "POLICY,...", default_value = "all")]
    policy: Policies,

    /// Also run `adaptive` with the profile of an earlier run of the same recording
    #[arg(long)]
    learned: bool,

    /// The devices, with commas
    #[arg(long, value_name = "DEVICE,...", default_value = "demo", long_help = device_help())]
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

impl GridOptions {
    /// `workloads` with all of them.
    ///
    /// # Errors
    /// A workload that cannot be replayed at the pace.
    pub(crate) fn plan(&self, workloads: Vec<Workload>) -> Result<Plan, String> {
        workloads.iter().try_for_each(|workload| self.check_pace(workload))?;
        Ok(Plan {
            workloads,
            devices: self.device.0.clone(),
            memory_bytes: self.budgets(),
            policies: self.policy.0.clone(),
            learned: self.learned,
            settings: self.settings(),
        })
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
