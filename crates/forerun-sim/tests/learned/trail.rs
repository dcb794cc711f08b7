//! Programs that open one object after another, as in an earlier run or otherwise.

use std::slice;

use forerun_policies::PolicyKind;
use forerun_sim::run::Run;
use forerun_trace::generate::Numbers;

use super::bed::{KIB, MIB, Profiles, Reading};

const COUNT: usize = 1000;
const DEVICES: [&str; 5] = ["demo", "s3", "nvme", "rbd-2014", "ide-2006"];
/// Bytes that may be wasted besides a tenth of the used bytes.
const VAIN_BYTES: u64 = MIB;

/// Most objects are small, one in twenty is not.
fn sizes() -> Vec<u64> {
    let mut numbers = Numbers::new(7);
    let size = |index: usize| match index % 20 {
        0 => 64 * KIB + numbers.below(1024 * KIB),
        _ => 1 + numbers.below(64 * KIB),
    };
    (0..COUNT).map(size).collect()
}

/// All of them in an order of no sense.
fn shuffled(seed: u64) -> Vec<usize> {
    let mut numbers = Numbers::new(seed);
    let mut order: Vec<usize> = (0..COUNT).collect();
    (1..COUNT).rev().for_each(|index| order.swap(index, numbers.below(index as u64 + 1) as usize));
    order
}

fn learned(order: &[usize]) -> Profiles {
    Reading::Opened(sizes(), vec![order.to_vec()]).profiles()
}

fn run(orders: &[Vec<usize>], profiles: Profiles, device: &str, memory: u64) -> Run {
    Reading::Opened(sizes(), orders.to_vec()).run(device, PolicyKind::Adaptive, memory, profiles)
}

/// Reads in `orders` with the profile of `before` and without. On each device the first is faster by the
/// factor in `gains`, and wastes little.
#[track_caller]
fn check(what: &str, orders: &[Vec<usize>], before: &Profiles, gains: [f64; 5]) {
    let sizes = sizes();
    let asked: u64 = orders.iter().flatten().map(|index| sizes[*index]).sum();
    for (device, gain) in DEVICES.into_iter().zip(gains) {
        let without = run(orders, Profiles::new(), device, 256 * MIB);
        let with = run(orders, before.clone(), device, 256 * MIB);
        let times = without.elapsed_ns as f64 / with.elapsed_ns as f64;
        let vain = with.device.read_bytes.saturating_sub(without.device.read_bytes);
        println!("{what} on {device}: {times:.2} times as fast, {:.1} MB in vain", vain as f64 / 1e6);
        assert!(vain <= asked / 10 + VAIN_BYTES, "{what} on {device}: {vain} in vain");
        assert!(times >= gain, "{what} on {device}: {times:.2} times as fast");
    }
}

#[test]
fn a_start_that_repeats_does_not_wait_for_each_object() {
    let order = shuffled(1);
    check("the same", slice::from_ref(&order), &learned(&order), [20.0, 20.0, 2.0, 2.5, 0.98]);
}

#[test]
fn a_start_in_another_order_wastes_little_and_is_not_slower() {
    check("another order", &[shuffled(2)], &learned(&shuffled(1)), [0.99; 5]);
}

#[test]
fn a_start_that_leaves_out_every_other_object_wastes_little() {
    let order = shuffled(1);
    let half: Vec<usize> = order.iter().copied().step_by(2).collect();
    check("every other", &[half], &learned(&order), [0.99; 5]);
}

#[test]
fn a_start_in_some_disorder_is_still_the_same() {
    let before = shuffled(1);
    let mut numbers = Numbers::new(3);
    let mut order = before.clone();
    (0..COUNT - 8).for_each(|index| order.swap(index, index + numbers.below(8) as usize));
    check("in disorder", &[order], &learned(&before), [20.0, 20.0, 2.0, 2.5, 0.98]);
}

#[test]
fn two_programs_at_once_are_followed_each() {
    let order = shuffled(1);
    let (one, other) = order.split_at(COUNT / 2);
    check("two at once", &[one.to_vec(), other.to_vec()], &learned(&order), [10.0, 10.0, 1.5, 1.5, 0.95]);
}

#[test]
fn objects_opened_now_and_then_in_no_order_cost_little() {
    let few: Vec<usize> = shuffled(2).into_iter().take(50).collect();
    // On a disk the few that do lie one behind another are a wait.
    check("now and then", &[few], &learned(&shuffled(1)), [0.98, 0.98, 0.98, 0.98, 0.85]);
}

#[test]
fn profiles_larger_than_the_memory_are_read_ahead_as_room_is_made() {
    let order = shuffled(1);
    let asked: u64 = sizes().iter().sum();
    for (device, gain) in DEVICES.into_iter().zip([3.0, 3.0, 1.6, 1.5, 0.9]) {
        let without = run(slice::from_ref(&order), Profiles::new(), device, 8 * MIB);
        let with = run(slice::from_ref(&order), learned(&order), device, 8 * MIB);
        let times = without.elapsed_ns as f64 / with.elapsed_ns as f64;
        let fetched = with.device.read_bytes as f64 / asked as f64;
        println!(
            "8 MiB of memory on {device}: {times:.2} times as fast, {fetched:.3} fetched for each asked"
        );
        assert!(with.memory_bytes_peak <= 8 * MIB);
        assert!(times >= gain && fetched < 1.05, "{device}: {times:.2} times, {fetched:.3} fetched");
    }
}
