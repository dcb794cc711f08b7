//! Writes beside an object.

use super::super::client::Client;
use super::super::holes::{open, states};
use super::super::numbers::*;
use super::super::support::{MIB, pattern};
use super::*;

const SIZE: usize = 3 * MIB + 1234;
/// A hole that reads as zeros.
const HOLE: u32 = 3;

#[test]
fn writes_are_read_on_every_connection_and_the_base_stays() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = pattern(SIZE, 1);
    let (storage, forerun) = base(bytes.clone());
    let served = serve(&storage, &forerun, &folder.path().join("o"));
    let mut writer = served.open("a");
    let mut reader = served.open_structured("a");
    let places = [
        (0, 4096),
        (5, 10),
        (4095, 2),
        (8192, 100_000),
        (100_000, 300_001),
        (MIB - 1, 4098),
        (SIZE - 5, 5),
        (SIZE - 5000, 5000),
        (2 * MIB, MIB),
    ];
    for (number, (offset, len)) in places.into_iter().enumerate() {
        let written = pattern(len, 10 + number as u64);
        bytes[offset..offset + len].copy_from_slice(&written);
        assert_eq!(write(&mut writer, 0, offset as u64, &written), 0, "{offset} {len}");
        let (from, to) = (offset.saturating_sub(9000), (offset + len + 9000).min(SIZE));
        assert!(reader.read(from as u64, (to - from) as u32).unwrap() == bytes[from..to], "{offset} {len}");
    }
    assert!(served.open("a").read(0, SIZE as u32).unwrap() == bytes);
    assert!(
        served.forerun.open_blocking("a").unwrap().lease_blocking(0, 4096).unwrap().to_contiguous()[..]
            == pattern(4096, 1)
    );
}

#[test]
fn writes_are_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o");
    let mut bytes = pattern(SIZE, 1);
    let (storage, forerun) = base(bytes.clone());
    for round in 0..4 {
        let served = serve(&storage, &forerun, &path);
        let mut client = served.open("a");
        assert!(client.read(0, SIZE as u32).unwrap() == bytes, "{round}");
        for number in 0..5 {
            let (offset, len) = ((round * 5 + number) * 77_777, 9000);
            let written = pattern(len, (100 * round + number) as u64);
            bytes[offset..offset + len].copy_from_slice(&written);
            assert_eq!(write(&mut client, 0, offset as u64, &written), 0);
        }
        bytes[round * 8192..(round + 1) * 8192].fill(0);
        assert_eq!(ask(&mut client, WRITE_ZEROES, 0, round as u64 * 8192, 8192), 0);
        // A server that ends flushes by itself.
        if round % 2 == 0 {
            flush(&mut client);
        }
        served.end();
    }
}

#[test]
fn flags_say_what_holds() {
    const COMMON: u16 = 1 << 0 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 11;
    let folder = tempfile::tempdir().unwrap();
    let (storage, forerun) = base(pattern(SIZE, 1));
    let served = serve(&storage, &forerun, &folder.path().join("o"));
    assert_eq!(Client::unix(&served.socket).go("a"), (SIZE as u64, COMMON));
}

#[test]
fn zeros_and_trimmed_blocks_are_holes_and_the_rest_of_their_blocks_stays() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = pattern(SIZE, 1);
    let (storage, forerun) = base(bytes.clone());
    let served = serve(&storage, &forerun, &folder.path().join("o"));
    let mut client = open(&served, "a");
    assert_eq!(states(&mut client, 0, 0, SIZE as u32), [(SIZE as u32, 0)]);
    assert_eq!(write(&mut client, 0, 0, &pattern(65_536, 2)), 0);
    bytes[..65_536].copy_from_slice(&pattern(65_536, 2));
    // A part of a block that is trimmed stays.
    assert_eq!(ask(&mut client, TRIM, 0, 5000, 20_000), 0);
    bytes[8192..24_576].fill(0);
    assert_eq!(ask(&mut client, WRITE_ZEROES, FLAG_FAST_ZERO, 40_001, 30_000), 0);
    bytes[40_001..70_001].fill(0);
    assert_eq!(ask(&mut client, WRITE_ZEROES, FLAG_NO_HOLE | FLAG_FUA, 100_000, 10_000), 0);
    bytes[100_000..110_000].fill(0);
    assert_eq!(ask(&mut client, WRITE_ZEROES, 0, 200_001, 3), 0);
    bytes[200_001..200_004].fill(0);
    assert!(client.read(0, SIZE as u32).unwrap() == bytes);
    assert_eq!(states(&mut client, 0, 0, 40_960), [(8192, 0), (16_384, HOLE), (16_384, 0)]);
    assert_eq!(states(&mut client, 0, 10_000, 5), [(5, HOLE)]);
    assert_eq!(states(&mut client, 0, 40_960, 40_960), [(28_672, HOLE), (12_288, 0)]);
    assert_eq!(states(&mut client, FLAG_ONE, 0, SIZE as u32), [(8192, 0)]);
    assert_eq!(states(&mut client, 0, 98_304, 12_288), [(12_288, 0)], "zeros with space are no hole");
    // The end of the export is a block, too.
    assert_eq!(ask(&mut client, TRIM, 0, (SIZE - 6000) as u64, 6000), 0);
    let start = (SIZE - 6000).next_multiple_of(4096);
    bytes[start..].fill(0);
    assert!(client.read((SIZE - 9000) as u64, 9000).unwrap() == bytes[SIZE - 9000..]);
    // A write into zeros keeps the zeros around it, and not what was there before.
    assert_eq!(write(&mut client, 0, 10_000, b"here"), 0);
    bytes[10_000..10_004].copy_from_slice(b"here");
    assert!(client.read(0, 65_536).unwrap() == bytes[..65_536]);
}

#[test]
fn requests_that_make_no_sense_are_refused_and_the_next_is_served() {
    const END: u64 = SIZE as u64;
    let folder = tempfile::tempdir().unwrap();
    let (storage, forerun) = base(pattern(SIZE, 1));
    let served = serve(&storage, &forerun, &folder.path().join("o"));
    for is_structured in [false, true] {
        let mut client = if is_structured { served.open_structured("a") } else { served.open("a") };
        let refused: [(u16, u16, u64, u32, u32); 10] = [
            (TRIM, 0, END, 1, EINVAL),
            (TRIM, 0, 0, 0, EINVAL),
            (TRIM, FLAG_NO_HOLE, 0, 5, EINVAL),
            (TRIM, FLAG_DF, 0, 5, EINVAL),
            (WRITE_ZEROES, 0, END - 1, 2, ENOSPC),
            (WRITE_ZEROES, 0, u64::MAX, 2, ENOSPC),
            (WRITE_ZEROES, FLAG_ONE, 0, 2, EINVAL),
            (WRITE, 0, 0, 0, EINVAL),
            (FLUSH, 0, 1, 0, EINVAL),
            (BLOCK_STATUS, FLAG_FUA, 0, 1, EINVAL),
        ];
        for (kind, flags, offset, len, error) in refused {
            assert_eq!(ask(&mut client, kind, flags, offset, len), error, "{kind} {flags} {offset} {len}");
        }
        for (flags, offset, len, error) in
            [(0, END - 4, 5, ENOSPC), (FLAG_NO_HOLE, 0, 700_000, EINVAL), (0, u64::MAX - 3, 500_000, ENOSPC)]
        {
            assert_eq!(write(&mut client, flags, offset, &vec![1; len]), error, "{flags} {offset} {len}");
        }
        // Other requests may have FUA, which only writes heed.
        assert!(client.read_with(FLAG_FUA, 0, 100).unwrap() == pattern(100, 1));
        assert_eq!(ask(&mut client, FLUSH, FLAG_FUA, 0, 0), 0);
        assert_eq!(ask(&mut client, CACHE, FLAG_FUA, 0, 5), 0);
    }
}

#[test]
fn a_write_of_32_mib_is_the_longest() {
    let folder = tempfile::tempdir().unwrap();
    let (storage, forerun) = base(vec![1; 33 * MIB]);
    // In less memory than that.
    let served = serve(&storage, &forerun, &folder.path().join("o"));
    let mut client = served.open("a");
    let bytes = pattern(32 * MIB, 2);
    assert_eq!(write(&mut client, FLAG_FUA, 12_345, &bytes), 0);
    assert!(client.read(12_345, 32 << 20).unwrap() == bytes);
    assert!(client.read(0, 12_345).unwrap() == vec![1; 12_345]);
    client.request(WRITE, 0, 0, (32 << 20) + 1);
    assert!(client.is_hung_up());
}
