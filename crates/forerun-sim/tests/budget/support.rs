//! Readers, and what comes of them.

use forerun_engine::Config;
use forerun_policies::PolicyKind;
use forerun_sim::device::Preset;
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Client, Clients, Extent, ObjectId, Placed};
use forerun_sim::world::World;

pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const MS: u64 = 1_000_000;

/// Reads of `len` bytes at each of `offsets`.
pub(crate) fn reads(
    object: u64,
    len: u64,
    offsets: impl Iterator<Item = u64>,
) -> impl Iterator<Item = Action> {
    offsets.map(move |offset| Action::read(ObjectId(object), Extent::new(offset, len)))
}

/// Reads from `start` to `end` in steps of `len` bytes.
pub(crate) fn sequential(object: u64, start: u64, end: u64, len: u64) -> impl Iterator<Item = Action> {
    reads(object, len, (start..end).step_by(len as usize))
}

/// Runs `clients` on the device called `device`.
pub(crate) fn run(
    device: &str,
    policy: PolicyKind,
    memory: u64,
    objects: Vec<Placed>,
    clients: Vec<Box<dyn Client>>,
) -> Run {
    let device = Preset::from_name(device).expect("a device by its name").build(1);
    let config = Config { policy: policy.into(), ..Config::new(memory) };
    let world = World::new(config, device).expect("a configuration that works");
    let run = world.run(&mut Clients::new(objects, clients)).expect("nobody hangs");
    assert!(run.memory_bytes_peak <= memory, "{} of {memory} bytes", run.memory_bytes_peak);
    run
}
