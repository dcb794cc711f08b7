//! The contenders of an experiment: a kernel of the document's time, Forerun, and somebody
//! who knows the future.

use std::sync::{Arc, Mutex, MutexGuard};

use forerun_engine::{Config, ObjectId, ReaderId};
use forerun_policies::PolicyKind;
use forerun_policies::kernel::{Algorithm, Ara, AraTuning, PageCache, PageRead, Step, Stock};
use forerun_sim::bound::{Bounds, Clairvoyance, bounds};
use forerun_sim::device::{Costs, Device, Preset};
use forerun_sim::kernel::{KernelConfig, KernelWorld};
use forerun_sim::queue::{Cfq, Plug, Queue};
use forerun_sim::run::Run;
use forerun_sim::source::Source;
use forerun_sim::world::World;

/// A workload on a device: both are made anew for every run.
pub(crate) struct Scene<'a> {
    pub(crate) source: &'a (dyn Fn() -> Box<dyn Source> + Sync),
    pub(crate) device: &'a (dyn Fn() -> Box<dyn Device> + Sync),
    /// The budget, in bytes.
    pub(crate) memory_bytes: u64,
    /// The cost of every read for its reader besides waiting, in nanoseconds.
    pub(crate) read_cost_ns: u64,
}

impl Scene<'_> {
    /// A kernel that reads ahead with `algorithm`.
    pub(crate) fn kernel(&self, config: KernelConfig, algorithm: Box<dyn Algorithm>) -> Run {
        let world = KernelWorld::new(config, algorithm, (self.device)());
        world.run(&mut *(self.source)()).expect("nobody hangs in an experiment")
    }

    /// Forerun with its default policy.
    pub(crate) fn ours(&self) -> Run {
        self.policy(PolicyKind::default())
    }

    /// Forerun with any of its policies.
    pub(crate) fn policy(&self, policy: PolicyKind) -> Run {
        self.windowed(policy, None)
    }

    /// Forerun with any of its policies, and windows of at most so many bytes.
    pub(crate) fn windowed(&self, policy: PolicyKind, window_bytes_max: Option<u64>) -> Run {
        let config = Config::new(self.memory_bytes.max(Config::MEMORY_BYTES_MIN));
        let window_bytes_max = window_bytes_max.unwrap_or(config.window_bytes_max);
        self.engine(Config { policy: policy.into(), window_bytes_max, ..config })
    }

    fn engine(&self, config: Config) -> Run {
        let world = World::new(config, (self.device)()).expect("experiments' budgets work");
        let run = world.read_cost_ns(self.read_cost_ns).run(&mut *(self.source)());
        run.expect("nobody hangs in an experiment")
    }

    /// The bracket of the best possible time on a device with these costs.
    pub(crate) fn bounds(&self, costs: Costs) -> Bounds {
        let memory_bytes = self.memory_bytes;
        let clairvoyance = Clairvoyance { memory_bytes, costs, look_ahead: None, threads: 1 };
        let found = bounds(&|| (self.source)(), &|| (self.device)(), self.read_cost_ns, &clairvoyance);
        found.expect("nobody hangs in an experiment")
    }
}

/// The readahead of Linux 2.6.10 to 2.6.22 with windows of at most so many bytes.
pub(crate) fn stock(window_bytes_max: u64) -> Box<dyn Algorithm> {
    Box::new(Stock::new(window_bytes_max / 4096))
}

/// Adaptive readahead with a hit rate, and windows of at most 1 MiB.
pub(crate) fn adaptive(hit_rate: u64) -> Box<dyn Algorithm> {
    Box::new(Ara::new(AraTuning { hit_rate, ..AraTuning::default() }))
}

/// The disk of seed 000.
pub(crate) fn ide() -> Preset {
    Preset::from_name("ide-2006").expect("a preset")
}

/// It, below what was the default of Linux 2.6.18 and 2.6.19: CFQ and a plugged queue.
pub(crate) fn historic_ide() -> Box<dyn Device> {
    historic(ide().build(1))
}

/// A disk below CFQ and a plugged queue.
pub(crate) fn historic(disk: Box<dyn Device>) -> Box<dyn Device> {
    Box::new(Queue::new(disk, Box::new(Cfq::default()), Plug::Historic))
}

/// Nanoseconds as seconds.
pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Bytes as megabytes.
pub(crate) fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// An algorithm that can be looked at after its run.
#[derive(Debug)]
pub(crate) struct Inspected<A>(Arc<Mutex<A>>);

impl<A> Inspected<A> {
    pub(crate) fn new(algorithm: A) -> Inspected<A> {
        Inspected(Arc::new(Mutex::new(algorithm)))
    }

    /// The same algorithm again.
    pub(crate) fn share(&self) -> Inspected<A> {
        Inspected(Arc::clone(&self.0))
    }

    pub(crate) fn get(&self) -> MutexGuard<'_, A> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<A: Algorithm> Algorithm for Inspected<A> {
    fn on_page(&mut self, read: &PageRead, cache: &dyn PageCache, steps: &mut Vec<Step>) {
        self.get().on_page(read, cache, steps);
    }

    fn on_unserved(&mut self, read: &PageRead) {
        self.get().on_unserved(read);
    }

    fn on_end(&mut self, object: ObjectId, reader: ReaderId, last_page: u64) {
        self.get().on_end(object, reader, last_page);
    }

    fn on_lost(&mut self, object: ObjectId, start: u64, count: u64) {
        self.get().on_lost(object, start, count);
    }

    fn on_close(&mut self, object: ObjectId, reader: ReaderId) {
        self.get().on_close(object, reader);
    }

    fn on_forget(&mut self, object: ObjectId) {
        self.get().on_forget(object);
    }
}
