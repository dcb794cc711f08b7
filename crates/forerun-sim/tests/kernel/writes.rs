//! A kernel of the past writes: later, unless writers are too far ahead.

use forerun_policies::kernel::Stock;
use forerun_sim::kernel::KernelConfig;
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Extent, ObjectId};

use crate::support::{KernelRun, PAGE, clients, read_in_steps};

const SECOND: u64 = 1_000_000_000;

fn write_in_steps(object: u64, size: u64) -> Vec<Action> {
    (0..size).step_by(8192).map(|at| Action::write(ObjectId(object), Extent::new(at, 8192))).collect()
}

fn run(config: KernelConfig, objects: u64, size: u64, tail: &[Action], reads_back: bool) -> Run {
    let actions = (0..objects).map(|object| {
        let mut actions = write_in_steps(object, size);
        if reads_back {
            actions.extend(read_in_steps(object, size, 8192));
        }
        actions.extend(tail);
        actions
    });
    let mut kernel = KernelRun::new(0, Box::new(Stock::new(32)));
    kernel.config = config;
    kernel.run(clients(vec![size; objects as usize], actions.collect()))
}

#[test]
fn few_dirty_pages_wait_and_many_are_written() {
    let config = KernelConfig::linux_2_6(10_000);
    assert_eq!(run(config, 1, 900 * PAGE, &[], false).device.write_bytes, 0);
    let run = run(config, 1, 3000 * PAGE, &[Action::Pause(SECOND)], false);
    let written = run.device.write_bytes / PAGE;
    assert!((2000..=2200).contains(&written), "{written} pages");
    assert_eq!(run.clients[0].write_bytes, 3000 * PAGE);
}

#[test]
fn old_dirty_pages_are_written() {
    let tail = |seconds| [Action::Pause(seconds * SECOND)];
    let config = KernelConfig::linux_2_6(10_000);
    assert_eq!(run(config, 2, 100 * PAGE, &tail(29), false).device.write_bytes, 0);
    assert_eq!(run(config, 2, 100 * PAGE, &tail(37), false).device.write_bytes, 200 * PAGE);
}

#[test]
fn writers_wait_when_the_disk_is_slow() {
    for config in [KernelConfig::linux_2_6(1000), KernelConfig::linux_2_4(1000)] {
        let run = run(config, 4, 1000 * PAGE, &[], false);
        let left = 4000 - run.device.write_bytes / PAGE;
        assert!(left <= 1000 * config.writeback.throttle_percent / 100, "{left} pages left");
        assert!(run.elapsed_ns > 0);
    }
}

#[test]
fn written_pages_are_cached_or_read_again() {
    for config in [KernelConfig::linux_2_6 as fn(u64) -> KernelConfig, KernelConfig::linux_2_4] {
        let ample = run(config(8000), 5, 1000 * PAGE, &[], true);
        assert_eq!((ample.device.read_bytes, ample.hit_bytes), (0, 5000 * PAGE));
        let scarce = run(config(2000), 5, 1000 * PAGE, &[], true);
        let read = scarce.device.read_bytes / PAGE;
        assert!((1000..=10_000).contains(&read), "{read} pages read back");
        assert_eq!(scarce.read_bytes, 5000 * PAGE);
    }
}
