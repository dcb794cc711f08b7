//! How fairly clients share a server or a store that gives less than they want.
//!
//! * [`SharingTrial`] runs the clients of seed 004, with several elevators and policies. It also runs readers
//!   of one engine that belong to several clients.
//! * [`SharedRun`] is the result of a run: when the first and the last were done, and how equal they were
//!   in each second.

mod file_server;
mod shared_run;
mod sharing_table;

use forerun_engine::{Config, Engine};
use forerun_policies::PolicyKind;
use forerun_sim::device::Preset;
use forerun_sim::source::{Metered, Sharers, SharingMix};
use forerun_sim::world::World;

use crate::error::Error;
use crate::work::on_all_cores_with;
pub use file_server::FILES_EACH_MAX;
pub(crate) use file_server::{CLIENTS, FILE_BYTES, FileClients, Serving};
pub use shared_run::SharedRun;
pub use sharing_table::{figures, tables};

/// The memory of an engine whose readers share it. The files are many times larger.
const MIX_MEMORY_BYTES: u64 = 256 << 20;

/// The runs of a table.
#[derive(Clone, Debug)]
pub struct SharingTrial {
    /// The elevators of a file server's disk, by name.
    pub elevators: Vec<&'static str>,
    /// The policies of the engine.
    pub policies: Vec<PolicyKind>,
    /// The memory of the file server for files, in bytes.
    pub memory_bytes: u64,
    /// The files that each client of the file server writes and reads back.
    pub files_each: u64,
    /// The luck of the starts of those clients.
    pub seed: u64,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub struct SharingRow {
    /// The server, or the mix of readers.
    pub name: String,
    /// The policy; none for a kernel without the engine.
    pub policy: Option<PolicyKind>,
    /// The elevator, or the device of the mix.
    pub storage: String,
    /// The result.
    pub shared: SharedRun,
}

/// The rows of both tables.
#[derive(Clone, Debug, Default)]
pub struct SharingRows {
    /// The clients of a file server.
    pub file_server: Vec<SharingRow>,
    /// The readers of one engine.
    pub mixes: Vec<SharingRow>,
}

/// A run that does not depend on another.
#[derive(Clone, Copy, Debug)]
enum SharingJob {
    Server(Serving),
    Mix(SharingMix, PolicyKind),
}

impl SharingTrial {
    /// Runs all of it, on all cores; the same each time. `progress` hears how many runs are done.
    ///
    /// # Errors
    /// A budget that no engine can keep.
    pub fn run(&self, progress: impl Fn(usize, usize) + Sync) -> Result<SharingRows, Error> {
        // Forerun over a file system has three quarters of the memory.
        Engine::new(Config::new(self.memory_bytes / 4 * 3))?;
        let servers: Vec<SharingJob> = self.servers().into_iter().map(SharingJob::Server).collect();
        let mixes = SharingMix::ALL.into_iter();
        let mixes =
            mixes.flat_map(|mix| self.policies.iter().map(move |policy| SharingJob::Mix(mix, *policy)));
        let jobs: Vec<SharingJob> = servers.iter().copied().chain(mixes).collect();
        let run = |job: &SharingJob| match job {
            SharingJob::Server(server) => Ok(self.serve(*server)),
            SharingJob::Mix(mix, policy) => share(*mix, *policy),
        };
        let mut rows = on_all_cores_with(&jobs, run, progress)?;
        let mixes = rows.split_off(servers.len());
        Ok(SharingRows { file_server: rows, mixes })
    }

    fn servers(&self) -> Vec<Serving> {
        let linux = self.elevators.iter().map(|elevator| Serving::Linux(elevator));
        let ours = self.policies.iter().flat_map(|policy| {
            let over = self.elevators.iter().map(|elevator| Serving::OverLinux(*policy, elevator));
            std::iter::once(Serving::Forerun(*policy)).chain(over)
        });
        linux.chain(ours).collect()
    }

    fn serve(&self, server: Serving) -> SharingRow {
        let SharingTrial { memory_bytes, files_each, seed, .. } = *self;
        let (run, seconds) = FileClients { files_each, memory_bytes, seed }.run(server);
        let (name, policy, storage) = match server {
            Serving::Linux(elevator) => ("Linux 2.4", None, elevator),
            Serving::Forerun(policy) => ("Forerun, on the disk", Some(policy), "deadline"),
            Serving::OverLinux(policy, elevator) => ("Forerun, over a file system", Some(policy), elevator),
        };
        let shared = SharedRun::of(&run, &seconds, file_server::START_NS, |client| (client as u64, 1));
        SharingRow { name: name.to_owned(), policy, storage: storage.to_owned(), shared }
    }
}

/// `mix` with an engine of `policy`.
fn share(mix: SharingMix, policy: PolicyKind) -> Result<SharingRow, Error> {
    let device = Preset::from_name(mix.device).expect("mixes name devices").build(1);
    let world = World::new(Config { policy: policy.into(), ..Config::new(MIX_MEMORY_BYTES) }, device)?;
    let Sharers { source, owners, weights } = mix.sharers();
    let mut source = Metered::new(source);
    let run = world.shared(&owners, &weights).run(&mut source);
    let run = run.map_err(|stuck| Error::Stuck { cell: format!("{}, {policy}", mix.name), stuck })?;
    let owner = |reader: usize| {
        let owner = owners[reader];
        let weight = weights.iter().find(|(client, _)| *client == owner).map_or(1, |(_, weight)| *weight);
        (owner.0, weight)
    };
    let shared = SharedRun::of(&run, source.seconds(), 0, owner);
    Ok(SharingRow { name: mix.name.to_owned(), policy: Some(policy), storage: mix.device.to_owned(), shared })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_elevator_is_less_fair_than_a_new_one() {
        let trial = SharingTrial {
            elevators: vec!["linus", "cfq"],
            policies: Vec::new(),
            memory_bytes: 80 << 20,
            files_each: 2,
            seed: 1,
        };
        let rows = trial.run(|_, _| ()).unwrap();
        assert!(rows.mixes.is_empty());
        let [linus, cfq] = &rows.file_server[..] else { panic!("{rows:?}") };
        let bytes = 2 * CLIENTS * 2 * FILE_BYTES;
        assert!([linus, cfq].iter().all(|row| row.shared.bytes == bytes), "{rows:?}");
        assert!(linus.shared.first_to_last() < 0.85 && cfq.shared.first_to_last() > 0.9, "{rows:?}");
        assert!(linus.shared.jain_least.unwrap() < cfq.shared.jain_least.unwrap(), "{rows:?}");
    }

    #[test]
    fn adaptive_shares_a_disk_by_weight_and_none_wastes_it() {
        let shared = |policy| share(SharingMix::DISK_WEIGHTED, policy).unwrap().shared;
        let (adaptive, none) = (shared(PolicyKind::Adaptive), shared(PolicyKind::None));
        assert!(adaptive.first_to_last() > 0.9 && adaptive.jain_mean.unwrap() > 0.9, "{adaptive:?}");
        assert!(adaptive.rate() > 2.0 * none.rate(), "{adaptive:?} {none:?}");
    }
}
