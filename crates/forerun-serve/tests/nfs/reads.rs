//! Reads of files.

use nfs3_types::nfs3::*;

use super::client::{Procedure, result};
use super::support::{MIB, SLOW_FROM, Served, pattern};

const OUTSTANDING: usize = 16;

/// The numbers up to `count`, each with others of its sixteen in any order.
fn shuffled(count: usize) -> Vec<usize> {
    let place = |number: usize| (number / OUTSTANDING, number.wrapping_mul(0x9E37_79B9) >> 7 & 0xFF);
    let mut numbers: Vec<usize> = (0..count).collect();
    numbers.sort_by_key(|number| place(*number));
    numbers
}

#[test]
fn sixteen_reordered_reads_at_once_bring_every_byte() {
    const SIZE: usize = 20 * MIB + 1234;
    let bytes = pattern(SIZE, 1);
    let served = Served::new(&[("far", bytes.clone())]);
    let mut client = served.connect();
    let file = client.open("far");
    for len in [32 << 10, MIB] {
        let offsets = shuffled(SIZE.div_ceil(len)).into_iter().map(|number| number * len);
        let offsets: Vec<usize> = offsets.collect();
        let mut xids = Vec::new();
        for index in 0..offsets.len() + OUTSTANDING {
            if let Some(offset) = offsets.get(index) {
                xids.push(client.send_read(&file, *offset as u64, len as u32));
            }
            if let Some(index) = index.checked_sub(OUTSTANDING) {
                let offset = offsets[index];
                let read = client.take_read(xids[index]).unwrap();
                assert!(read == bytes[offset..SIZE.min(offset + len)], "{len} bytes at {offset}");
            }
        }
        // Sixteen reads of 1 MiB take all of the memory, so that there is none for readahead.
        let counters = served.forerun.counters();
        let is_ahead = counters.readahead_bytes > counters.demand_bytes;
        assert!(is_ahead || len == MIB, "it reads ahead: {counters:?}");
    }
}

#[test]
fn eight_interleaved_streams_are_read_ahead() {
    const LEN: usize = 64 << 10;
    const STREAM: usize = 4 * MIB;
    let bytes = pattern(8 * STREAM, 1);
    let served = Served::new(&[("a", bytes.clone())]);
    let mut clients = [served.connect(), served.connect()];
    let file = clients[0].open("a");
    for step in 0..STREAM / LEN {
        for stream in 0..8 {
            let offset = stream * STREAM + step * LEN;
            let read = clients[stream % 2].read(&file, offset as u64, LEN as u32).unwrap();
            assert!(read == bytes[offset..offset + LEN], "{offset}");
        }
    }
    let counters = served.forerun.counters();
    assert!(counters.readahead_bytes > 4 * counters.demand_bytes, "{counters:?}");
}

#[test]
fn reads_end_where_the_file_ends() {
    let bytes = pattern(100_001, 1);
    let served = Served::new(&[("a", bytes.clone()), ("empty", vec![])]);
    let mut client = served.connect();
    let (file, empty) = (client.open("a"), client.open("empty"));
    for (file, offset, count, expected, eof) in [
        (&file, 0, u32::MAX, &bytes[..], true),
        (&file, 1, 3, &bytes[1..4], false),
        (&file, 100_000, 1, &bytes[100_000..], true),
        (&file, 99_999, 5, &bytes[99_999..], true),
        (&file, 100_001, 5, &[][..], true),
        (&file, u64::MAX, 5, &[][..], true),
        (&file, 5, 0, &[][..], false),
        (&empty, 0, 4096, &[][..], true),
    ] {
        let arguments = READ3args { file: file.clone(), offset, count };
        let read = result(client.call::<READ3res<'static>>(Procedure::NFSPROC3_READ, &arguments)).unwrap();
        assert!(*read.data == *expected && read.eof == eof, "{offset} {count}: {}", read.data.len());
    }
}

#[test]
fn a_slow_read_holds_up_no_other() {
    let bytes = pattern(12 * MIB, 1);
    let served = Served::new(&[("slow", bytes.clone())]);
    let mut client = served.connect();
    let file = client.open("slow");
    let slow = client.send_read(&file, SLOW_FROM, 4096);
    for offset in (0..10).map(|number| number * 4096) {
        assert!(client.read(&file, offset, 4096).unwrap() == bytes[offset as usize..][..4096]);
    }
    assert!(served.connect().read(&file, 0, 4096).is_ok(), "nor one of another connection");
    served.storage.allowed.add_permits(100);
    assert!(client.take_read(slow).unwrap() == bytes[8 * MIB..8 * MIB + 4096]);
}

#[test]
fn reads_of_all_clients_share_one_open_file() {
    let bytes = pattern(4 * MIB, 1);
    let served = Served::new(&[("a", bytes.clone())]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = served.connect();
                let file = client.open("a");
                for offset in (0..4 * MIB).step_by(MIB) {
                    assert!(
                        client.read(&file, offset as u64, MIB as u32).unwrap() == bytes[offset..offset + MIB]
                    );
                }
            });
        }
    });
    let counters = served.forerun.counters();
    assert_eq!(counters.repeated_bytes, 0, "{counters:?}");
}
