//! The disk model: rates, positions, its buffer.

mod devices_support;

use devices_support::*;
use forerun_sim::device::disk::{BufferSpec, Overhead, SECTOR_BYTES, Seek, Zone};
use forerun_sim::device::{Disk, DiskSpec, Preset};

/// 6000 rpm, 100 sectors a track: 10 ms a turn, 0.1 ms a sector.
fn simple() -> DiskSpec {
    DiskSpec {
        rotation_ns: 10 * MS,
        heads: 2,
        zones: vec![Zone { cylinders: 1000, sectors_per_track: 100 }],
        track_skew_ns: MS,
        cylinder_skew_ns: 2 * MS,
        seek: Seek::Lee { min_us: 1000, mean_us: 5000, max_us: 10_000 },
        head_switch_ns: MS,
        write_settle_ns: 0,
        overhead: Overhead::constant(100 * US),
        bus_bytes_per_s: 100_000_000,
        buffer: BufferSpec {
            segment_count: 2,
            segment_bytes: 200 * SECTOR_BYTES,
            ahead_bytes: 64 * SECTOR_BYTES,
            gap_bytes: 32 * SECTOR_BYTES,
            on_arrival: false,
            keeps_written: false,
        },
        write_cache_bytes: 0,
    }
}

fn took(spec: &DiskSpec, steps: &[(u64, u64, u64)]) -> Vec<u64> {
    let requests: Vec<_> = steps
        .iter()
        .zip(0..)
        .map(|((time, sector, count), id)| (*time, read(id, sector * SECTOR_BYTES, count * SECTOR_BYTES)))
        .collect();
    let done = open_loop(&mut Disk::new(spec.clone()), &requests);
    done.iter().zip(steps).map(|(done, (time, ..))| done - time).collect()
}

#[test]
fn sequential_rate_is_that_of_its_tracks() {
    let spec = simple();
    let (_, end) = closed_loop(&mut Disk::new(spec.clone()), &sequential(200, 51_200), 1);
    // 200 tracks of 10 ms, and between them 1 or 2 ms of skew.
    assert_near(end, (200 * 10 + 100 + 99 * 2) * MS, 1);
    let outer = Preset::from_name("ide-2006").unwrap();
    let (_, end) = closed_loop(&mut *outer.build(1), &sequential(256, MIB), 1);
    let rate = 256 * MIB * 1000 / end;
    assert!((60..68).contains(&rate), "{rate} MB/s, measured were 63.6");
}

#[test]
fn random_reads_take_overhead_seek_and_half_a_turn() {
    let spec = DiskSpec { buffer: BufferSpec { segment_count: 0, ..simple().buffer }, ..simple() };
    let (took, _) = closed_loop(&mut Disk::new(spec.clone()), &random(5000, spec.capacity_bytes()), 1);
    // 8 sectors take 0.8 ms, the last of them 5 us on the bus.
    assert_near(mean(&took), 100 * US + 5 * MS + 5 * MS + 800 * US, 5);
    let ide = Preset::from_name("ide-2006").unwrap();
    let (took, _) = closed_loop(&mut *ide.build(1), &random(5000, ide.capacity_bytes()), 1);
    assert_near(mean(&took), 8_500 * US + 4_170 * US, 8);
}

#[test]
fn the_disk_turns_with_time() {
    let spec = simple();
    // Sector 50 comes by 5 ms after every multiple of 10 ms.
    for (start, passes) in [(0, 5), (1, 5), (4, 5), (6, 15), (12, 15), (16, 25), (123, 125)] {
        let expected = passes * MS + 100 * US + 5_120 - start * MS;
        assert_near(took(&spec, &[(start * MS, 50, 1)])[0], expected, 1);
    }
}

#[test]
fn heads_and_cylinders_take_their_time() {
    let spec = simple();
    // Sector 150 is on the second track, turned by 1 ms: it comes by at 6 ms.
    assert_near(took(&spec, &[(0, 150, 1)])[0], 6 * MS + 100 * US, 1);
    // Too late by 0.1 ms: the head is switched at 6.05 ms.
    assert_near(took(&spec, &[(4_950 * US, 150, 1)])[0], 11_050 * US + 100 * US, 1);
    // The second cylinder is turned by 1 + 2 ms: sector 200 comes by at 3 ms.
    assert_near(took(&spec, &[(0, 200, 1)])[0], 3 * MS + 100 * US, 1);
}

#[test]
fn the_buffer_reads_ahead() {
    let hit = 100 * US + 5_120;
    let spec = simple();
    // Read ahead while nobody asked; 64 sectors and no more.
    let steps = [(0, 50, 1), (20 * MS, 51, 1), (21 * MS, 110, 1), (40 * MS, 49, 1)];
    let times = took(&spec, &steps);
    assert_eq!((times[1], times[2]), (hit, hit));
    assert!(times[3] > MS, "what was passed by is not in the buffer: {times:?}");
}

#[test]
fn passing_sectors_are_kept_on_arrival() {
    let mut spec = simple();
    let steps = [(0, 50, 1), (20 * MS, 10, 1)];
    assert!(took(&spec, &steps)[1] > MS);
    spec.buffer.on_arrival = true;
    assert_eq!(took(&spec, &steps)[1], 100 * US + 5_120);
}

#[test]
fn small_gaps_are_read_through() {
    let spec = simple();
    // Sector 11 follows 20 sectors behind the head: it comes by without another turn.
    let times = took(&spec, &[(0, 10, 1), (1_106 * US, 30, 1)]);
    assert_near(1_106 * US + times[1], 3_100 * US + 5_120, 1);
}

#[test]
fn segments_are_forgotten() {
    let spec = simple();
    let hit = 100 * US + 5_120;
    let steps = |between: &[u64]| {
        let mut steps = vec![(0, 50, 1)];
        steps.extend(between.iter().zip(1..).map(|(sector, at)| (at * 100 * MS, *sector, 1)));
        steps.push((900 * MS, 50, 1));
        *took(&spec, &steps).last().unwrap()
    };
    assert_eq!(steps(&[20_000]), hit);
    assert!(steps(&[20_000, 40_000]) > MS, "two segments only");
}

#[test]
fn writes_are_cached_or_not() {
    let mut spec = simple();
    let one = [(0, write(0, 50 * SECTOR_BYTES, SECTOR_BYTES))];
    let through = open_loop(&mut Disk::new(spec.clone()), &one)[0];
    assert_near(through, 5_100 * US, 1);
    spec.write_cache_bytes = MIB;
    assert_eq!(open_loop(&mut Disk::new(spec.clone()), &one)[0], 100 * US + 5_120);
    // A write makes the next read wait for the head.
    let two = [one[0], (3 * MS, read(1, 150 * SECTOR_BYTES, SECTOR_BYTES))];
    assert!(open_loop(&mut Disk::new(spec), &two)[1] > 6 * MS);
}
