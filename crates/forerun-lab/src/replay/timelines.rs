//! The events of the first run of each workload under each policy.

use forerun_engine::{Config, Time};
use forerun_policies::PolicyKind;

use super::Plan;
use super::cell::Cell;
use crate::error::Error;
use crate::timeline::Timeline;
use crate::work::on_all_cores_with;

/// Events that the engine keeps until they are looked at, which is after each step.
const EVENTS_MAX: usize = 1 << 16;

impl Plan {
    /// A timeline of each workload, on the first device with the first budget and seed, under each
    /// policy, labelled `workload/policy`. The runs are made once more for it, and
    /// `progress` hears how many are done.
    ///
    /// # Errors
    /// As [`Plan::run`].
    pub fn timelines(
        &self,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Vec<(String, Timeline)>, Error> {
        let (Some(device), Some(memory_bytes)) = (self.devices.first(), self.memory_bytes.first()) else {
            return Ok(Vec::new());
        };
        let mut jobs: Vec<(Cell<'_>, PolicyKind)> = Vec::new();
        for workload in &self.workloads {
            let cell = Cell { workload, device, memory_bytes: *memory_bytes, settings: self.settings };
            jobs.extend(self.policies.iter().map(|policy| (cell, *policy)));
        }
        let watch = |(cell, policy): &(Cell<'_>, PolicyKind)| {
            let mut timeline = Timeline::default();
            let config = Config { events_max: EVENTS_MAX, ..cell.config(*policy) };
            let run = cell.run(*policy, config, self.settings.seed, |world| {
                world.observe(|event| timeline.observe(event))
            })?;
            timeline.finish(Time(run.elapsed_ns));
            Ok((format!("{}/{}", cell.workload.name(), policy.name()), timeline))
        };
        on_all_cores_with(&jobs, watch, progress)
    }
}
