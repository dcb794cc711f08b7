//! `--live`: replays the same accesses on real storage.

mod names;
mod objects;
mod tables;

use std::error::Error;

use forerun::{ConnectOptions, Forerun, Options, PolicyKind};
use forerun_lab::live::{Faith, play};
use forerun_lab::outcome::Outcome;
use forerun_lab::replay::Plan;
use forerun_lab::workload::{Failure, Workload};
use forerun_sim::bound::Bounds;
use forerun_sim::run::Run;
use forerun_trace::ReadOptions;

use names::Names;
use objects::Objects;

use crate::print::tell;
use crate::progress::Progress;

/// Where `--live` reads from.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Real storage")]
pub(super) struct LiveOptions {
    /// Replay on the storage at URL, in real time, instead of on modelled devices
    ///
    /// Reads through the library, with each policy in turn. Each file of the recording is the object of
    /// the same name below URL. Writes are counted and not made. From the second run on, a local file
    /// system may answer from its own cache.
    #[arg(long, value_name = "URL", conflicts_with_all = ["device", "html", "learned", "window", "read_cost", "seed"])]
    live: Option<String>,

    /// Read this object below URL instead, for a recording of one file or device
    #[arg(long, value_name = "NAME", requires = "live")]
    live_object: Option<String>,

    /// Create missing files as sparse files; URL must be a local directory
    #[arg(long, requires = "live")]
    live_create: bool,

    /// The server of the object store, if it is not the provider's own
    #[arg(long, value_name = "URL", requires = "live")]
    endpoint: Option<String>,

    /// Send no credentials, as for public buckets
    #[arg(long, requires = "live")]
    anonymous: bool,

    /// The region of the bucket
    #[arg(long, value_name = "REGION", requires = "live")]
    region: Option<String>,
}

/// Outcomes, and how precisely each followed its plan.
pub(super) struct Played {
    pub(super) outcomes: Vec<Outcome>,
    faiths: Vec<Vec<Faith>>,
    url: String,
}

impl LiveOptions {
    /// The URL to replay on, if any.
    pub(super) fn url(&self) -> Option<&str> {
        self.live.as_deref()
    }

    /// Replays `plan`, without its devices, on the storage at `url`.
    ///
    /// # Errors
    /// An object that cannot be read, or a recording and objects that do not match.
    pub(super) fn replay(&self, url: &str, plan: &Plan, read: ReadOptions) -> Result<Played, Box<dyn Error>> {
        let runs = plan.workloads.len() * plan.memory_bytes.len() * plan.policies.len();
        let progress = Progress::steps("replay", runs * plan.settings.repeat as usize);
        let mut played = Played { outcomes: Vec::new(), faiths: Vec::new(), url: url.to_owned() };
        for workload in &plan.workloads {
            let names = self.names(url, workload, read)?;
            for memory_bytes in &plan.memory_bytes {
                self.replay_cell(plan, workload, &names, *memory_bytes, &mut played, &progress)?;
            }
        }
        Ok(played)
    }

    /// Runs all policies once, then again: a temporary disturbance then affects one run of each,
    /// not all of one.
    fn replay_cell(
        &self,
        plan: &Plan,
        workload: &Workload,
        names: &Names,
        memory_bytes: u64,
        played: &mut Played,
        progress: &Progress,
    ) -> Result<(), Box<dyn Error>> {
        let mut runs: Vec<(Vec<Run>, Vec<Faith>)> = vec![Default::default(); plan.policies.len()];
        for _ in 0..plan.settings.repeat {
            for (policy, (runs, faiths)) in plan.policies.iter().zip(&mut runs) {
                let options = self.options(*policy, memory_bytes);
                let forerun = Forerun::connect_blocking(&played.url, options)?;
                let failure = Failure::default();
                let mut source = workload.source(plan.settings.pace_of(workload), &failure);
                let objects = Objects::open(&forerun, workload, names)?;
                let live = play(&mut source, &objects);
                let live = failure.or(Ok(live))??;
                tell(&format!(
                    "{}, policy {}: {:.3} s",
                    workload.name(),
                    policy.name(),
                    live.run.elapsed_ns as f64 / 1e9
                ));
                progress.advance();
                faiths.push(live.faith.clone());
                let readahead = forerun.readahead();
                runs.push(Run { readahead, ..live.run.with_counters(&forerun.counters()) });
            }
        }
        for (policy, (runs, faiths)) in plan.policies.iter().zip(runs) {
            played.faiths.push(faiths);
            played.outcomes.push(Outcome {
                workload: workload.name().to_owned(),
                policy: policy.name().to_owned(),
                device: forerun::without_secrets(&played.url),
                memory_bytes,
                runs,
                bounds: Bounds::default(),
            });
        }
        Ok(())
    }

    fn options(&self, policy: PolicyKind, memory_bytes: u64) -> Options {
        let connect = ConnectOptions::default()
            .with_endpoint(self.endpoint.clone())
            .with_anonymous(self.anonymous)
            .with_region(self.region.clone());
        Options::default().with_memory_bytes(memory_bytes).with_policy(policy).with_connect(connect)
    }
}

#[cfg(test)]
mod tests;
