//! Recorded accesses: no worse than nothing anywhere, and little wasted.

use std::path::Path;

use forerun_engine::Config;
use forerun_policies::PolicyKind;
use forerun_sim::device::Preset;
use forerun_sim::run::Run;
use forerun_sim::source::{Pace, Replay, Scan};
use forerun_sim::world::World;
use forerun_trace::{Access, ReadOptions, Reader};

use super::bed::MIB;

/// Devices, whether one is far away, and how much slower than with no readahead
/// `adaptive` may be, in percent.
const DEVICES: [(&str, bool, f64); 8] = [
    ("demo", true, 0.0),
    ("s3", true, 0.0),
    ("nvme", false, 0.0),
    ("rbd-2014", false, 0.0),
    ("nfs-gbe", false, 0.0),
    ("ide-2006", false, 0.0),
    ("scsi-2001", false, 3.0),
    ("cheetah9lp", false, 5.0),
];

fn replay(accesses: &[Access], device: &str, policy: PolicyKind) -> Run {
    let device = Preset::from_name(device).expect("a device by its name").build(1);
    let config = Config { policy: policy.into(), ..Config::new(256 * MIB) };
    let world = World::new(config, device).expect("a configuration that works");
    let mut source = Replay::new(accesses.iter().cloned(), Scan::of(accesses), Pace::Closed);
    world.run(&mut source).expect("nobody hangs")
}

/// Replays a shipped recording everywhere. Bets near earlier reads may waste bytes as long as that costs
/// less than the waits that it saves. At most this share of the requested bytes is wasted.
fn check(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../samples/{name}.frt.gz"));
    let reader = Reader::open(&path, ReadOptions::default()).expect("a shipped recording");
    let accesses: Vec<Access> = reader.collect::<Result<_, _>>().expect("it is whole");
    for (device, is_far, slower_percent) in DEVICES {
        let none = replay(&accesses, device, PolicyKind::None);
        let run = replay(&accesses, device, PolicyKind::Adaptive);
        let gain = none.elapsed_ns as f64 / run.elapsed_ns as f64;
        let wasted = run.wasted_bytes as f64 / none.device.read_bytes as f64;
        println!("{name} on {device}: {gain:.3} times as fast, {:.1} % wasted", 100.0 * wasted);
        assert!(gain * (1.0 + slower_percent / 100.0) >= 1.0, "{name} on {device}: {gain:.3} times as fast");
        assert!(wasted <= if is_far { 0.9 } else { 0.7 }, "{name} on {device}: {wasted:.3} wasted");
    }
}

#[test]
fn a_boot_from_ide() {
    check("boot-ide");
}

#[test]
fn a_boot_from_virtio() {
    check("boot-virtio");
}

#[test]
fn a_grep() {
    check("grep-virtio");
}
