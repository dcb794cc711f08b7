//! Readers that do not repeat what was learned, or not all of it.

use forerun_engine::{Extent, ObjectId};
use forerun_policies::PolicyKind;
use forerun_sim::run::Run;
use forerun_trace::generate::Numbers;

use super::bed::{KIB, MIB, Reading};

const SIZE: u64 = 512 * MIB;
const LEN: u64 = 32 * KIB;
/// Bytes that may be wasted besides a tenth of the used bytes. Bytes in flight to a store far away are
/// among them, and so are the first bets after them.
const VAIN_BYTES: u64 = 24 * MIB;

/// `count` extents of [`LEN`], none twice, anywhere in the object's first half, or in
/// its second.
fn shuffled(count: u64, in_second_half: bool, seed: u64) -> Vec<Extent> {
    let mut numbers = Numbers::new(seed);
    let half = SIZE / 2;
    let base = if in_second_half { half } else { 0 };
    // Every other, so that no two are adjacent.
    let mut places: Vec<u64> = (0..half / LEN / 2).map(|place| base + 2 * place * LEN).collect();
    for index in (1..places.len()).rev() {
        places.swap(index, numbers.below(index as u64 + 1) as usize);
    }
    places.iter().take(count as usize).map(|place| Extent::new(*place, LEN)).collect()
}

fn run(order: Vec<Extent>, profile: &[Extent], device: &str, memory: u64) -> Run {
    let profiles = if profile.is_empty() { Vec::new() } else { vec![(ObjectId(0), profile.to_vec())] };
    Reading::Ordered(SIZE, order).run(device, PolicyKind::Adaptive, memory, profiles)
}

/// Reads `order` with `profile` and without. The waste is bounded, and it is at least `gain` times as fast,
/// on a disk `on_disk` times. On a disk, random reads take as long in any order, except for the seeks
/// between them.
#[track_caller]
fn check(what: &str, order: &[Extent], profile: &[Extent], gain: f64, on_disk: f64) {
    let asked: u64 = order.iter().map(|extent| extent.len).sum();
    for device in ["demo", "s3", "ide-2006", "nvme"] {
        let without = run(order.to_vec(), &[], device, 256 * MIB);
        let with = run(order.to_vec(), profile, device, 256 * MIB);
        let (before, vain) =
            (without.device.read_bytes, with.device.read_bytes - asked.min(with.device.read_bytes));
        let times = without.elapsed_ns as f64 / with.elapsed_ns as f64;
        println!("{what} on {device}: {times:.2} times as fast, {:.1} MB in vain", vain as f64 / 1e6);
        assert!(
            vain <= before.saturating_sub(asked) + asked / 10 + VAIN_BYTES,
            "{what} on {device}: {vain} in vain"
        );
        let least = if device == "ide-2006" { on_disk } else { gain };
        assert!(times >= least, "{what} on {device}: {times:.2} times as fast");
    }
}

#[test]
fn a_run_that_repeats_is_faster_everywhere() {
    let order = shuffled(1000, false, 1);
    check("the same", &order, &order, 4.0, 1.0);
}

#[test]
fn another_run_wastes_little_and_is_not_slower() {
    check("another", &shuffled(1000, true, 2), &shuffled(1000, false, 1), 0.95, 0.95);
}

#[test]
fn a_run_that_turns_away_halfway_wastes_little() {
    let profile = shuffled(1000, false, 1);
    let order = [&profile[..500], &shuffled(500, true, 2)].concat();
    check("half the same", &order, &profile, 1.2, 0.75);
}

#[test]
fn a_run_that_leaves_out_every_other_wastes_little() {
    let profile = shuffled(2000, false, 1);
    let order: Vec<Extent> = profile.iter().step_by(2).copied().collect();
    check("every other", &order, &profile, 0.95, 0.7);
}

#[test]
fn a_run_that_leaves_out_a_part_goes_on_behind_it() {
    let profile = shuffled(2000, false, 1);
    let order = [&profile[..500], &profile[1500..]].concat();
    check("a part left out", &order, &profile, 1.2, 0.9);
}

#[test]
fn a_run_in_some_disorder_is_still_the_same() {
    let profile = shuffled(1000, false, 1);
    let mut numbers = Numbers::new(3);
    let mut order = profile.clone();
    for index in 0..order.len() - 16 {
        order.swap(index, index + numbers.below(16) as usize);
    }
    check("in disorder", &order, &profile, 4.0, 1.0);
}

#[test]
fn a_run_of_several_who_take_other_turns_is_still_the_same() {
    let all = shuffled(1024, false, 1);
    let parts: Vec<&[Extent]> = all.chunks(128).collect();
    // One of each part in turn, and then of each part another number.
    let profile: Vec<Extent> = (0..128).flat_map(|at| parts.iter().map(move |part| part[at])).collect();
    let turns = (0..128).flat_map(|turn| (0..parts.len()).map(move |part| (turn, part)));
    let order: Vec<Extent> = turns
        .flat_map(|(turn, part)| parts[part].iter().skip(turn * (part + 1)).take(part + 1))
        .copied()
        .collect();
    assert_eq!(order.len(), profile.len());
    check("other turns", &order, &profile, 4.0, 1.0);
}

#[test]
fn a_run_beside_another_that_is_far_ahead_is_still_the_same() {
    let profile = shuffled(1024, false, 1);
    let (most, ahead) = profile.split_at(896);
    let order: Vec<Extent> =
        most.chunks(7).zip(ahead).flat_map(|(most, ahead)| most.iter().chain([ahead]).copied()).collect();
    assert_eq!(order.len(), profile.len());
    check("far ahead", &order, &profile, 4.0, 1.0);
}

#[test]
fn a_run_that_goes_from_place_to_place_wastes_little() {
    let profile = shuffled(2000, false, 1);
    let mut numbers = Numbers::new(5);
    let order: Vec<Extent> = (0..200)
        .flat_map(|_| {
            let place = numbers.below(1998) as usize;
            profile[place..place + 2].to_vec()
        })
        .collect();
    check("from place to place", &order, &profile, 0.9, 0.3);
}

#[test]
fn a_run_of_several_at_once_who_took_turns_is_still_the_same() {
    let profile = shuffled(1024, false, 1);
    for count in [2, 8, 32] {
        let parts: Vec<&[Extent]> = profile.chunks(1024 / count).collect();
        let order: Vec<Extent> =
            (0..1024 / count).flat_map(|at| parts.iter().map(move |part| part[at])).collect();
        check(&format!("{count} at once"), &order, &profile, 3.0, 1.0);
    }
}

#[test]
fn profiles_larger_than_the_memory_are_read_ahead_as_room_is_made() {
    let order = shuffled(4000, false, 1);
    let asked = 4000 * LEN;
    for (device, least) in [("demo", 10.0), ("ide-2006", 1.0)] {
        let without = run(order.clone(), &[], device, 16 * MIB);
        let with = run(order.clone(), &order, device, 16 * MIB);
        let times = without.elapsed_ns as f64 / with.elapsed_ns as f64;
        let fetched = with.device.read_bytes as f64 / asked as f64;
        println!(
            "16 MiB of memory on {device}: {times:.2} times as fast, {fetched:.3} fetched for each asked"
        );
        assert!(with.memory_bytes_peak <= 16 * MIB);
        assert!(times > least && fetched < 1.1, "{device}: {times:.2} times as fast, {fetched:.3} fetched");
    }
}
