use super::*;
use crate::types::{Extent, ObjectId, Time};

const MIB: u64 = 1 << 20;

/// A device after `count` fetches of `bytes` each, with 10 ms to the first bytes and 10 ms to the last.
fn after(count: usize, bytes: u64) -> Device {
    let mut device = Device::new(&Config::new(256 * MIB));
    let samples: alloc::vec::Vec<Sample> = (0..count)
        .map(|ahead| {
            let extent = Extent::new(ahead as u64 * 64 * MIB, bytes);
            let sample = device.on_dispatch(Time(0), ObjectId(0), extent, ahead);
            Sample { first_arrived: Time(10_000_000), ..sample }
        })
        .collect();
    samples.iter().for_each(|sample| device.on_first_bytes(sample.first_arrived, sample));
    device.on_bytes(count as u64 * bytes);
    for sample in &samples {
        device.on_ended(Time(20_000_000));
        device.on_fetched(Time(20_000_000), sample, 0);
    }
    device
}

#[test]
fn a_reader_waits_for_no_longer_a_fetch_than_the_others_beside_it() {
    let device = after(8, MIB);
    assert_eq!((device.fetch_bytes(), device.ride_bytes()), (MIB / 2, MIB / 4));
    // One connection brings as much as several.
    let device = after(1, 8 * MIB);
    assert_eq!((device.fetch_bytes(), device.ride_bytes()), (MIB / 2, MIB / 2));
}

#[test]
fn one_fetch_that_was_noticed_late_does_not_make_far_readers_wait_for_longer_ones() {
    let mut device = Device::new(&Config::new(256 * MIB));
    // One round of `count` fetches. After 10 ms each has 256 KiB, and the last arrive `rest_ns` after the
    // first 64 KiB.
    let mut round = |at: u64, count: u64, rest_ns: u64| {
        let asked = Time(at * 100_000_000);
        let extent = |index: u64| Extent::new((at * 8 + index) * 64 * MIB, MIB / 4);
        let dispatch = |index| device.on_dispatch(asked, ObjectId(0), extent(index), index as usize);
        let samples: alloc::vec::Vec<Sample> = (0..count).map(dispatch).collect();
        let first_arrived = Time(asked.0 + 10_000_000);
        let arrive = |sample| Sample { first_arrived, first_bytes: MIB / 16, ..sample };
        let samples: alloc::vec::Vec<Sample> = samples.into_iter().map(arrive).collect();
        samples.iter().for_each(|sample| device.on_first_bytes(first_arrived, sample));
        device.on_bytes(count * MIB / 4);
        for sample in &samples {
            let ended = Time(first_arrived.0 + rest_ns);
            device.on_ended(ended);
            device.on_fetched(ended, sample, 0);
        }
        (device.is_serial(), device.ride_bytes())
    };
    assert_eq!((0..8).map(|at| round(at, 16, 5_000_000)).last(), Some((false, MIB / 4)));
    assert_eq!(round(8, 1, 500_000), (true, MIB / 4));
}

/// A disk that was measured with this much memory. A fetch elsewhere takes 8 ms for the seek and 4 ms for
/// its bytes; others continue where the one before ended. 512 KiB could be read during a seek.
fn disk(memory_bytes: u64) -> Device {
    let mut device = Device::new(&Config::new(memory_bytes));
    let mut now = 0;
    for round in 0..64 {
        let samples = [0, 1, 2, 3, 4, 5, 6, 7].map(|ahead| {
            let offset = (ahead as u64 / 2 * 64 + round) * MIB + ahead as u64 % 2 * (MIB / 4);
            device.on_dispatch(Time(now), ObjectId(0), Extent::new(offset, MIB / 4), ahead)
        });
        for sample in samples {
            now += if sample.ahead % 2 == 0 { 12_000_000 } else { 4_000_000 };
            let sample = Sample { first_arrived: Time(now), first_bytes: MIB / 4, ..sample };
            device.on_first_bytes(Time(now), &sample);
            device.on_bytes(MIB / 4);
            device.on_ended(Time(now));
            device.on_fetched(Time(now), &sample, 0);
        }
    }
    device
}

#[test]
fn a_turn_that_somebody_interrupts_is_worth_going_there_and_back() {
    let device = disk(256 * MIB);
    assert_eq!(device.fetch_bytes_among(0, false), MIB / 4);
    assert_eq!(device.fetch_bytes_among(0, true), MIB);
    assert_eq!((device.slice_bytes(), device.costs().share), (Some(8 * MIB), 3 * MIB));
}

#[test]
fn later_fetches_do_not_lengthen_a_measured_wait() {
    let mut device = Device::new(&Config::new(256 * MIB));
    // 64 KiB are the first to come, over a link of 100 MB/s that is 0.1 ms away and shared by all.
    let mut fetch = |round: u64, others: u64| {
        let now = Time(round * 100_000_000);
        let extent = |at: u64| Extent::new((round * 8 + at) * MIB, MIB / 2);
        let sample = device.on_dispatch(now, ObjectId(0), extent(0), 0);
        (1..=others).for_each(|at| _ = device.on_dispatch(now, ObjectId(0), extent(at), at as usize));
        let first_arrived = Time(now.0 + 100_000 + 655_360 * (1 + others));
        device.on_first_bytes(first_arrived, &Sample { first_arrived, first_bytes: MIB / 16, ..sample });
        device.lone.all_ns(device.throughput.get().unwrap_or(0))
    };
    let alone = fetch(0, 0);
    assert!(alone.is_some());
    assert!((1..32).all(|round| fetch(round, 3) == alone));
}

#[test]
fn a_turn_is_longer_than_one_fetch_where_memory_makes_those_short() {
    let device = disk(16 * MIB);
    assert_eq!((device.fetch_bytes(), device.slice_bytes()), (MIB / 2, Some(8 * MIB)));
    assert_eq!((device.pipe_bytes(), disk(8 * MIB).slice_bytes()), (8 * MIB, Some(4 * MIB)));
}

#[test]
fn a_reader_waits_for_little_else_where_fetches_come_all_at_once() {
    let mut device = after(8, MIB);
    let before = device.ride_bytes();
    (0..16).for_each(|_| device.spread.record_large(true));
    assert_eq!((before, device.ride_bytes()), (MIB / 4, MIB / 16));
}
