//! Many objects, each of them read a little: what is fetched in vain of one is soon forgotten, and of all
//! together it is much.

use forerun_engine::Config;
use forerun_policies::PolicyKind;
use forerun_sim::device::Preset;
use forerun_sim::source::{Action, Client, Clients, Extent, ObjectId, place};
use forerun_sim::world::World;
use forerun_trace::generate::Numbers;

use super::bed::*;

const OBJECTS: u64 = 500;
const OBJECT_BYTES: u64 = 8 * MIB;
const LEN: u64 = 16 * KIB;

/// A few runs of each of many objects, of up to `reads_max` reads each.
fn runs(reads_max: u64) -> Vec<(ObjectId, Extent)> {
    strided_runs(reads_max, LEN)
}

/// The same where a read begins so many bytes after the one before.
fn strided_runs(reads_max: u64, stride: u64) -> Vec<(ObjectId, Extent)> {
    let mut numbers = Numbers::new(1);
    let mut run = |object: u64| {
        let (start, count) = (numbers.below(OBJECT_BYTES / MIB) * MIB, 1 + numbers.below(reads_max));
        (0..count).map(move |at| (ObjectId(object), Extent::new(start + at * stride, LEN)))
    };
    (0..OBJECTS).flat_map(|object| [object; 6]).flat_map(&mut run).collect()
}

/// How many times as long as without readahead they take.
fn times(reads: &[(ObjectId, Extent)], device: &str) -> f64 {
    let seconds = |policy: PolicyKind| {
        let device = Preset::from_name(device).expect("a device by its name").build(1);
        let world = World::new(Config { policy: policy.into(), ..Config::new(256 * MIB) }, device)
            .expect("a configuration");
        let actions = reads.iter().map(|(object, extent)| Action::read(*object, *extent));
        let client: Box<dyn Client> = Box::new(actions.collect::<Vec<_>>().into_iter());
        let placed = place([OBJECT_BYTES; OBJECTS as usize], MIB);
        Outcome::of(&world.run(&mut Clients::new(placed, vec![client])).expect("nobody hangs")).seconds
    };
    seconds(PolicyKind::Adaptive) / seconds(PolicyKind::None)
}

#[test]
fn many_objects_together_cost_no_more_than_they_save() {
    const SLOW: &str = "network:latency=200us,connection=20MB/s,total=20MB/s";
    // Without that they take 1.64, 2.47, 1.29, 1.12 and 2.47 times as long.
    let known = [
        ("nfs-gbe", 2, 1.03),
        (SLOW, 6, 1.03),
        ("ide-2006", 40, 1.03),
        ("ebs-gp3", 2, 1.03),
        // Where the luckiest wait is long, it takes a while to see that it is a disk.
        ("cheetah9lp", 2, 1.15),
    ];
    for (device, reads_max, most) in known {
        let times = times(&runs(reads_max), device);
        println!("{device}, up to {reads_max} reads: {times:.3} times as long as without");
        assert!(times <= most, "{device}, up to {reads_max} reads: {times:.3} times as long as without");
    }
}

/// Each read is a movement of the head all the same, whoever asks for it.
#[test]
fn strides_at_a_head_that_has_no_other_reader_are_not_read_ahead() {
    // Otherwise they take 2.5 times as long.
    let times = times(&strided_runs(8, 128 * KIB), "ide-2006");
    println!("{times:.3} times as long as without");
    assert!(times <= 1.05, "{times:.3} times as long as without");
}

#[test]
fn streams_of_many_objects_are_read_ahead_even_so() {
    for (device, most) in [("nvme", 0.4), ("rbd-2014", 0.35), ("ebs-gp3", 0.45), ("fc-2010", 0.26)] {
        let times = times(&runs(40), device);
        assert!(times <= most, "{device}: {times:.3} times as long as without");
    }
}
