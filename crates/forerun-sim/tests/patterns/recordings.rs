//! Recorded accesses: no worse than nothing anywhere, and little wasted.

use std::path::Path;

use forerun_engine::{Config, PolicyKind};
use forerun_sim::device::Preset;
use forerun_sim::run::Run;
use forerun_sim::source::{Pace, Replay, Scan};
use forerun_sim::world::World;
use forerun_trace::{Access, ReadOptions, Reader};

use super::bed::MIB;

const DEVICES: [&str; 8] =
    ["demo", "nvme", "rbd-2014", "scsi-2001", "cheetah9lp", "ide-2006", "nfs-gbe", "s3"];

fn replay(accesses: &[Access], device: &str, policy: PolicyKind) -> Run {
    let device = Preset::from_name(device).expect("a device by its name").build(1);
    let config = Config { policy, ..Config::new(256 * MIB) };
    let world = World::new(config, device).expect("a configuration that works");
    let mut source = Replay::new(accesses.iter().cloned(), Scan::of(accesses), Pace::Closed);
    world.run(&mut source).expect("nobody hangs")
}

#[test]
fn recordings() {
    for name in ["boot-ide", "boot-virtio", "grep-virtio"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../samples/{name}.frt.gz"));
        let reader = Reader::open(&path, ReadOptions::default()).expect("a shipped recording");
        let accesses: Vec<Access> = reader.collect::<Result<_, _>>().expect("it is whole");
        for device in DEVICES {
            if name.starts_with("grep") && !["demo", "ide-2006", "nfs-gbe"].contains(&device) {
                continue;
            }
            let none = replay(&accesses, device, PolicyKind::None);
            print!("{name:<12} {device:<11} none {:>8.2}s", none.elapsed_ns as f64 / 1e9);
            let mut policies = vec![PolicyKind::Adaptive];
            if std::env::var("ALL").is_ok() {
                policies.extend([PolicyKind::Plain, PolicyKind::Context2631, PolicyKind::OnDemand]);
            }
            for policy in policies {
                let run = replay(&accesses, device, policy);
                print!(
                    "  {} {:>8.2}s ({:.3}x) device {:>4} of {:>4} MiB, wasted {:>3}",
                    policy.name(),
                    run.elapsed_ns as f64 / 1e9,
                    none.elapsed_ns as f64 / run.elapsed_ns as f64,
                    run.device.read_bytes >> 20,
                    none.device.read_bytes >> 20,
                    run.wasted_bytes >> 20
                );
            }
            println!();
        }
    }
}
