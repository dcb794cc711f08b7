//! Boots and programs that start.

use std::path::Path;

use forerun_engine::PolicyKind;

use super::bed::{MIB, Reading};

const DEVICES: [&str; 4] = ["demo", "rbd-2014", "s3", "ide-2006"];

fn check(name: &str, reading: &Reading) {
    let profiles = reading.profiles();
    println!("{name}: {} extents", profiles.iter().map(|(_, extents)| extents.len()).sum::<usize>());
    for device in DEVICES {
        let none = reading.run(device, PolicyKind::None, 256 * MIB, Vec::new());
        let plain = reading.run(device, PolicyKind::Adaptive, 256 * MIB, Vec::new());
        let learned = reading.run(device, PolicyKind::Adaptive, 256 * MIB, profiles.clone());
        let best = reading.clairvoyant_ns(device);
        println!(
            "{name} on {device}: none {:.2} s, adaptive {:.2} s, learned {:.3} s, clairvoyant {:.3} s; \
             {:.2} of it; fetched {:.3}",
            none.elapsed_ns as f64 / 1e9,
            plain.elapsed_ns as f64 / 1e9,
            learned.elapsed_ns as f64 / 1e9,
            best as f64 / 1e9,
            learned.elapsed_ns as f64 / best as f64,
            learned.device.read_bytes as f64 / none.device.read_bytes as f64,
        );
    }
}

#[test]
fn a_boot_from_ide() {
    check("boot-ide", &Reading::sample("boot-ide"));
}

#[test]
fn a_boot_from_virtio() {
    check("boot-virtio", &Reading::sample("boot-virtio"));
}

#[test]
fn a_program_that_starts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces/csv");
    for name in ["lichota2007_ooo_test1_1", "lichota2007_ooo_short_test4_run1-cold"] {
        if let Some(reading) = Reading::recorded(&folder.join(format!("{name}.csv"))) {
            check(name, &reading);
        }
    }
}
