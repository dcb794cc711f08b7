//! Disks of 1999 to 2006.

use super::{Costs, Model, Preset};
use crate::device::Level;
use crate::device::disk::{BufferSpec, DiskSpec, Overhead, SECTOR_BYTES, Seek, Zone};

const US: u64 = 1000;
const MB: u64 = 1_000_000;
const KIB: u64 = 1 << 10;

/// The disk called `name`.
pub(super) fn known(name: &str) -> Option<Preset> {
    if let Some(array) = known_array(name) {
        return Some(array);
    }
    let (title, spec) = match name {
        "ide-2006" => ("an IDE disk of 2006: 7200 rpm, 64 MB/s", ide_2006()),
        "scsi-2001" => ("a SCSI disk of 1999 to 2001: 7200 rpm, 20 MB/s", ibm18es()),
        "cheetah9lp" => ("a fast SCSI disk of 1998: 10000 rpm, 15 MB/s", cheetah9lp()),
        _ => return None,
    };
    let capacity_bytes = spec.capacity_bytes();
    Some(Preset { name: name.to_owned(), title: title.to_owned(), capacity_bytes, model: Model::Disk(spec) })
}

/// The array called `name`, of disks like ide-2006 with chunks of 64 KiB. It has seven disks, or five with
/// parity. Seed 000 read 200 MB/s from such an array.
fn known_array(name: &str) -> Option<Preset> {
    let (title, level, member_count, data_count) = match name {
        "raid0-7" => ("seven IDE disks of 2006 as RAID-0", Level::Raid0, 7, 7),
        "raid5" => ("five IDE disks of 2006 as RAID-5", Level::Raid5, 5, 4),
        _ => return None,
    };
    let member = ide_2006();
    let capacity_bytes = member.capacity_bytes() * data_count;
    let model = Model::Raid { level, chunk_bytes: 64 * KIB, member_count, member };
    Some(Preset { name: name.to_owned(), title: title.to_owned(), capacity_bytes, model })
}

/// The best that `member_count` disks of `spec` can do together. Their heads move at
/// the same time, so movement is not counted.
pub(super) fn raid_costs(spec: &DiskSpec, member_count: usize) -> Costs {
    let one = costs(spec);
    Costs {
        positioning_ns_min: 0,
        request_bytes_per_s_max: one.request_bytes_per_s_max * member_count as u64,
        bytes_per_s_max: one.bytes_per_s_max * member_count as u64,
        slot_count: member_count,
        ..one
    }
}

/// The best that `spec` can do.
pub(super) fn costs(spec: &DiskSpec) -> Costs {
    let cylinders = spec.zones.iter().map(|zone| zone.cylinders).sum();
    let bytes_per_s_max = media_bytes_per_s_max(spec).min(spec.bus_bytes_per_s);
    Costs {
        positioning_ns_min: spec.seek.ns(1, cylinders).min(spec.head_switch_ns),
        latency_ns_min: spec.overhead.read_ns_min(),
        latency_ns_typical: spec.seek.ns(cylinders / 3, cylinders) + spec.rotation_ns / 2,
        request_interval_ns: 0,
        request_bytes_per_s_max: spec.bus_bytes_per_s,
        bytes_per_s_max,
        slot_count: 1,
        is_disk: true,
    }
}

/// No more than a track's sectors come in one turn.
fn media_bytes_per_s_max(spec: &DiskSpec) -> u64 {
    let sectors = spec.zones.iter().map(|zone| zone.sectors_per_track).max().unwrap_or(0);
    (sectors * SECTOR_BYTES * 1_000_000_000).div_ceil(spec.rotation_ns)
}

/// Hitachi HDT722516DLAT80, as measured while OpenOffice started from it (K. Lichota, 2007). Command 0.04
/// ms, bus 89.9 MB/s, 63.6 MB/s at its beginning. Seeks of 1.3 + 23 root(f) ms, with which this model comes
/// closest. 12 segments, 192 KiB of read-ahead, sectors kept as they pass. Inner rate 32.9 MB/s and mean
/// seek 8.5 ms: the data sheet of its family.
fn ide_2006() -> DiskSpec {
    // 16 zones, from 1190 to 590 sectors a track.
    let zone = |index: u64| Zone { cylinders: 5647, sectors_per_track: 1190 - 40 * index };
    DiskSpec {
        rotation_ns: 60_000_000_000 / 7200,
        heads: 4,
        zones: (0..16).map(zone).collect(),
        track_skew_ns: 1000 * US,
        cylinder_skew_ns: 1500 * US,
        seek: Seek::RootThenLine { min_us: 1300, root_us: 23_000, line_from_permille: 40, line_us: 8450 },
        head_switch_ns: 900 * US,
        write_settle_ns: 500 * US,
        overhead: Overhead::constant(40_500),
        bus_bytes_per_s: 89_900_000,
        buffer: BufferSpec {
            segment_count: 12,
            segment_bytes: 7674 * KIB / 12,
            ahead_bytes: 192 * KIB,
            gap_bytes: 256 * KIB,
            on_arrival: true,
            keeps_written: true,
        },
        write_cache_bytes: 2 << 20,
    }
}

/// IBM Ultrastar 18ES (DNES-309170W), as DiskSim's authors measured it, behind a bus
/// of 40 MB/s instead of their slow one.
fn ibm18es() -> DiskSpec {
    let zones = [
        (378, 390),
        (886, 374),
        (984, 364),
        (1219, 351),
        (1037, 338),
        (1023, 325),
        (1518, 312),
        (1717, 286),
        (1054, 273),
        (867, 260),
        (791, 247),
    ];
    DiskSpec {
        rotation_ns: 60_000_000_000 / 7200,
        heads: 5,
        zones: zones.map(|(cylinders, sectors_per_track)| Zone { cylinders, sectors_per_track }).to_vec(),
        // 58 and 101 of 390 sectors.
        track_skew_ns: 1239 * US,
        cylinder_skew_ns: 2158 * US,
        seek: Seek::Points(IBM18ES_SEEK.to_vec()),
        head_switch_ns: 900 * US, // with settling
        write_settle_ns: 126 * US,
        overhead: Overhead {
            read_next_ns: 82 * US,
            read_hit_ns: 86 * US,
            read_miss_ns: [252 * US, 424 * US],
            write_ns: [83 * US, 85 * US],
        },
        bus_bytes_per_s: 40 * MB,
        buffer: BufferSpec {
            segment_count: 7,
            segment_bytes: 511 * SECTOR_BYTES,
            ahead_bytes: 511 * SECTOR_BYTES,
            gap_bytes: 32 * KIB,
            on_arrival: true,
            keeps_written: false,
        },
        write_cache_bytes: 511 * SECTOR_BYTES,
    }
}

/// Seagate Cheetah 9LP (ST39102LW), as DiskSim's authors measured it, behind a bus
/// of 40 MB/s instead of their slow one.
fn cheetah9lp() -> DiskSpec {
    let zones = [
        (848, 254),
        (797, 245),
        (749, 238),
        (704, 227),
        (661, 217),
        (622, 209),
        (585, 201),
        (550, 189),
        (516, 181),
        (486, 174),
        (444, 167),
    ];
    DiskSpec {
        rotation_ns: 60_000_000_000 / 10_045,
        heads: 12,
        zones: zones.map(|(cylinders, sectors_per_track)| Zone { cylinders, sectors_per_track }).to_vec(),
        // 97 and 133 of 254 sectors.
        track_skew_ns: 2281 * US,
        cylinder_skew_ns: 3128 * US,
        seek: Seek::Points(CHEETAH9LP_SEEK.to_vec()),
        head_switch_ns: 900 * US, // with settling
        write_settle_ns: 461 * US,
        overhead: Overhead {
            read_next_ns: 76 * US,
            read_hit_ns: 257 * US,
            read_miss_ns: [284 * US, 87 * US],
            write_ns: [700 * US, 480 * US],
        },
        bus_bytes_per_s: 40 * MB,
        buffer: BufferSpec {
            segment_count: 3,
            segment_bytes: 561 * SECTOR_BYTES,
            ahead_bytes: 561 * SECTOR_BYTES,
            gap_bytes: 32 * KIB,
            on_arrival: false,
            keeps_written: true,
        },
        write_cache_bytes: 561 * SECTOR_BYTES,
    }
}

/// Cylinders and microseconds.
#[rustfmt::skip]
const IBM18ES_SEEK: [(u64, u64); 47] = [
    (1, 1062), (2, 1477), (6, 1718), (18, 1898), (25, 2221), (50, 2514), (70, 2456), (100, 2622),
    (125, 2940), (150, 2860), (175, 3645), (375, 4206), (425, 4088), (475, 4331), (500, 4187), (600, 4451),
    (1200, 5209), (2000, 5895), (3100, 7233), (3500, 7643), (4000, 7700), (4900, 8126), (5000, 7833), (5100, 7917),
    (5200, 8329), (5500, 8882), (5600, 8762), (5900, 9121), (6000, 9067), (6100, 9330), (6400, 9382), (6900, 9823),
    (7000, 9702), (7200, 9849), (7300, 10141), (7800, 10294), (8500, 10745), (8600, 10966), (8700, 10909), (9100, 11281),
    (9300, 11257), (9700, 11645), (9900, 11660), (10300, 12100), (10500, 12110), (11300, 12662), (11377, 12853),
];

/// Cylinders and microseconds.
#[rustfmt::skip]
const CHEETAH9LP_SEEK: [(u64, u64); 32] = [
    (1, 831), (2, 1003), (4, 1092), (5, 1268), (7, 1271), (8, 1439), (16, 1453), (25, 1625),
    (100, 2145), (150, 2259), (175, 2510), (225, 2519), (400, 3051), (475, 3098), (500, 3230), (900, 3995),
    (1200, 4397), (1300, 4427), (1500, 4757), (1800, 4993), (2200, 5541), (3100, 6423), (3200, 6665), (3800, 7164),
    (4600, 8087), (4900, 8311), (5400, 8987), (5500, 8962), (5800, 9296), (6000, 9698), (6300, 9878), (6894, 10627),
];
