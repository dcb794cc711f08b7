//! Whether `adaptive` may be called never worse, on every recording and every generated pattern on
//! every device. It is compared with no readahead, with other policies at their best, and with a
//! schedule that knows the future.
//!
//! * [`Case`] is one workload; [`recordings`] finds those of folders and tells their [`Kind`],
//!   [`generated`] makes one of each pattern;
//! * [`Inspection::run`] makes a [`Row`] of each case on each device, which says what every
//!   [`Gate`] has to say about it;
//! * [`Kept`] has the rows of a check that was interrupted;
//! * [`table`] shows the rows, those that fail first, and a line for each gate.

mod best;
mod contender;
mod generated;
mod kept;
mod kind;
mod learned;
mod recordings;
mod repeat;
mod row;
mod verdicts;

use forerun_sim::device::Preset;

use crate::error::Error;
use crate::outcome::Outcome;
use crate::replay::{Cell, Settings};
use crate::work::on_all_cores_with;
use crate::workload::Workload;
use best::Best;
pub use contender::{Against, CONTENDERS, Contender};
pub use generated::generated;
pub use kept::Kept;
pub use kind::{Kind, kind};
pub use recordings::{Recordings, recordings};
pub use row::{Gate, HARM_MARGIN, PEER_MARGIN, Row};
pub use verdicts::table;

/// One workload.
#[derive(Clone, Debug)]
pub struct Case {
    /// The recorded or generated accesses that are replayed.
    pub workload: Workload,
    /// Its kind, which decides the gates that judge it.
    pub kind: Kind,
}

/// The workloads, devices and policies of the gates.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The workloads, each held in memory, with names that differ.
    pub cases: Vec<Case>,
    /// On what.
    pub devices: Vec<Preset>,
    /// With budgets of so many bytes.
    pub memory_bytes: Vec<u64>,
    /// How many seeds a device with luck gets at first, at least two.
    pub seeds: u64,
    /// How many it gets where these do not decide.
    pub seeds_max: u64,
}

/// The outcome of a plan.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// A row for each workload, device and budget, in their order.
    pub rows: Vec<Row>,
    /// Every run behind the rows that were not kept before.
    pub outcomes: Vec<Outcome>,
    /// The workloads that could not be run, and the reasons.
    pub left_out: Vec<String>,
}

impl Judgement {
    /// Whether `gate` holds for all rows, of which there is at least one.
    pub fn hold(&self, gate: Gate) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(|row| row.holds(gate) != Some(false))
    }
}

impl Inspection {
    /// Runs all of it, on all cores; the same each time. Rows that are `kept` are not run again, and new
    /// ones are kept. `progress` hears how many of all rows are done.
    ///
    /// # Errors
    /// A budget that no engine can keep, or a file that takes no more rows.
    pub fn run(
        &self,
        kept: Option<&Kept>,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Judgement, Error> {
        let mut findings = Judgement::default();
        let cells = self.cells(&mut findings.left_out)?;
        for (row, outcomes) in on_all_cores_with(&cells, |cell| self.run_one(cell, kept), progress)? {
            findings.rows.push(row);
            findings.outcomes.extend(outcomes);
        }
        Ok(findings)
    }

    /// The workloads that can be run; the reasons why the rest cannot go to `left_out`.
    fn cells(&self, left_out: &mut Vec<String>) -> Result<Vec<(Cell<'_>, Kind)>, Error> {
        let settings = Settings { repeat: self.seeds.max(2), ..Settings::default() };
        let mut cells = Vec::new();
        for case in &self.cases {
            for device in &self.devices {
                for memory_bytes in self.memory_bytes.iter().copied() {
                    let cell = Cell { workload: &case.workload, device, memory_bytes, settings };
                    match cell.check() {
                        Ok(()) => cells.push((cell, case.kind)),
                        Err(unfit @ Error::Unfit { .. }) => left_out.push(unfit.to_string()),
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        Ok(cells)
    }

    /// A row, and the outcomes behind it if it was run now.
    fn run_one(
        &self,
        (cell, kind): &(Cell<'_>, Kind),
        kept: Option<&Kept>,
    ) -> Result<(Row, Vec<Outcome>), Error> {
        let found =
            kept.and_then(|kept| kept.find(cell.workload.name(), cell.device.name(), cell.memory_bytes));
        if let Some(row) = found {
            return Ok((row.clone(), Vec::new()));
        }
        let best = Best::of(cell, *kind)?;
        let mut outcomes = repeat::run(cell, &best, self.seeds_max)?;
        let is_learned = *kind == Kind::Start;
        let learned = is_learned.then(|| learned::run(cell, &best)).transpose()?;
        let share = learned.as_ref().map(|learned| learned.share);
        let row = Row::of(&outcomes, &best, share, *kind, cell.workload.scan().objects());
        outcomes.extend(learned.map(|learned| learned.outcome));
        kept.map_or(Ok(()), |kept| kept.add(&row))?;
        Ok((row, outcomes))
    }
}
