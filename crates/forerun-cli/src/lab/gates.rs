//! `forerun lab gates`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use forerun_lab::export;
use forerun_lab::gates::{Case, Gate, Inspection, Kept, generated, recordings, table};
use forerun_lab::quick::DEVICES;
use forerun_lab::replay::Settings;

use super::quick;
use crate::new_file::check_folder;
use crate::print::say as tell;
use crate::print::show as print;
use crate::progress::Progress;
use crate::replay::lists::{Devices, Policies};
use crate::replay::output::put;
use crate::units::parse_size;

/// The repository's recordings.
const SAMPLES: &str = "samples";

/// Check that adaptive is never worse
///
/// Replays every recording and each generated pattern with adaptive, with none, and with other
/// policies at their best. A row fails if adaptive is 1 % slower than none, or 2 % slower than the
/// best of the others. It also fails if adaptive is far from the best possible time, or wastes many
/// bytes. The command ends with status 1 if a row fails. The output is the same on any machine;
/// docs/gates.md explains it.
///
/// With --quick, the command runs each workload once on each of ten devices, and prints means.
#[derive(Debug, clap::Args)]
pub(crate) struct GatesCommand {
    #[command(flatten)]
    pub(super) workloads: Workloads,

    /// The devices, with commas; `forerun help replay` lists them
    #[arg(
        long,
        value_name = "DEVICE,...",
        default_value = "ide-2006,nvme,rbd-2014,s3",
        default_value_if("quick", "true", DEVICES)
    )]
    pub(super) device: Devices,

    /// The memory budgets, with commas, as in 16MiB,64MiB
    #[arg(long, value_name = "SIZE,...", default_value = "256MiB", value_delimiter = ',', value_parser = parse_size)]
    memory: Vec<u64>,

    /// The number of seeds for devices whose answers are random
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    seeds: u64,

    /// The number of seeds for rows that those do not decide
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    seeds_max: u64,

    /// Write every run's numbers as CSV to FILE
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,

    /// Write every run's numbers as JSON to FILE
    #[arg(long, value_name = "FILE", conflicts_with = "quick")]
    json: Option<PathBuf>,

    /// Keep finished rows in FILE, and go on there after an interruption
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "csv", "json"])]
    resume: Option<PathBuf>,

    /// Print means over many devices instead, in minutes
    #[arg(long, conflicts_with_all = ["memory", "seeds", "seeds_max"])]
    quick: bool,

    /// The policy to look at, and another one to compare it with
    #[arg(long, value_name = "POLICY,...", default_value = "adaptive", requires = "quick")]
    pub(super) policy: Policies,

    /// Compare with the CSV that another build has written with --quick
    #[arg(long, value_name = "FILE", requires = "quick")]
    pub(super) against: Option<PathBuf>,
}

/// The workloads that are replayed.
#[derive(Debug, clap::Args)]
pub(super) struct Workloads {
    /// Recordings, or folders of them, besides those of ./samples
    #[arg(long, value_name = "PATH", num_args = 1..)]
    traces: Vec<PathBuf>,

    /// The number of accesses to replay of each recording, from its beginning
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) accesses: u64,

    /// Only the workloads whose names contain these words
    #[arg(long, value_name = "WORDS")]
    pub(super) only: Option<String>,
}

impl Workloads {
    /// The recordings and patterns whose names contain the words.
    pub(super) fn cases(&self) -> Result<Vec<Case>, Box<dyn Error>> {
        let samples = Path::new(SAMPLES).is_dir().then(|| PathBuf::from(SAMPLES));
        let paths: Vec<PathBuf> = samples.into_iter().chain(self.traces.iter().cloned()).collect();
        let found = recordings(&paths, self.accesses)?;
        found.remarks.iter().for_each(|remark| tell(remark));
        let mut cases = found.cases;
        cases.extend(generated());
        let Some(words) = &self.only else { return Ok(cases) };
        let wanted = words.to_lowercase();
        let names: Vec<String> = cases.iter().map(|case| case.workload.name().to_owned()).collect();
        cases.retain(|case| case.workload.name().to_lowercase().contains(&wanted));
        if cases.is_empty() {
            let known = names.join("\n  ");
            return Err(
                format!("no workload's name contains {words:?}; the workloads are:\n  {known}").into()
            );
        }
        Ok(cases)
    }
}

impl GatesCommand {
    /// Runs them and prints the table.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        [&self.csv, &self.json].into_iter().flatten().try_for_each(|path| check_folder(path))?;
        if self.quick {
            return quick::run(&self);
        }
        let plan = self.plan()?;
        let key = self.key()?;
        let kept = self.resume.as_ref().map(|path| Kept::open(path, &key)).transpose()?;
        let progress = Progress::steps("gates", 0);
        let findings = plan.run(kept.as_ref(), |done, all| progress.set(done, all))?;
        drop(progress);
        print(&table(&plan, &findings))?;
        let settings = Settings { repeat: self.seeds, ..Settings::default() };
        if let Some(path) = &self.csv {
            put(path, &export::csv(&findings.outcomes, &settings))?;
        }
        if let Some(path) = &self.json {
            put(path, &export::json(&findings.outcomes, &settings, &[]))?;
        }
        match Gate::ALL.into_iter().all(|gate| findings.hold(gate)) {
            true => Ok(ExitCode::SUCCESS),
            false => Ok(ExitCode::FAILURE),
        }
    }

    /// Names this build, and the options that rows depend on.
    fn key(&self) -> std::io::Result<String> {
        let program = std::fs::metadata(std::env::current_exe()?)?;
        let built = program.modified()?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let GatesCommand { seeds, seeds_max, workloads: Workloads { accesses, .. }, .. } = self;
        let version = env!("CARGO_PKG_VERSION");
        Ok(format!("forerun {version} {} {seeds} {seeds_max} {accesses}", built.as_nanos()))
    }

    fn plan(&self) -> Result<Inspection, Box<dyn Error>> {
        Ok(Inspection {
            cases: self.workloads.cases()?,
            devices: self.device.0.clone(),
            memory_bytes: self.memory.clone(),
            seeds: self.seeds,
            seeds_max: self.seeds_max,
        })
    }
}
