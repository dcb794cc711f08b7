//! `forerun lab seeds`.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use forerun_lab::seeds::{self, EXPERIMENTS, Experiment};

use crate::print::say as tell;
use crate::print::show as print;
use crate::progress::Progress;

/// Reproduce the tables of the readahead literature
///
/// Each experiment runs the algorithms of its document on a model of the machine of that time.
/// Forerun and a schedule that knows the future run beside them. The output tells which claims of
/// the document hold in the model. All experiments take about two minutes, and the output is the
/// same on any machine.
#[derive(Debug, clap::Args)]
pub(crate) struct SeedsCommand {
    /// Only these experiments, as in A1,C1, or all whose names begin so, as in I
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,

    /// List the experiments instead
    #[arg(long)]
    list: bool,

    /// Also write each experiment's tables into a file of this directory
    #[arg(long, value_name = "DIRECTORY")]
    out: Option<PathBuf>,
}

impl SeedsCommand {
    /// Runs them. A claim that does not hold is a finding, not a failure.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let chosen = self.chosen()?;
        if self.list {
            let lines = chosen.iter().map(|experiment| format!("{:4} {}\n", experiment.id, experiment.title));
            print(&lines.collect::<String>())?;
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(directory) = &self.out {
            std::fs::create_dir_all(directory)
                .map_err(|error| format!("the directory {}: {error}", directory.display()))?;
        }
        let progress = Progress::steps("seeds", chosen.len());
        let findings = seeds::run(&chosen, |done, all| progress.set(done, all));
        drop(progress);
        for (experiment, findings) in chosen.iter().zip(findings) {
            let text = seeds::show(experiment, &findings);
            print(&format!("{text}\n"))?;
            if let Some(directory) = &self.out {
                let path = directory.join(format!("{}.txt", experiment.id));
                std::fs::write(&path, &text)
                    .map_err(|error| format!("writing {}: {error}", path.display()))?;
            }
        }
        tell("each claim that does not hold gives a reason; docs/seeds.md describes the models");
        Ok(ExitCode::SUCCESS)
    }

    fn chosen(&self) -> Result<Vec<Experiment>, String> {
        let wanted = |experiment: &&Experiment| {
            self.only.is_empty() || self.only.iter().any(|name| experiment.id.starts_with(name.as_str()))
        };
        let chosen: Vec<Experiment> = EXPERIMENTS.iter().filter(wanted).copied().collect();
        if chosen.is_empty() {
            let mut names = String::new();
            for experiment in EXPERIMENTS {
                write!(names, " {}", experiment.id).map_err(|error| error.to_string())?;
            }
            return Err(format!("no experiment is called {}; there are{names}", self.only.join(", ")));
        }
        Ok(chosen)
    }
}
