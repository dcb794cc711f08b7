//! One workload on one device with one budget, cut into jobs that do not depend on one
//! another.

use forerun_engine::Config;
use forerun_policies::PolicyKind;
use forerun_sim::bound::{Bounds, Clairvoyance, bounds};
use forerun_sim::device::Preset;
use forerun_sim::run::Run;
use forerun_sim::world::{Stuck, World};

use super::Settings;
use crate::error::Error;
use crate::workload::{Failure, Workload};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) device: &'a Preset,
    pub(crate) memory_bytes: u64,
    pub(crate) settings: Settings,
}

/// A part of a cell's outcome.
#[derive(Clone, Copy, Debug)]
pub(super) enum Job<'a> {
    Bounds(Cell<'a>),
    Run { cell: Cell<'a>, policy: PolicyKind, seed: u64 },
    Learned { cell: Cell<'a>, seed: u64 },
}

/// The outcome of a job.
#[derive(Debug)]
pub(super) enum Part {
    Bounds(Bounds),
    Run(Box<Run>),
}

impl Part {
    pub(super) fn bounds(self) -> Option<Bounds> {
        if let Part::Bounds(bounds) = self { Some(bounds) } else { None }
    }

    pub(super) fn run(self) -> Option<Run> {
        if let Part::Run(run) = self { Some(*run) } else { None }
    }
}

impl<'a> Cell<'a> {
    /// Whether it can be run at all.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let (end, capacity) = (self.workload.end_bytes(), self.device.capacity_bytes());
        if end > capacity {
            let reason = format!(
                "reaches byte {end}, and {} has {capacity}; replay it on a larger device",
                self.device.name()
            );
            return Err(Error::Unfit { name: self.workload.path().display().to_string(), reason });
        }
        forerun_engine::Engine::new(self.config(PolicyKind::None))?;
        Ok(())
    }

    /// Its bounds, then each policy with each seed, at last with a profile if so `learned`.
    pub(super) fn jobs(self, policies: &[PolicyKind], learned: bool) -> impl Iterator<Item = Job<'a>> {
        let Settings { seed, repeat, .. } = self.settings;
        let runs = policies.iter().copied().flat_map(move |policy| {
            (seed..seed + repeat).map(move |seed| Job::Run { cell: self, policy, seed })
        });
        let seeds = if learned { seed..seed + repeat } else { 0..0 };
        let learned = seeds.map(move |seed| Job::Learned { cell: self, seed });
        std::iter::once(Job::Bounds(self)).chain(runs.collect::<Vec<_>>()).chain(learned)
    }

    pub(crate) fn config(&self, policy: PolicyKind) -> Config {
        let config = Config { policy: policy.into(), ..Config::new(self.memory_bytes) };
        let window_bytes_max = self.settings.window_bytes_max.unwrap_or(config.window_bytes_max);
        Config { window_bytes_max, ..config }
    }

    /// Lets an engine of `config`, which has `policy`, replay the workload, in a world that `prepare` has had.
    pub(crate) fn run<'w>(
        &'w self,
        policy: PolicyKind,
        config: Config,
        seed: u64,
        prepare: impl FnOnce(World<'w>) -> World<'w>,
    ) -> Result<Run, Error> {
        let world = prepare(World::new(config, self.device.build(seed))?);
        let failure = Failure::default();
        let mut source = self.workload.source(self.settings.pace_of(self.workload), &failure);
        let run = world.read_cost_ns(self.settings.read_cost_ns).run(&mut source);
        failure.or(run.map_err(|stuck| self.stuck(policy.name(), stuck)))
    }

    /// The bracket of the best possible time, with the device's first seed.
    pub(crate) fn bounds(&self) -> Result<Bounds, Error> {
        let failure = Failure::default();
        let pace = self.settings.pace_of(self.workload);
        let bounds = bounds(
            &|| Box::new(self.workload.source(pace, &failure)),
            &|| self.device.build(self.settings.seed),
            self.settings.read_cost_ns,
            &Clairvoyance {
                memory_bytes: self.memory_bytes,
                costs: self.device.costs(),
                look_ahead: None,
                // Jobs are on all cores already.
                threads: 1,
            },
        );
        failure.or(bounds.map_err(|stuck| self.stuck("bounds", stuck)))
    }

    fn stuck(&self, what: &str, stuck: Stuck) -> Error {
        Error::Stuck { cell: format!("{} on {}, {what}", self.workload.name(), self.device.name()), stuck }
    }
}

impl Job<'_> {
    pub(super) fn run(&self) -> Result<Part, Error> {
        Ok(match self {
            Job::Bounds(cell) => Part::Bounds(cell.bounds()?),
            Job::Run { cell, policy, seed } => {
                let run = cell.run(*policy, cell.config(*policy), *seed, |world| world)?;
                Part::Run(Box::new(run))
            }
            Job::Learned { cell, seed } => Part::Run(Box::new(cell.run_learned(*seed)?)),
        })
    }
}
