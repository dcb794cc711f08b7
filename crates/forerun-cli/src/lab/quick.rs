//! `forerun lab gates --quick`.

use std::error::Error;
use std::process::ExitCode;

use forerun::PolicyKind;
use forerun_lab::quick::{Survey, file, table};

use super::gates::GatesCommand;
use crate::print::show;
use crate::progress::Progress;
use crate::replay::output::put;

/// The number of mixed workloads on each device.
pub(super) const MIXED: u64 = 200;

/// Runs everything once, prints the table, and writes the file for a later comparison.
pub(super) fn run(command: &GatesCommand) -> Result<ExitCode, Box<dyn Error>> {
    let policies = &command.policy.0;
    let [policy, others @ ..] = policies.as_slice() else { return Err("name a policy".into()) };
    if others.len() > 1 || (others.len() == 1 && command.against.is_some()) {
        return Err(
            "--quick compares with one other: give one policy and --against FILE, or two policies".into()
        );
    }
    let before = match &command.against {
        Some(path) => {
            let text =
                std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
            let cells = file::read(&text).map_err(|error| format!("{}: {error}", path.display()))?;
            Some((cells, path.display().to_string()))
        }
        None => None,
    };
    let others_than_none = policies.iter().copied().filter(|policy| *policy != PolicyKind::None);
    let plan = Survey {
        cases: command.workloads.cases()?,
        mixed: if command.workloads.only.is_some() { 0 } else { MIXED },
        devices: command.device.0.clone(),
        policies: std::iter::once(PolicyKind::None).chain(others_than_none).collect(),
    };
    let progress = Progress::steps("gates", 0);
    let cells = plan.run(|done, all| progress.set(done, all))?;
    drop(progress);
    let other = match (&before, others) {
        (Some((cells, title)), _) => Some((policy.name(), cells.as_slice(), title.as_str())),
        (None, [other]) => Some((other.name(), cells.as_slice(), other.name())),
        _ => None,
    };
    show(&table(&cells, policy.name(), other))?;
    if let Some(path) = &command.csv {
        put(path, &file::write(&cells))?;
    }
    Ok(ExitCode::SUCCESS)
}
