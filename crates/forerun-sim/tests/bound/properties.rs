//! Properties that hold for any workload on any device.

use forerun_engine::Config;
use forerun_policies::PolicyKind;
use forerun_sim::bound::{Bounds, Clairvoyance, Future, bounds, lower};
use forerun_sim::device::Preset;
use forerun_sim::source::{Action, Client, Clients, Extent, ObjectId, Placed, Source, Time, place};
use forerun_sim::world::World;

use super::{Dice, MakeDevice, Programs, read};

/// Up to three programs that read here and there, now and then one behind the other,
/// and sometimes write.
fn random_programs(dice: &mut Dice, writes: bool) -> Programs {
    let sizes: Vec<u64> = (0..1 + dice.below(4)).map(|_| 1 + dice.below(3 << 20)).collect();
    let objects = place(sizes.iter().copied(), 1 << 20);
    let program = |dice: &mut Dice| {
        let (mut actions, mut object, mut offset) = (Vec::new(), 0, 0);
        for _ in 0..5 + dice.below(60) {
            if dice.below(3) == 0 || offset >= sizes[object] {
                object = dice.below(sizes.len() as u64) as usize;
                offset = dice.below(sizes[object]);
            }
            let extent = Extent::new(offset, (1 + dice.below(150_000)).min(sizes[object] - offset));
            offset = extent.end();
            actions.push(match writes && dice.below(5) == 0 {
                true => Action::write(ObjectId(object as u64), extent),
                false => Action::read(ObjectId(object as u64), extent),
            });
            if dice.below(2) == 0 {
                actions.push(Action::Pause(dice.below(3_000_000)));
            }
        }
        actions
    };
    let count = 1 + dice.below(3);
    Programs { objects, actions: (0..count).map(|_| program(dice)).collect() }
}

fn clairvoyance(preset: &Preset, memory_bytes: u64) -> Clairvoyance {
    Clairvoyance { memory_bytes, costs: preset.costs(), look_ahead: None, threads: 2 }
}

fn policy_ns(programs: &Programs, make_device: MakeDevice, policy: PolicyKind, read_cost_ns: u64) -> u64 {
    let config = Config { policy: policy.into(), ..Config::new(Config::MEMORY_BYTES_MIN) };
    let world = World::new(config, make_device()).unwrap().read_cost_ns(read_cost_ns);
    world.run(&mut *programs.source()).unwrap().elapsed_ns
}

#[test]
fn nothing_beats_the_lower_bound() {
    let mut dice = Dice(11);
    for round in 0..30 {
        let programs = random_programs(&mut dice, round % 3 == 2);
        let read_cost_ns = dice.below(2) * 20_000;
        for name in Preset::ALL {
            let preset = Preset::from_name(name).unwrap();
            let make_device = || preset.build(round);
            let clairvoyance = clairvoyance(&preset, Config::MEMORY_BYTES_MIN);
            let Bounds { lower_ns, clairvoyant_ns, .. } =
                bounds(&|| programs.source(), &make_device, read_cost_ns, &clairvoyance).unwrap();
            assert!(lower_ns <= clairvoyant_ns, "{name}, round {round}");
            for policy in PolicyKind::ALL {
                let elapsed_ns = policy_ns(&programs, &make_device, policy, read_cost_ns);
                assert!(
                    lower_ns <= elapsed_ns,
                    "{policy:?} on {name}, round {round}: {elapsed_ns} < {lower_ns}"
                );
            }
        }
    }
}

#[test]
fn more_memory_never_raises_the_lower_bound() {
    let mut dice = Dice(3);
    for _ in 0..50 {
        let programs = random_programs(&mut dice, true);
        let future = Future::record(&mut *programs.source(), 0).unwrap();
        for name in Preset::ALL {
            let costs = Preset::from_name(name).unwrap().costs();
            let bounds: Vec<u64> = (0..12).map(|power| lower(&future, 4096 << power, &costs)).collect();
            assert!(bounds.is_sorted_by(|less, more| less >= more), "{name}: {bounds:?}");
        }
    }
}

/// 64 MiB from the beginning to the end in reads of 128 KiB.
fn scan() -> Programs {
    let actions = (0..512).map(|at| read(0, at * 32, 32)).collect();
    Programs { objects: vec![Placed { address: 0, size: 64 << 20 }], actions: vec![actions] }
}

#[test]
fn a_scan_of_a_network_store_is_as_fast_as_can_be() {
    let preset = Preset::from_name("demo").unwrap();
    let scan = scan();
    let found = bounds(&|| scan.source(), &|| preset.build(1), 0, &clairvoyance(&preset, 32 << 20)).unwrap();
    assert!(found.clairvoyant_ns <= found.lower_ns * 11 / 10, "{found:?}");
}

#[test]
fn a_tight_cache_makes_the_bound_count_what_is_read_again() {
    let preset = Preset::from_name("demo").unwrap();
    let mut twice = scan();
    twice.actions[0].extend_from_within(..);
    let future = Future::record(&mut *twice.source(), 0).unwrap();
    let ample = lower(&future, 64 << 20, &preset.costs());
    let tight = lower(&future, 1 << 20, &preset.costs());
    assert!(future.is_serial() && tight * 10 > ample * 17, "{ample} {tight}");
    let found = bounds(&|| twice.source(), &|| preset.build(1), 0, &clairvoyance(&preset, 48 << 20)).unwrap();
    // Three quarters of it stay in memory.
    assert!(found.clairvoyant_ns * 10 < ample * 16, "{found:?} {ample}");
}

#[test]
fn foresight_helps_and_less_of_it_helps_less() {
    let mut dice = Dice(5);
    let actions = (0..400).map(|_| read(0, dice.below(16_000), 4)).collect();
    let scattered = Programs { objects: vec![Placed { address: 0, size: 64 << 20 }], actions: vec![actions] };
    let preset = Preset::from_name("ide-2006").unwrap();
    let with = |look_ahead| {
        let clairvoyance = Clairvoyance { look_ahead, ..clairvoyance(&preset, 16 << 20) };
        bounds(&|| scattered.source(), &|| preset.build(1), 0, &clairvoyance).unwrap().clairvoyant_ns
    };
    let none = policy_ns(&scattered, &|| preset.build(1), PolicyKind::None, 0);
    let (all, some) = (with(None), with(Some(50)));
    assert!(all < some && some < none, "{all} {some} {none}");
}

#[test]
fn threads_do_not_change_the_result() {
    let programs = random_programs(&mut Dice(23), true);
    let preset = Preset::from_name("s3").unwrap();
    let with = |threads| {
        let clairvoyance = Clairvoyance { threads, ..clairvoyance(&preset, 4 << 20) };
        bounds(&|| programs.source(), &|| preset.build(9), 0, &clairvoyance).unwrap()
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn a_source_without_reads_takes_its_own_time() {
    let extent = Extent::new(0, 4096);
    let actions = vec![Action::Pause(7), Action::close(ObjectId(0)), Action::Pause(5)];
    let idle = Programs { objects: vec![Placed { address: 0, size: 4096 }], actions: vec![actions] };
    let preset = Preset::from_name("demo").unwrap();
    let found = bounds(&|| idle.source(), &|| preset.build(1), 0, &clairvoyance(&preset, 0)).unwrap();
    assert_eq!((found.lower_ns, found.clairvoyant_ns), (12, 12));
    // A written block is fetched again.
    let actions = [Action::read, Action::write, Action::read].map(|deed| deed(ObjectId(0), extent));
    let rewriting = Programs { actions: vec![actions.to_vec()], ..idle };
    let found =
        bounds(&|| rewriting.source(), &|| preset.build(1), 0, &clairvoyance(&preset, 1 << 20)).unwrap();
    assert!(found.clairvoyant_ns > 30_000_000, "{found:?}");
}

/// Reads one block, and then one of two others: which depends on the time.
struct Fickle {
    read_count: u64,
    late: u64,
}

impl Client for Fickle {
    fn next(&mut self, now: Time) -> Action {
        self.read_count += 1;
        match (self.read_count, now) {
            (1, _) => read(0, 0, 1),
            (2, Time(0)) => read(0, 9, 1),
            (2, _) => read(0, self.late, 1),
            (3, _) => read(0, 5, 1),
            _ => Action::End,
        }
    }
}

#[test]
fn unforeseen_blocks_are_fetched_on_demand() {
    let preset = Preset::from_name("demo").unwrap();
    // Block 5 is foreseen for later, 77 not at all.
    for (late, latencies) in [(9, 1), (5, 1), (77, 2)] {
        let make_source = || {
            let objects = vec![Placed { address: 0, size: 1 << 20 }];
            Box::new(Clients::new(objects, vec![Box::new(Fickle { read_count: 0, late })])) as Box<dyn Source>
        };
        let found = bounds(&make_source, &|| preset.build(1), 0, &clairvoyance(&preset, 1 << 20)).unwrap();
        assert_eq!(found.clairvoyant_ns / 10_000_000, latencies, "{late}: {found:?}");
    }
}
