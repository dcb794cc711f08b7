//! Helpers that the tests of the kernel share.

use forerun_sim::device::{Device, Latency, Network, NetworkSpec};
use forerun_sim::kernel::{Algorithm, KernelConfig, KernelWorld};
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Client, Clients, Extent, ObjectId, Source, place};

pub(crate) const PAGE: u64 = 4096;

/// A kernel to be changed before it runs.
pub(crate) struct KernelRun {
    pub(crate) config: KernelConfig,
    pub(crate) algorithm: Box<dyn Algorithm>,
    pub(crate) device: Box<dyn Device>,
}

impl KernelRun {
    /// A 2.6 kernel above a store that answers after a millisecond.
    pub(crate) fn new(pages_max: u64, algorithm: Box<dyn Algorithm>) -> KernelRun {
        let mut config = KernelConfig::linux_2_6(pages_max);
        config.request_bytes_max = 1 << 20;
        KernelRun { config, algorithm, device: network(Latency::constant(1_000_000)) }
    }

    pub(crate) fn run(self, mut source: impl Source) -> Run {
        KernelWorld::new(self.config, self.algorithm, self.device).run(&mut source).expect("nobody is stuck")
    }
}

/// A store of 1 GB/s.
pub(crate) fn network(latency: Latency) -> Box<dyn Device> {
    let spec = NetworkSpec {
        latency,
        connection_bytes_per_s: 1_000_000_000,
        total_bytes_per_s: 1_000_000_000,
        request_interval_ns: 0,
        connection_count: 16,
    };
    Box::new(Network::new(spec, 1))
}

/// One client for each list of actions.
pub(crate) fn clients(sizes: impl IntoIterator<Item = u64>, actions: Vec<Vec<Action>>) -> Clients<'static> {
    let programs = actions.into_iter().map(|actions| Box::new(actions.into_iter()) as Box<dyn Client>);
    Clients::new(place(sizes, 1 << 20), programs.collect())
}

/// Reads of `0 .. size`, one after the other.
pub(crate) fn read_in_steps(object: u64, size: u64, step_bytes: u64) -> Vec<Action> {
    let extents =
        (0..size).step_by(step_bytes as usize).map(|at| Extent::between(at, (at + step_bytes).min(size)));
    extents.map(|extent| Action::read(ObjectId(object), extent)).collect()
}
