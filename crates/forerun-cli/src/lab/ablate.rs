//! `forerun lab ablate`.

use std::error::Error;
use std::process::ExitCode;

use forerun::PolicyKind;
use forerun_lab::quick::ablate::{Rule, effects, table};
use forerun_lab::quick::{DEVICES, Survey};

use super::gates::Workloads;
use super::quick::MIXED;
use crate::print::show;
use crate::progress::Progress;
use crate::replay::lists::Devices;

/// Take one rule of adaptive away after the other
///
/// Runs the workloads of `forerun lab gates --quick` with every rule, and once without each. The table says
/// how much longer they take without it, and which row suffers most. A run of all rules takes about half an
/// hour on two cores. docs/adaptive.md explains the columns.
#[derive(Debug, clap::Args)]
pub(crate) struct AblateCommand {
    /// The rules, with commas; all if none is named
    #[arg(long, value_name = "RULE,...", value_delimiter = ',', value_parser = parse_rule)]
    rules: Vec<Rule>,

    /// Only list the rules
    #[arg(long)]
    list: bool,

    /// The devices, with commas; `forerun help replay` lists them
    #[arg(long, value_name = "DEVICE,...", default_value = DEVICES)]
    device: Devices,

    #[command(flatten)]
    workloads: Workloads,
}

impl AblateCommand {
    /// Runs everything once for each rule, and prints the table.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let rules = if self.rules.is_empty() { Rule::ALL } else { &self.rules };
        if self.list {
            rules.iter().try_for_each(|rule| show(&format!("{:16} {}\n", rule.name(), rule.gist())))?;
            return Ok(ExitCode::SUCCESS);
        }
        let plan = Survey {
            cases: self.workloads.cases()?,
            mixed: if self.workloads.only.is_some() { 0 } else { MIXED },
            devices: self.device.0.clone(),
            policies: vec![PolicyKind::Adaptive],
        };
        let progress = Progress::steps("ablate", rules.len());
        let effects = effects(&plan, rules, |_| progress.advance())?;
        drop(progress);
        show(&table(&effects).to_string())?;
        Ok(ExitCode::SUCCESS)
    }
}

fn parse_rule(name: &str) -> Result<Rule, String> {
    let known = || Rule::ALL.iter().map(|rule| rule.name()).collect::<Vec<_>>().join(", ");
    let found = Rule::ALL.iter().copied().find(|rule| rule.name() == name);
    found.ok_or_else(|| format!("no rule is called {name:?}; the rules are {}", known()))
}
