//! Every workload on every device with every budget under every policy, repeated with different
//! seeds of the device. All policies get the same seeds, so that they meet the same luck.

mod caption;
mod cell;
mod learn;
pub mod sweep;
mod timelines;

use forerun_policies::PolicyKind;
use forerun_sim::device::Preset;
use forerun_sim::source::Pace;

use crate::error::Error;
use crate::outcome::Outcome;
use crate::work::on_all_cores_with;
use crate::workload::Workload;
pub use caption::describe;
pub(crate) use cell::Cell;
use cell::{Job, Part};

/// `adaptive` with what was learned of an earlier run, in tables.
pub const LEARNED: &str = "adaptive+profile";

/// The workloads, and the devices they are replayed on.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The workloads; the names differ.
    pub workloads: Vec<Workload>,
    /// On what.
    pub devices: Vec<Preset>,
    /// With budgets of so many bytes.
    pub memory_bytes: Vec<u64>,
    /// Under which policies.
    pub policies: Vec<PolicyKind>,
    /// Also under `adaptive` with what was learned of an earlier run of the same.
    pub learned: bool,
    /// How.
    pub settings: Settings,
}

/// How workloads are replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How often, at least once.
    pub repeat: u64,
    /// The device's seed the first time; it grows by one each time.
    pub seed: u64,
    /// When accesses are made, or [`Settings::pace_of`]'s choice.
    pub pace: Option<Pace>,
    /// The cost of every read for its reader besides waiting, in nanoseconds.
    pub read_cost_ns: u64,
    /// Ceiling of a policy's window in bytes, for those that do not size it themselves;
    /// the engine's own if `None`.
    pub window_bytes_max: Option<u64>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { repeat: 5, seed: 1, pace: None, read_cost_ns: 0, window_bytes_max: None }
    }
}

impl Settings {
    /// When `workload`'s accesses are made: unless it is said, as their dependencies allow if there
    /// are any, else one after the other.
    pub fn pace_of(&self, workload: &Workload) -> Pace {
        self.pace.unwrap_or(match workload.has_dependencies() {
            true => Pace::Dependencies { think_percent: 100 },
            false => Pace::Closed,
        })
    }
}

impl Plan {
    /// Replays all of it, on all cores. The outcomes are in the order of workloads, devices,
    /// budgets and policies, and the same each time. `progress` hears how many of all runs are done.
    ///
    /// # Errors
    /// A trace cannot be read any more or is larger than a device; a budget that no
    /// engine can keep.
    pub fn run(&self, progress: impl Fn(usize, usize) + Sync) -> Result<Vec<Outcome>, Error> {
        let cells = self.cells();
        cells.iter().try_for_each(Cell::check)?;
        let jobs: Vec<Job<'_>> =
            cells.iter().flat_map(|cell| cell.jobs(&self.policies, self.learned)).collect();
        Ok(self.outcomes(&cells, on_all_cores_with(&jobs, Job::run, progress)?))
    }

    /// Outcomes of the parts of `cells`, which are in the order of the jobs.
    fn outcomes(&self, cells: &[Cell<'_>], parts: Vec<Part>) -> Vec<Outcome> {
        let mut parts = parts.into_iter();
        let mut outcomes = Vec::new();
        for cell in cells {
            let bounds = parts.next().and_then(Part::bounds).unwrap_or_default();
            for policy in self.contenders() {
                let runs = parts.by_ref().take(self.settings.repeat as usize).filter_map(Part::run);
                outcomes.push(Outcome {
                    workload: cell.workload.name().to_owned(),
                    policy: policy.to_owned(),
                    device: cell.device.name().to_owned(),
                    memory_bytes: cell.memory_bytes,
                    runs: runs.collect(),
                    bounds,
                });
            }
        }
        outcomes
    }

    /// The policies' names, and what the run with a profile is called.
    fn contenders(&self) -> impl Iterator<Item = &'static str> {
        self.policies.iter().map(|policy| policy.name()).chain(self.learned.then_some(LEARNED))
    }

    fn cells(&self) -> Vec<Cell<'_>> {
        let mut cells = Vec::new();
        for workload in &self.workloads {
            for device in &self.devices {
                for memory_bytes in self.memory_bytes.iter().copied() {
                    cells.push(Cell { workload, device, memory_bytes, settings: self.settings });
                }
            }
        }
        cells
    }
}
