//! The profile that a run leaves for the next one.

use std::collections::HashMap;

use forerun_engine::profile::Recorder;
use forerun_engine::{Config, Event, Extent, ObjectId};
use forerun_policies::PolicyKind;
use forerun_sim::run::Run;

use super::cell::Cell;
use crate::error::Error;

/// Events that the engine keeps until they are looked at, which is after each step.
const EVENTS_MAX: usize = 1 << 16;

impl Cell<'_> {
    /// `adaptive` with the profiles that a run before it teaches.
    pub(crate) fn run_learned(&self, seed: u64) -> Result<Run, Error> {
        let profiles = self.learn(seed)?;
        self.run(PolicyKind::Adaptive, self.config(PolicyKind::Adaptive), seed, |world| {
            world.learned(profiles)
        })
    }

    /// The bytes that readers of each object touch first, in a run under `adaptive`; the objects in the order
    /// in which they are read first.
    fn learn(&self, seed: u64) -> Result<Vec<(ObjectId, Vec<Extent>)>, Error> {
        let mut order: Vec<ObjectId> = Vec::new();
        let mut recorders: HashMap<ObjectId, Recorder> = HashMap::new();
        let config = Config { events_max: EVENTS_MAX, ..self.config(PolicyKind::Adaptive) };
        let note = |event: &Event| {
            if let Event::Read { object, extent, .. } = *event {
                let recorder = recorders.entry(object).or_insert_with(|| {
                    order.push(object);
                    Recorder::new()
                });
                recorder.record(extent);
            }
        };
        self.run(PolicyKind::Adaptive, config, seed, |world| world.observe(note))?;
        let learned = order.into_iter().map(|object| (object, recorders[&object].extents().to_vec()));
        Ok(learned.collect())
    }
}
