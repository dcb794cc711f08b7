//! Readers of several kinds at once, each of an object of its own. Readers that can be read ahead of leave
//! their share to those that cannot.

use forerun_engine::Config;
use forerun_policies::PolicyKind;
use forerun_sim::device::Preset;
use forerun_sim::source::{Action, Client, Clients, ObjectId, place};
use forerun_sim::world::World;

use super::bed::*;

/// Each of `readings` by a reader of its own, at the same time, with so much memory.
fn together(readings: &[Reading], device: &str, memory: u64, policy: PolicyKind) -> Outcome {
    together_by(readings, device, 1, memory, policy)
}

/// The same of a device whose waits come from `seed`.
fn together_by(readings: &[Reading], device: &str, seed: u64, memory: u64, policy: PolicyKind) -> Outcome {
    let device = Preset::from_name(device).expect("a device by its name").build(seed);
    let config = Config { policy: policy.into(), ..Config::new(memory) };
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
    const SEEDS: u64 = 9;
    let readings = |seed| {
        [
            forward(SIZE, 64 * KIB),
            random(SIZE, 64 * KIB, 1024, 2 + seed),
            backward(SIZE, 64 * KIB),
            interleaved(SIZE, 64 * KIB, 4),
        ]
    };
    let in_plenty = [("nvme", 0.98), ("rbd-2014", 1.0), ("ide-2006", 0.29), ("demo", 0.09)];
    let in_plenty = in_plenty.map(|(device, most)| (device, 256 * MIB, most));
    // With 64 MiB what is read at random is not all there soon.
    for (device, memory, most) in in_plenty.into_iter().chain([("rbd-2014", 64 * MIB, 1.08)]) {
        let times_of = |seed| {
            let by = |policy| together_by(&readings(seed), device, seed, memory, policy).seconds;
            by(PolicyKind::Adaptive) / by(PolicyKind::None)
        };
        let mut all: Vec<f64> = (1..=SEEDS).map(times_of).collect();
        all.sort_by(f64::total_cmp);
        let times = all[all.len() / 2];
        println!("{device}: {times:.3} times as long as without, {:.3} to {:.3}", all[0], all[all.len() - 1]);
        assert!(times <= most, "{device}, {memory} bytes: {times:.3} times as long as without");
    }
}

#[test]
fn a_read_at_random_beside_streams_costs_a_disk_two_moves() {
    let readings = [interleaved(128 * MIB, 128 * KIB, 2), random(1024 * MIB, 4 * KIB, 400, 5)];
    // A move to each read and one back take 0.47, 0.70 and 0.80 of the time.
    for (device, most) in [("ide-2006", 0.48), ("scsi-2001", 0.71), ("cheetah9lp", 0.81)] {
        let (adaptive, none) = (
            together(&readings, device, 64 * MIB, PolicyKind::Adaptive),
            together(&readings, device, 64 * MIB, PolicyKind::None),
        );
        let times = adaptive.seconds / none.seconds;
        println!("{device}: {times:.3} times as long as without");
        assert!(times <= most, "{device}: {times:.3} times as long as without");
    }
}
