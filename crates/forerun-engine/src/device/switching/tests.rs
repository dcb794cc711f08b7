use super::*;
use crate::device::estimates::Locality;

const MS: u64 = 1_000_000;
const LEN: u64 = 256 << 10;

/// Eight fetches that are all dispatched at 0, in pairs of neighbours. `end_ms` returns the end of each by
/// its number.
fn learned(end_ms: impl Fn(u64) -> u64) -> Switching {
    let mut switching = Switching::new();
    for round in 0..8 {
        let start = round * 100 * MS;
        let samples: [Sample; 8] = core::array::from_fn(|index| Sample {
            object: ObjectId(index as u64 / 2),
            offset: (round * 2 + index as u64 % 2) * LEN,
            index: switching.on_dispatch(),
            ahead: index,
            locality: Locality::Elsewhere,
            dispatched: Time(start),
            delivered_before: 0,
            first_arrived: Time(start),
            first_bytes: LEN,
            bytes: LEN,
        });
        for (index, sample) in samples.iter().enumerate() {
            let end = Time(start + end_ms(index as u64) * MS);
            let sample = Sample { first_arrived: end, ..*sample };
            switching.on_first_bytes(&sample);
            switching.on_fetched(end, &sample);
            switching.on_ended();
        }
    }
    switching
}

#[test]
fn a_disk_pays_for_going_elsewhere() {
    // 8 ms to seek and 4 to read.
    let disk = learned(|index| (index / 2 + 1) * 8 + (index + 1) * 4);
    assert_eq!(disk.cost_ns(), 8 * MS);
    assert_eq!(disk.bytes_in(disk.cost_ns()), 2 * LEN);
    assert_eq!(disk.request_ns(), 0);
    assert!(!disk.is_shared());
}

#[test]
fn a_store_does_several_things_at_once() {
    // 20 ms for the first bytes, and the link is full then.
    let store = learned(|index| 20 + (index + 1) * 4);
    assert_eq!(store.cost_ns(), 0);
    assert!(store.is_shared(), "{store:?}");
}

/// Fetches one after the other, each where the one before ended, with `ahead` in flight. `took_ns` returns
/// the time of each from the end of the one before.
fn follow(switching: &mut Switching, count: u64, ahead: usize, took_ns: impl Fn(u64) -> u64) {
    for _ in 0..count {
        let (_, offset) = switching.last_end.unwrap_or((ObjectId(0), 0));
        let index = switching.on_dispatch();
        let bytes = LEN / 2 + index % 5 * LEN / 8;
        let now = Time(switching.last_done.0 + took_ns(bytes));
        let sample = Sample {
            object: ObjectId(0),
            offset,
            index,
            ahead,
            locality: Locality::Elsewhere,
            dispatched: Time(now.0.saturating_sub((ahead as u64 + 1) * took_ns(bytes))),
            delivered_before: 0,
            first_arrived: now,
            first_bytes: bytes,
            bytes,
        };
        switching.on_first_bytes(&sample);
        switching.on_fetched(now, &sample);
        switching.on_ended();
    }
}

/// 200 MB/s.
fn transfer_ns(bytes: u64) -> u64 {
    5 * bytes
}

#[test]
fn where_each_waits_for_the_one_before_it_costs_its_latency() {
    let mut array = Switching::new();
    follow(&mut array, 1, 0, |bytes| 8 * MS + transfer_ns(bytes));
    follow(&mut array, 16, 4, |bytes| 8 * MS + transfer_ns(bytes));
    assert!(array.request_ns().abs_diff(8 * MS) < MS / 10, "{array:?}");
    assert!(array.bytes_in(array.request_ns()).abs_diff(1_600_000) < 50_000, "{array:?}");
}

#[test]
fn overlap_shows_when_two_fetches_are_in_flight() {
    let mut store = Switching::new();
    follow(&mut store, 1, 0, |bytes| 8 * MS + transfer_ns(bytes));
    follow(&mut store, 16, 4, |bytes| 8 * MS + transfer_ns(bytes));
    assert!(store.cost_ns() > 0);
    // Every sixteenth goes beside another and comes soon after it.
    for _ in 0..16 {
        follow(&mut store, 15, 0, |bytes| 8 * MS + transfer_ns(bytes));
        follow(&mut store, 1, 1, transfer_ns);
    }
    assert_eq!(store.cost_ns(), 0, "{store:?}");
}

#[test]
fn a_disks_own_readahead_does_not_lower_the_seek_cost() {
    let mut disk = learned(|index| (index / 2 + 1) * 8 + (index + 1) * 4);
    let slow_to_begin = disk.is_slow_to_begin();
    for _ in 0..64 {
        let (object, end) = disk.last_end.unwrap_or((ObjectId(0), 0));
        let now = Time(disk.last_done.0 + MS / 5);
        let sample = Sample {
            object,
            offset: end + 64 * 1024,
            index: disk.on_dispatch(),
            ahead: 0,
            locality: Locality::Near,
            dispatched: disk.last_done,
            delivered_before: 0,
            first_arrived: now,
            first_bytes: 8192,
            bytes: 8192,
        };
        disk.on_first_bytes(&sample);
        disk.on_fetched(now, &sample);
        disk.on_ended();
    }
    assert!(slow_to_begin && disk.is_slow_to_begin() && disk.cost_ns() > 0, "{disk:?}");
}

#[test]
fn a_disk_below_an_elevator_is_told_by_what_overtakes() {
    let mut disk = learned(|index| (index / 2 + 1) * 8 + (index + 1) * 4);
    assert_eq!((disk.is_alone(), disk.reordered_bytes()), (true, 0));
    for round in 0..16 {
        let start = disk.last_done;
        // The second comes first.
        for (later, end_ms) in [(1, 12), (0, 24)] {
            let end = Time(start.0 + end_ms * MS);
            let sample = Sample {
                object: ObjectId(9),
                offset: (2 * round + later) * 64 * LEN,
                index: disk.dispatched_count + later,
                ahead: later as usize,
                locality: Locality::Elsewhere,
                dispatched: start,
                delivered_before: 0,
                first_arrived: end,
                first_bytes: LEN,
                bytes: LEN,
            };
            disk.on_first_bytes(&sample);
            disk.on_fetched(end, &sample);
            disk.on_ended();
        }
        (0..2).for_each(|_| _ = disk.on_dispatch());
    }
    assert_eq!((disk.is_alone(), disk.cost_ns()), (false, 0), "{disk:?}");
    assert!(disk.reordered_bytes() >= 2 * LEN, "{disk:?}");
}

#[test]
fn a_long_fetch_over_a_narrow_link_is_not_slow_to_begin() {
    let mut link = Switching::new();
    // 0.1 ms to the first bytes and 3 ms for all of them, each elsewhere.
    for place in 0..8 {
        let dispatched = Time(place * 10 * MS);
        let sample = Sample {
            object: ObjectId(0),
            offset: place * 10 * LEN,
            index: link.on_dispatch(),
            ahead: 0,
            locality: Locality::Elsewhere,
            dispatched,
            delivered_before: 0,
            first_arrived: Time(dispatched.0 + MS / 10),
            first_bytes: LEN / 64,
            bytes: LEN,
        };
        link.on_fetched(Time(dispatched.0 + 3 * MS), &sample);
        link.on_ended();
    }
    assert!(!link.is_slow_to_begin(), "{link:?}");
}
