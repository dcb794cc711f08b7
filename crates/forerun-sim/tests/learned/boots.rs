//! Boots and programs that start.

use forerun_policies::PolicyKind;

use super::bed::{MIB, Reading};
use super::recordings::shared;

/// Devices, and how much longer than the best schedule a learned run may take, in percent. On `s3` one
/// request in 200 takes up to a second, which a schedule with knowledge of the future starts long before.
/// There the run is compared with one that has learned nothing.
const DEVICES: [(&str, Option<f64>); 5] = [
    ("demo", Some(15.0)),
    ("rbd-2014", Some(15.0)),
    ("nvme", Some(15.0)),
    ("s3", None),
    ("ide-2006", Some(15.0)),
];

fn check(name: &str, reading: &Reading) {
    let profiles = reading.profiles();
    for (device, above) in DEVICES {
        let run = |policy, profiles| reading.run(device, policy, 256 * MIB, profiles);
        let none = run(PolicyKind::None, Vec::new());
        let unlearned = run(PolicyKind::Adaptive, Vec::new());
        let learned = run(PolicyKind::Adaptive, profiles.clone());
        let fetched = learned.device.read_bytes as f64 / none.device.read_bytes as f64;
        let seconds = |ns: u64| ns as f64 / 1e9;
        println!(
            "{name} on {device}: none {:.2} s, adaptive {:.2} s, with a profile {:.2} s; \
             {fetched:.3} fetched for each asked",
            seconds(none.elapsed_ns),
            seconds(unlearned.elapsed_ns),
            seconds(learned.elapsed_ns)
        );
        assert!(fetched <= 1.1, "{name} on {device}: {fetched:.3} fetched for each asked");
        let Some(above) = above else {
            assert!(3 * learned.elapsed_ns < 2 * unlearned.elapsed_ns, "{name} on {device}: no use");
            continue;
        };
        assert!(learned.elapsed_ns < unlearned.elapsed_ns, "{name} on {device}: no use");
        let times = learned.elapsed_ns as f64 / reading.clairvoyant_ns(device) as f64;
        println!("{name} on {device}: {times:.2} times the best");
        assert!(times <= 1.0 + above / 100.0, "{name} on {device}: {times:.2} times the best");
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
#[ignore = "needs the recordings of ../shared: make test-shared"]
fn a_program_that_starts() {
    for name in ["lichota2007_ooo_test1_1", "lichota2007_ooo_short_test4_run1-cold"] {
        check(name, &Reading::recorded(&shared(&format!("csv/{name}.csv"))));
    }
}
