//! Readers of several kinds at once, each of an object of its own: those that can be read
//! ahead of leave their share to those that cannot.

use forerun_engine::{Config, PolicyKind};
use forerun_sim::device::Preset;
use forerun_sim::source::{Action, Client, Clients, Extent, ObjectId, place};
use forerun_sim::world::World;
use forerun_trace::generate::Numbers;

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
    // With 64 MiB what is read at random is not all there soon, and with 16 MiB hardly any of it.
    let known = ["nvme", "rbd-2014", "ide-2006", "demo"].map(|device| (device, 256 * MIB, 1.01));
    for (device, memory, most) in
        known.into_iter().chain([("rbd-2014", 64 * MIB, 1.05), ("rbd-2014", 16 * MIB, 1.2)])
    {
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
fn over_a_narrow_link_close_by_less_is_ahead_of_short_runs() {
    // A wait there is as long as 11 KB take. Each of 40 files is read in some runs of 128 KiB reads,
    // 1 to 6 of them, at places of no sense.
    const SIZE: u64 = 32 * MIB;
    let mut numbers = Numbers::new(1);
    let mut run = |file: u64| {
        let (start, count) = (numbers.below(SIZE / MIB - 1) * MIB, numbers.below(6) + 1);
        (0..count).map(move |at| (ObjectId(file), Extent::new(start + at * 128 * KIB, 128 * KIB)))
    };
    let reads: Vec<_> = (0..40).flat_map(|file| [file; 8]).flat_map(&mut run).collect();
    let device = Preset::from_name("nfs-gbe").expect("a device by its name").build(1);
    let config = Config { policy: PolicyKind::Adaptive, ..Config::new(256 * MIB) };
    let world = World::new(config, device).expect("a configuration that works");
    let actions = reads.iter().map(|(object, extent)| Action::read(*object, *extent));
    let client: Box<dyn Client> = Box::new(actions.collect::<Vec<_>>().into_iter());
    let placed = place([SIZE; 40], MIB);
    let outcome = Outcome::of(&world.run(&mut Clients::new(placed, vec![client])).expect("nobody hangs"));
    // Who wanted as much again ahead of each as it has come would fetch 1.9.
    assert!(outcome.fetched <= 1.7, "{:.3} fetched for each asked", outcome.fetched);
}
