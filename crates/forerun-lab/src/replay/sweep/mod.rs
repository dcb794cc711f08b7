//! A plan in cells that any process may run, in any order, and whose results meet in a folder.
//!
//! * A cell is one workload on one device with one budget, under one policy with all seeds. Its
//!   name is a hash of everything that its result depends on.
//! * Each result is a file of that name, and the same whoever wrote it. So processes need not agree on who
//!   runs what. A process that was killed costs its unfinished cells only.
//! * [`Sweep::fill`] runs the cells whose files are missing or damaged; [`Sweep::outcomes`] reads all.

mod digest;
mod numbers;
mod sweep_cell;

use std::collections::HashMap;
use std::path::Path;

use super::cell::{Cell, Job};
use super::{LEARNED, Plan};
use crate::error::Error;
use crate::outcome::Outcome;
use crate::work::{on_all_cores, on_all_cores_with};
pub use digest::digest_of_file;

use sweep_cell::{CellFile, SweepCell};

/// A plan and its cells.
#[derive(Debug)]
pub struct Sweep<'a> {
    plan: &'a Plan,
    /// The workloads, devices and budgets that go together.
    places: Vec<Cell<'a>>,
    /// The cells of each place in turn: its bounds, then its policies.
    cells: Vec<SweepCell<'a>>,
    left_out: Vec<String>,
}

/// One of several shares of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1 to `count`.
    pub number: usize,
    /// How many there are.
    pub count: usize,
}

/// How many cells a process found in the folder, and how many it had to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// Their files were there, and whole.
    pub found_count: usize,
    /// There was no file.
    pub missing_count: usize,
    /// The file was damaged.
    pub damaged_count: usize,
}

impl<'a> Sweep<'a> {
    /// Cuts `plan`, whose workloads are files. `program` names the build that runs it.
    ///
    /// # Errors
    /// A recording that cannot be read, or a budget that no engine can keep.
    pub fn new(plan: &'a Plan, program: &str) -> Result<Sweep<'a>, Error> {
        let digests = on_all_cores(&plan.workloads, |workload| digest_of_file(workload.path()))?;
        let digests: HashMap<&str, String> =
            plan.workloads.iter().map(|workload| workload.name()).zip(digests).collect();
        let mut sweep = Sweep { plan, places: Vec::new(), cells: Vec::new(), left_out: Vec::new() };
        for place in plan.cells() {
            match place.check() {
                Ok(()) => {}
                Err(unfit @ Error::Unfit { .. }) => {
                    sweep.left_out.push(unfit.to_string());
                    continue;
                }
                Err(error) => return Err(error),
            }
            let head = format!("forerun {program}\nrecording sha256 {}\n", digests[place.workload.name()]);
            let jobs: Vec<Job<'a>> = place.jobs(&plan.policies, plan.learned).collect();
            let of_one_policy = jobs.chunk_by(|a, b| a.contender() == b.contender());
            sweep.cells.extend(of_one_policy.map(|jobs| SweepCell::new(&head, place, jobs.to_vec())));
            sweep.places.push(place);
        }
        Ok(sweep)
    }

    /// The workloads that do not fit on a device, with reasons.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Runs the cells of `shard`, or all, that `folder` does not have, on all cores. `progress` hears how
    /// many cells are done.
    ///
    /// # Errors
    /// A trace cannot be read any more, or `folder` cannot be read or written.
    pub fn fill(
        &self,
        folder: &Path,
        shard: Option<Shard>,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Filled, Error> {
        let found = on_all_cores_with(&self.share(shard), |cell| cell.fill(folder), progress)?;
        let count = |wanted: CellFile| found.iter().filter(|found| **found == wanted).count();
        Ok(Filled {
            found_count: count(CellFile::Whole),
            missing_count: count(CellFile::Missing),
            damaged_count: count(CellFile::Damaged),
        })
    }

    /// The outcomes of the plan, in its order, from `folder`, which [`Sweep::fill`] has filled.
    ///
    /// # Errors
    /// A cell is not there, or not whole.
    pub fn outcomes(&self, folder: &Path) -> Result<Vec<Outcome>, Error> {
        let parts = on_all_cores(&self.cells, |cell| cell.read(folder))?;
        Ok(self.plan.outcomes(&self.places, parts.into_iter().flatten().collect()))
    }

    /// Each n-th cell in the order of their names. Names are hashes, so that each share has some cells of
    /// each device and policy, and takes about as long as the others.
    fn share(&self, shard: Option<Shard>) -> Vec<&SweepCell<'a>> {
        let mut cells: Vec<&SweepCell<'a>> = self.cells.iter().collect();
        cells.sort_by_key(|cell| cell.name());
        // The same recording may be there twice, by two names.
        cells.dedup_by_key(|cell| cell.name());
        let Shard { number, count } = shard.unwrap_or(Shard { number: 1, count: 1 });
        cells.into_iter().skip(number - 1).step_by(count).collect()
    }
}

impl Job<'_> {
    /// The policy's name; none for bounds.
    fn contender(&self) -> Option<&'static str> {
        match self {
            Job::Bounds(_) => None,
            Job::Run { policy, .. } => Some(policy.name()),
            Job::Learned { .. } => Some(LEARNED),
        }
    }
}
