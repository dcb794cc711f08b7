//! Readers of several kinds at once, each of an object of its own: those that can be read
//! ahead of leave their share to those that cannot.

use forerun_engine::{Config, PolicyKind};
use forerun_sim::device::Preset;
use forerun_sim::source::{Action, Client, Clients, ObjectId, place};
use forerun_sim::world::World;

use super::bed::*;

/// Each of `readings` by a reader of its own, at the same time, with so much memory.
fn together(readings: &[Reading], device: &str, memory: u64, policy: PolicyKind) -> Outcome {
    let device = Preset::from_name(device).expect("a device by its name").build(1);
    let config = Config { policy, ..Config::new(memory) };
    let world = World::new(config, device).expect("a configuration that works");
    let client = |(reading, object): (&Reading, u64)| -> Box<dyn Client> {
        let actions = reading.order.iter().map(|extent| Action::read(ObjectId(object), *extent));
        Box::new(actions.collect::<Vec<_>>().into_iter())
    };
    let clients = readings.iter().zip(0..).map(client).collect();
    let placed = place(readings.iter().map(|reading| reading.size), MIB);
    Outcome::of(&world.run(&mut Clients::new(placed, clients)).expect("nobody hangs"))
}

#[test]
fn a_reader_at_random_is_not_starved_by_streams() {
    const SIZE: u64 = 64 * MIB;
    let readings = [
        forward(SIZE, 64 * KIB),
        random(SIZE, 64 * KIB, 1024, 3),
        backward(SIZE, 64 * KIB),
        interleaved(SIZE, 64 * KIB, 4),
    ];
    // With 64 MiB what is read at random is not all there soon.
    let known = ["nvme", "rbd-2014", "ide-2006", "demo"].map(|device| (device, 256 * MIB, 1.01));
    for (device, memory, most) in known.into_iter().chain([("rbd-2014", 64 * MIB, 1.05)]) {
        let (adaptive, none) = (
            together(&readings, device, memory, PolicyKind::Adaptive),
            together(&readings, device, memory, PolicyKind::None),
        );
        let times = adaptive.seconds / none.seconds;
        println!(
            "{device}: {times:.3} times as long as without, {:.3} fetched for each asked",
            adaptive.fetched
        );
        assert!(times <= most, "{device}, {memory} bytes: {times:.3} times as long as without");
    }
}

#[test]
fn a_disk_stays_for_a_while_with_who_reads_at_random_beside_streams() {
    let readings = [interleaved(128 * MIB, 128 * KIB, 2), random(1024 * MIB, 4 * KIB, 400, 5)];
    // One movement for each read and one back are 0.47, 0.70 and 0.80 of the time.
    for (device, most) in [("ide-2006", 0.45), ("scsi-2001", 0.66), ("cheetah9lp", 0.74)] {
        let (adaptive, none) = (
            together(&readings, device, 64 * MIB, PolicyKind::Adaptive),
            together(&readings, device, 64 * MIB, PolicyKind::None),
        );
        let times = adaptive.seconds / none.seconds;
        println!("{device}: {times:.3} times as long as without");
        assert!(times <= most, "{device}: {times:.3} times as long as without");
    }
}
