//! A table of minutes for developers of a policy: many workloads on many devices, each with one of
//! several budgets. It compares with `none`, and with another policy, an earlier build, or the same
//! policy without one of its rules.
//!
//! * [`Survey::run`] replays everything once and makes a [`Score`] of each workload, device and policy;
//! * [`mod@file`] keeps cells for a comparison with a later build;
//! * [`table`] compares them, a line for each device;
//! * `ablate` takes one rule away after the other, in a build that can.

#[cfg(feature = "ablate")]
pub mod ablate;
pub mod file;
mod means;
mod mixed;

use forerun_policies::PolicyKind;
use forerun_sim::device::Preset;
use forerun_sim::run::Run;

use crate::error::Error;
use crate::gates::Case;
use crate::replay::{self, Settings};
use crate::work::on_all_cores_with;
pub use means::table;

/// The devices of the table, from a disk of 2001 to a store far away.
pub const DEVICES: &str = "demo,ide-2006,scsi-2001,nvme,rbd-2014,nfs-gbe,s3,\
    network:latency=2ms,connection=80MB/s,total=400MB/s,\
    network:latency=35ms,connection=80MB/s,total=400MB/s,\
    network:latency=100ms,connection=80MB/s,total=400MB/s";

/// The budgets in bytes. Workloads and devices get one each, in turn.
pub const MEMORY_BYTES: [u64; 4] = [16 << 20, 64 << 20, 256 << 20, 4 << 30];

/// Of a device with luck.
const SEEDS: u64 = 5;

/// The workloads, devices and policies of a table.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Recordings and generated patterns, each held in memory, with names that differ.
    pub cases: Vec<Case>,
    /// How many of the workloads that are made of a number.
    pub mixed: u64,
    /// On what.
    pub devices: Vec<Preset>,
    /// Under which policies, each once.
    pub policies: Vec<PolicyKind>,
}

/// The outcome of one policy on one workload, device and budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Score {
    /// Where the cell stands.
    pub place: Place,
    /// The policy's name.
    pub policy: String,
    /// From the beginning to the end, in nanoseconds: the geometric mean of its seeds, at least one.
    pub elapsed_ns: u64,
    /// Bytes fetched that nobody read, on average.
    pub wasted_bytes: u64,
    /// Bytes fetched, on average.
    pub fetched_bytes: u64,
}

/// The key that two compared cells have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The device's name.
    pub device: String,
    /// Whether the workload is made of a number.
    pub is_mixed: bool,
    /// The workload's name.
    pub workload: String,
    /// The budget in bytes.
    pub memory_bytes: u64,
}

impl Place {
    /// The outcome of `runs`, of which there is at least one.
    fn of(self, policy: PolicyKind, runs: &[Run]) -> Score {
        let count = runs.len() as f64;
        let logarithms: f64 = runs.iter().map(|run| (run.elapsed_ns.max(1) as f64).ln()).sum();
        let mean = |value: fn(&Run) -> u64| runs.iter().map(value).sum::<u64>() / runs.len() as u64;
        Score {
            place: self,
            policy: policy.name().to_owned(),
            elapsed_ns: (logarithms / count).exp().round() as u64,
            wasted_bytes: mean(|run| run.wasted_bytes),
            fetched_bytes: mean(|run| run.device.read_bytes),
        }
    }
}

/// The seeds of `device`, all the same for each policy.
fn seeds(device: &Preset) -> std::ops::RangeInclusive<u64> {
    1..=if device.has_luck() { SEEDS } else { 1 }
}

/// The workloads that are replayed in one place.
enum Task<'a> {
    Case(&'a Case, &'a Preset, u64),
    Mixed(u64, &'a Preset, u64),
}

impl Survey {
    /// Replays all of it once, on all cores; the same each time. `progress` hears how much of a whole
    /// is done.
    ///
    /// # Errors
    /// A recording cannot be read any more, or a reader hangs.
    pub fn run(&self, progress: impl Fn(usize, usize) + Sync) -> Result<Vec<Score>, Error> {
        let jobs = self.jobs();
        let cells = on_all_cores_with(&jobs, |job| self.run_one(job), progress)?;
        Ok(cells.into_iter().flatten().collect())
    }

    fn jobs(&self) -> Vec<Task<'_>> {
        let mut jobs = Vec::new();
        for (place, device) in self.devices.iter().enumerate() {
            // The next device begins with the next budget, so that each workload meets several.
            let memory = |at: usize| MEMORY_BYTES[(at + place) % MEMORY_BYTES.len()];
            let fits = |case: &&Case| case.workload.end_bytes() <= device.capacity_bytes();
            let cases = self.cases.iter().enumerate().filter(|(_, case)| fits(case));
            jobs.extend(cases.map(|(at, case)| Task::Case(case, device, memory(at))));
            jobs.extend((0..self.mixed).map(|seed| Task::Mixed(seed, device, memory(seed as usize))));
        }
        jobs
    }

    /// A cell for each policy.
    fn run_one(&self, job: &Task<'_>) -> Result<Vec<Score>, Error> {
        self.policies
            .iter()
            .map(|policy| match job {
                Task::Case(case, device, memory_bytes) => {
                    let (workload, memory_bytes) = (&case.workload, *memory_bytes);
                    let settings = Settings::default();
                    let cell = replay::Cell { workload, device, memory_bytes, settings };
                    let run = |seed| cell.run(*policy, cell.config(*policy), seed, |world| world);
                    let runs = seeds(device).map(run).collect::<Result<Vec<_>, _>>()?;
                    let place = Place {
                        device: device.name().to_owned(),
                        is_mixed: false,
                        workload: workload.name().to_owned(),
                        memory_bytes,
                    };
                    Ok(place.of(*policy, &runs))
                }
                Task::Mixed(seed, device, memory_bytes) => mixed::run(*seed, device, *memory_bytes, *policy),
            })
            .collect()
    }
}
