//! Fetches whose bytes are late are hedged, where that helps: in virtual time, above a store that serves
//! any number of fetches at once.

mod bed;
#[path = "../support/others.rs"]
mod others;

use bed::*;
use forerun_engine::*;

const MIB: u64 = 1 << 20;
const MS: u64 = 1_000_000;
/// Where nobody has read.
const PLACE: u64 = 1 << 39;

#[test]
fn one_slow_fetch_of_many_is_asked_for_again() {
    for budget in [4 * MIB, 256 * MIB] {
        let mut bed = Bed::new(budget, |at, _| if at == 60 { 2000 * MS } else { 10 * MS });
        let longest = bed.stream(0, 128 * MIB);
        assert!(longest < 60 * MS, "somebody waited {longest} ns");
        let counters = bed.engine.counters();
        assert_eq!((counters.repeated_count, counters.won_count, counters.cancelled_count), (1, 1, 1));
        assert!(counters.repeated_bytes <= counters.readahead_bytes / 16, "{counters:?}");
    }
}

#[test]
fn a_reader_of_single_fetches_waits_for_none_long() {
    let mut bed = Bed::new(64 * MIB, |at, _| if at % 50 == 49 { 2000 * MS } else { 10 * MS });
    let longest = bed.random(500);
    assert!(longest < 100 * MS, "somebody waited {longest} ns");
    let slow_count = bed.count / 50;
    assert!(
        (slow_count - 1..=slow_count).contains(&bed.repeated_count()),
        "{} of {}",
        bed.repeated_count(),
        bed.count
    );
}

#[test]
fn all_slow_is_nothing_to_ask_again_for() {
    let mut bed = Bed::new(64 * MIB, |at, _| (1000 + at * 7919 % 400) * MS);
    bed.stream(0, 64 * MIB);
    bed.random(50);
    assert_eq!(bed.repeated_count(), 0);
}

#[test]
fn a_store_that_slows_down_is_hedged_a_few_times_only() {
    let slow_from = Time(2000 * MS);
    let latency_ns = |_, now| if now >= slow_from { 1000 * MS } else { 10 * MS };
    let mut bed = Bed::new(64 * MIB, latency_ns);
    bed.random(20);
    bed.stream(0, 8192 * MIB);
    assert!(bed.now > Time(2 * slow_from.0) && bed.repeated_count() <= 2, "{}", bed.repeated_count());
    let mut bed = Bed::new(64 * MIB, latency_ns);
    bed.random(400);
    assert!(bed.now > Time(2 * slow_from.0) && bed.repeated_count() <= 4, "{}", bed.repeated_count());
}

#[test]
fn many_slow_ones_are_asked_for_again_for_a_twentieth_of_all() {
    let mut bed = Bed::new(64 * MIB, |at, _| if at % 5 == 4 { 500 * MS } else { 10 * MS });
    bed.stream(0, 512 * MIB);
    bed.random(200);
    assert!(20 * bed.repeated_count() <= bed.count + 20, "{} of {}", bed.repeated_count(), bed.count);
}

#[test]
fn near_by_nothing_is_asked_for_again() {
    let mut bed = Bed::new(64 * MIB, |at, _| if at % 100 == 50 { 100 * MS } else { MS / 10 });
    bed.stream(0, 256 * MIB);
    bed.random(100);
    assert_eq!(bed.repeated_count(), 0);
}

#[test]
fn a_first_fetch_that_comes_after_all_is_told_from_one_that_lost() {
    let mut bed = Bed::new(64 * MIB, |_, _| 10 * MS);
    bed.random(20);
    bed.script = [(60 * MS, false), (2000 * MS, false)].into();
    bed.read(PLACE, 4096);
    let counters = bed.engine.counters();
    assert_eq!((counters.repeated_count, counters.won_count, counters.cancelled_count), (1, 0, 1));
}

#[test]
fn the_second_fetch_takes_over_should_the_first_fail() {
    let mut bed = Bed::new(64 * MIB, |_, _| 10 * MS);
    bed.random(20);
    bed.script = [(200 * MS, true), (2000 * MS, false)].into();
    bed.read(PLACE, 4096);
    assert_eq!((bed.engine.counters().failed_count, bed.engine.counters().cancelled_count), (1, 0));
}

#[test]
fn bytes_that_changed_come_from_neither() {
    let mut bed = Bed::new(64 * MIB, |_, _| 10 * MS);
    bed.random(20);
    bed.script = [(200 * MS, false); 2].into();
    bed.engine.read(bed.now, OBJECT, READER, Extent::new(PLACE, 4096), &mut Vec::new());
    bed.drain();
    while bed.repeated_count() == 0 {
        bed.pass_time();
    }
    bed.engine.invalidate(bed.now, OBJECT, Extent::new(PLACE, 4096));
    bed.drain();
    let begun = bed.now;
    while bed.engine.poll_reply().is_none() {
        bed.pass_time();
    }
    assert!(bed.now.since(begun) < 11 * MS, "the bytes of before were waited for");
    assert_eq!(bed.engine.counters().cancelled_count, 1);
}

#[test]
fn of_one_that_stalls_the_rest_is_asked_for_again() {
    for budget in [4 * MIB, 256 * MIB] {
        let mut bed = Bed::new(budget, |_, _| 10 * MS);
        bed.stalls = (1..5).map(|at| (50 * at, 2000 * MS)).collect();
        let longest = bed.stream(0, 256 * MIB);
        assert!(longest < 70 * MS, "somebody waited {longest} ns");
        let counters = bed.engine.counters();
        assert_eq!((counters.repeated_count, counters.won_count, counters.cancelled_count), (4, 4, 4));
        // Bytes that had arrived do not arrive again.
        assert_eq!(counters.repeated_bytes, bed.stalled_bytes);
    }
}

#[test]
fn one_that_goes_on_after_a_stall_is_told_from_one_that_lost() {
    let mut bed = Bed::new(64 * MIB, |_, _| 10 * MS);
    bed.stream(0, 32 * MIB);
    // Nothing of that is fetched beside what follows.
    while !bed.coming.is_empty() {
        bed.pass_time();
    }
    bed.stalls = [(bed.count, 60 * MS), (bed.count + 1, 2000 * MS)].into();
    bed.script = [(10 * MS, false), (2000 * MS, false)].into();
    bed.read(PLACE, MIB);
    let counters = bed.engine.counters();
    assert_eq!((counters.repeated_count, counters.won_count, counters.cancelled_count), (1, 0, 1));
}

#[test]
fn where_all_stall_nothing_is_asked_for_again() {
    let mut bed = Bed::new(64 * MIB, |_, _| 10 * MS);
    bed.stalls = (0..10_000).map(|at| (at, (200 + at * 7919 % 400) * MS)).collect();
    bed.stream(0, 64 * MIB);
    assert_eq!(bed.repeated_count(), 0);
}

#[test]
fn other_policies_ask_for_nothing_again() {
    let mut bed =
        Bed::under(others::KERNEL, 64 * MIB, |at, _| if at % 50 == 25 { 500 * MS } else { 10 * MS });
    bed.stalls = (1..5).map(|at| (60 * at, 500 * MS)).collect();
    bed.stream(0, 128 * MIB);
    bed.random(100);
    assert_eq!(bed.repeated_count(), 0);
}

#[test]
fn bytes_that_changed_during_a_stall_come_from_neither() {
    let mut bed = Bed::new(64 * MIB, |_, _| 10 * MS);
    bed.stream(0, 32 * MIB);
    bed.stalls = [(bed.count, 2000 * MS), (bed.count + 1, 2000 * MS)].into();
    bed.script = [(10 * MS, false), (200 * MS, false)].into();
    bed.engine.read(bed.now, OBJECT, READER, Extent::new(PLACE, MIB), &mut Vec::new());
    bed.drain();
    while bed.repeated_count() == 0 {
        bed.pass_time();
    }
    bed.engine.invalidate(bed.now, OBJECT, Extent::new(PLACE, MIB));
    bed.drain();
    let begun = bed.now;
    while bed.engine.poll_reply().is_none() {
        bed.pass_time();
    }
    assert!(bed.now.since(begun) < 30 * MS, "the bytes of before were waited for");
}
