//! Common uses of files, under every policy: a row for each workload, a column for
//! each policy.
//!
//! * [`workloads`] is the standard set: programs in virtual time, not recordings;
//! * [`tables`] shows how fast each was served, and how much was fetched for it.

mod tables;
pub mod workloads;

use forerun_engine::{Config, Engine};
use forerun_policies::PolicyKind;
use forerun_sim::bound::{Bounds, Clairvoyance, bounds};
use forerun_sim::device::Preset;
use forerun_sim::run::Run;
use forerun_sim::world::{Stuck, World};

use crate::error::Error;
use crate::outcome::Outcome;
use crate::work::on_all_cores_with;
pub use tables::tables;
pub use workloads::{ROWS, Scenario};

/// Which workloads run on what under which policies.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// The workloads.
    pub rows: Vec<Scenario>,
    /// From where they read.
    pub device: Preset,
    /// The budget in bytes.
    pub memory_bytes: u64,
    /// The policies.
    pub policies: Vec<PolicyKind>,
    /// The device's seed.
    pub seed: u64,
    /// Workloads are so many times smaller than their names say; at least 1.
    pub shrink: u64,
}

impl Matrix {
    /// Every workload under every policy.
    pub fn new(device: Preset, memory_bytes: u64) -> Matrix {
        Matrix {
            rows: ROWS.to_vec(),
            device,
            memory_bytes,
            policies: PolicyKind::ALL.to_vec(),
            seed: 1,
            shrink: 1,
        }
    }
}

/// Runs all of `plan` on all cores. The outcomes are in the order of workloads and
/// policies, a run each, and the same each time. `progress` hears how many of all runs are done.
///
/// # Errors
/// A budget that no engine can keep.
pub fn run(plan: &Matrix, progress: impl Fn(usize, usize) + Sync) -> Result<Vec<Outcome>, Error> {
    Engine::new(Config::new(plan.memory_bytes))?;
    let columns = || std::iter::once(None).chain(plan.policies.iter().copied().map(Some));
    let jobs: Vec<(Scenario, Option<PolicyKind>)> =
        plan.rows.iter().flat_map(|row| columns().map(|policy| (*row, policy))).collect();
    let work = |(row, policy): &(Scenario, Option<PolicyKind>)| match policy {
        None => best(plan, *row).map(Piece::Bounds),
        Some(policy) => serve(plan, *row, *policy).map(|run| Piece::Run(*policy, Box::new(run))),
    };
    let parts = on_all_cores_with(&jobs, work, progress)?;
    let mut outcomes = Vec::new();
    let mut known = Bounds::default();
    for ((row, _), part) in jobs.iter().zip(parts) {
        match part {
            Piece::Bounds(bounds) => known = bounds,
            Piece::Run(policy, run) => outcomes.push(Outcome {
                workload: row.name.to_owned(),
                policy: policy.name().to_owned(),
                device: plan.device.name().to_owned(),
                memory_bytes: plan.memory_bytes,
                runs: vec![*run],
                bounds: known,
            }),
        }
    }
    Ok(outcomes)
}

/// The outcome of a job: each workload's bounds come before its runs.
#[derive(Debug)]
enum Piece {
    Bounds(Bounds),
    Run(PolicyKind, Box<Run>),
}

fn serve(plan: &Matrix, row: Scenario, policy: PolicyKind) -> Result<Run, Error> {
    let config = Config { policy: policy.into(), ..Config::new(plan.memory_bytes) };
    let world = World::new(config, plan.device.build(plan.seed))?;
    world.run(&mut row.source(plan.shrink)).map_err(|stuck| stuck_in(plan, row, policy.name(), stuck))
}

fn best(plan: &Matrix, row: Scenario) -> Result<Bounds, Error> {
    let bounds = bounds(
        &|| Box::new(row.source(plan.shrink)),
        &|| plan.device.build(plan.seed),
        0,
        &Clairvoyance {
            memory_bytes: plan.memory_bytes,
            costs: plan.device.costs(),
            look_ahead: None,
            // Jobs are on all cores already.
            threads: 1,
        },
    );
    bounds.map_err(|stuck| stuck_in(plan, row, "bounds", stuck))
}

fn stuck_in(plan: &Matrix, row: Scenario, what: &str, stuck: Stuck) -> Error {
    Error::Stuck { cell: format!("{} on {}, {what}", row.name, plan.device.name()), stuck }
}
