//! A walk on a disk: its next files are fetched together, and the elevator sorts them by address.

use forerun_engine::Config;
use forerun_policies::PolicyKind;
use forerun_sim::device::Preset;
use forerun_sim::queue::{Plug, Queue, elevator};
use forerun_sim::source::{Action, Clients, Directory, Extent, ObjectId, Placed};
use forerun_sim::world::World;
use forerun_trace::generate::Numbers;

use crate::support::*;

const COUNT: u64 = 500;

/// Seconds of a walk through files that lie all over a disk, in another order than they are listed in.
fn walk(device: &str, policy: PolicyKind) -> f64 {
    let preset = Preset::from_name(device).expect("a device by its name");
    let mut numbers = Numbers::new(17);
    let mut anywhere = || numbers.below(preset.capacity_bytes() / MIB - 1) * MIB;
    let objects: Vec<Placed> = (0..COUNT).map(|_| Placed { address: anywhere(), size: 32 * KIB }).collect();
    let files = (0..COUNT).map(|file| (ObjectId(file), 0)).collect();
    let visits = (0..COUNT)
        .map(ObjectId)
        .flat_map(|file| [Action::read(file, Extent::new(0, 32 * KIB)), Action::close(file)]);
    let actions: Vec<Action> = std::iter::once(Action::list(0)).chain(visits).collect();
    let queue = Queue::new(preset.build(1), elevator("deadline").expect("an elevator"), Plug::None);
    let world = World::new(Config { policy: policy.into(), ..Config::new(64 * MIB) }, Box::new(queue));
    let mut source = Clients::new(objects, vec![Box::new(actions.into_iter())])
        .with_directories(vec![Directory { names: None, files }]);
    let run = world.expect("a configuration that works").run(&mut source).expect("nobody hangs");
    run.elapsed_ns as f64 / 1e9
}

#[test]
fn an_elevator_sorts_the_next_files_of_a_walk() {
    for device in ["ide-2006", "scsi-2001"] {
        let [none, walked] = [PolicyKind::None, PolicyKind::Adaptive].map(|policy| walk(device, policy));
        println!("{device}: {walked:.2} s, {none:.2} s one file at a time");
        assert!(walked <= 0.75 * none, "{walked} s on {device}, {none} s one file at a time");
    }
}
