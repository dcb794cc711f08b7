//! The demo's store, and what came of reading from it in some order.

use std::cell::RefCell;
use std::rc::Rc;

use forerun_engine::Config;
use forerun_policies::PolicyKind;
use forerun_sim::device::Preset;
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Client, Clients, Extent, ObjectId, place};
use forerun_sim::world::World;
use forerun_trace::generate::Numbers;

pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;

/// Extents of one object, in the order they are read.
pub(crate) type Order = Vec<Extent>;

/// One reader of an object of `size` bytes.
#[derive(Clone)]
pub(crate) struct Reading {
    pub(crate) size: u64,
    pub(crate) order: Order,
}

/// The result of a reading.
pub(crate) struct Outcome {
    /// Millions of useful bytes a second.
    pub(crate) rate: f64,
    /// Bytes the device delivered for each that was asked for.
    pub(crate) fetched: f64,
    pub(crate) seconds: f64,
}

impl Reading {
    pub(crate) fn new(size: u64, order: impl IntoIterator<Item = Extent>) -> Reading {
        Reading { size, order: order.into_iter().collect() }
    }

    /// The other way round.
    pub(crate) fn reversed(mut self) -> Reading {
        self.order.reverse();
        self
    }

    /// The same `by` bytes further on.
    pub(crate) fn moved(&self, by: u64) -> Reading {
        let moved = self.order.iter().map(|extent| Extent::new(extent.offset + by, extent.len));
        Reading::new(self.size + by, moved.collect::<Vec<_>>())
    }

    /// Each request at another place within the `horizon` requests that follow.
    pub(crate) fn displaced(&self, horizon: u64, seed: u64) -> Reading {
        let mut numbers = Numbers::new(seed);
        let late = |(extent, at): (&Extent, u64)| (at + numbers.below(horizon), *extent);
        let mut order: Vec<(u64, Extent)> = self.order.iter().zip(0..).map(late).collect();
        order.sort_by_key(|(at, _)| *at);
        Reading::new(self.size, order.into_iter().map(|(_, extent)| extent).collect::<Vec<_>>())
    }

    pub(crate) fn on(&self, device: &str, policy: PolicyKind) -> Outcome {
        self.by_threads(1, device, policy)
    }

    /// By `threads` that each take the next request.
    pub(crate) fn by_threads(&self, threads: usize, device: &str, policy: PolicyKind) -> Outcome {
        let device = Preset::from_name(device).expect("a device by its name").build(1);
        let config = Config { policy: policy.into(), ..Config::new(256 * MIB) };
        let world = World::new(config, device).expect("a configuration that works");
        let order = Rc::new(RefCell::new(self.order.clone().into_iter()));
        let thread = |_| -> Box<dyn Client> {
            let order = Rc::clone(&order);
            let next = move || order.borrow_mut().next();
            Box::new(std::iter::from_fn(next).map(|extent| Action::read(ObjectId(0), extent)))
        };
        let clients = (0..threads).map(thread).collect();
        let run = world.run(&mut Clients::new(place([self.size], MIB), clients)).expect("nobody hangs");
        Outcome::of(&run)
    }

    /// `adaptive` on the demo's store with another latency.
    pub(crate) fn at(&self, latency_ms: u64) -> Outcome {
        let name = format!("network:latency={latency_ms}ms,connection=80MB/s,total=400MB/s");
        self.on(&name, PolicyKind::Adaptive)
    }
}

impl Outcome {
    pub(crate) fn of(run: &Run) -> Outcome {
        Outcome {
            rate: run.read_bytes as f64 * 1e3 / run.elapsed_ns as f64,
            fetched: run.device.read_bytes as f64 / run.read_bytes as f64,
            seconds: run.elapsed_ns as f64 / 1e9,
        }
    }

    #[track_caller]
    pub(crate) fn check(&self, what: &str, rate: f64, fetched: f64) {
        println!("{what}: {:.1} MB/s, {:.3} fetched for each asked", self.rate, self.fetched);
        assert!(self.rate >= rate, "{what}: {:.1} MB/s is below {rate}", self.rate);
        assert!(self.fetched <= fetched, "{what}: {:.3} fetched is above {fetched}", self.fetched);
    }
}

/// `0..size` in steps of `len`, forward.
pub(crate) fn forward(size: u64, len: u64) -> Reading {
    Reading::new(size, (0..size).step_by(len as usize).map(|at| Extent::new(at, len)))
}

pub(crate) fn backward(size: u64, len: u64) -> Reading {
    forward(size, len).reversed()
}

/// `len` bytes of every `stride`.
pub(crate) fn strided(size: u64, len: u64, stride: u64) -> Reading {
    Reading::new(size, (0..size).step_by(stride as usize).map(|at| Extent::new(at, len)))
}

/// Adjacent reads of `len`, `count` of them, at every `stride`.
pub(crate) fn grouped(size: u64, len: u64, count: u64, stride: u64) -> Reading {
    let groups = (0..size).step_by(stride as usize);
    Reading::new(size, groups.flat_map(|at| (0..count).map(move |i| Extent::new(at + i * len, len))))
}

/// Several readings of parts of one object, in turns.
pub(crate) fn in_turns(size: u64, parts: &[Order]) -> Reading {
    let turns = parts.iter().map(Vec::len).max().unwrap_or(0);
    Reading::new(size, (0..turns).flat_map(|i| parts.iter().filter_map(move |part| part.get(i).copied())))
}

/// Forward, leaving out requests at random: `percent` of them are read.
pub(crate) fn sparse(size: u64, len: u64, percent: u64) -> Reading {
    let mut numbers = Numbers::new(3);
    let mut reading = forward(size, len);
    reading.order.retain(|_| numbers.below(100) < percent);
    reading
}

/// One request of `len` somewhere in every `stride`.
pub(crate) fn jittered(size: u64, len: u64, stride: u64) -> Reading {
    let mut numbers = Numbers::new(5);
    let somewhere = (0..size).step_by(stride as usize).map(|at| at + numbers.below(stride / len) * len);
    Reading::new(size, somewhere.map(|at| Extent::new(at, len)).collect::<Vec<_>>())
}

/// `count` requests of `len` anywhere.
pub(crate) fn random(size: u64, len: u64, count: u64, seed: u64) -> Reading {
    let mut numbers = Numbers::new(seed);
    let anywhere = (0..count).map(|_| Extent::new(numbers.below(size / len) * len, len));
    Reading::new(size, anywhere.collect::<Vec<_>>())
}

/// Every request of `len` once, in random order.
pub(crate) fn shuffled(size: u64, len: u64) -> Reading {
    let mut numbers = Numbers::new(9);
    let mut reading = forward(size, len);
    for index in (1..reading.order.len()).rev() {
        reading.order.swap(index, numbers.below(index as u64 + 1) as usize);
    }
    reading
}

/// `count` bursts of `burst` bytes at random places.
pub(crate) fn bursts(size: u64, len: u64, burst: u64, count: u64) -> Reading {
    let mut numbers = Numbers::new(13);
    let mut places: Vec<u64> = (0..size / burst).collect();
    for index in (1..places.len()).rev() {
        places.swap(index, numbers.below(index as u64 + 1) as usize);
    }
    let order = places.iter().take(count as usize).flat_map(|place| {
        (0..burst).step_by(len as usize).map(move |at| Extent::new(place * burst + at, len))
    });
    Reading::new(size, order.collect::<Vec<_>>())
}

/// `count` regions read in turns, `len` at a time.
pub(crate) fn interleaved(size: u64, len: u64, count: u64) -> Reading {
    let region = size / count;
    let part =
        |i: u64| (0..region).step_by(len as usize).map(move |at| Extent::new(i * region + at, len)).collect();
    in_turns(size, &(0..count).map(part).collect::<Vec<_>>())
}
