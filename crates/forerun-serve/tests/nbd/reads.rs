//! Reads, and the order of replies.

use std::thread;

use super::client::*;
use super::numbers::*;
use super::support::{MIB, SLOW_FROM, Served, pattern};

#[test]
fn every_byte_is_the_objects() {
    const SIZE: usize = 5 * MIB + 123;
    let bytes = pattern(SIZE, 1);
    let served = Served::new(&[("a", bytes.clone())]);
    for is_structured in [false, true] {
        let mut client = if is_structured { served.open_structured("a") } else { served.open("a") };
        for (offset, len) in [
            (0, SIZE),
            (0, 1),
            (4095, 2),
            (SIZE - 1, 1),
            (1, 3 * MIB),
            (MIB, MIB),
            (123, 65_536),
            (MIB - 1, MIB + 2),
        ] {
            let read = client.read(offset as u64, len as u32);
            assert!(read.as_deref() == Ok(&bytes[offset..offset + len]), "{offset} {len}: {:?}", read.err());
        }
    }
}

#[test]
fn four_connections_read_one_object_at_once() {
    const PIECE: usize = 100_000;
    let bytes = pattern(16 * MIB, 1);
    let served = Served::new(&[("a", bytes.clone())]);
    thread::scope(|scope| {
        for part in 0..4 {
            let (served, bytes) = (&served, &bytes);
            scope.spawn(move || {
                let mut client = served.open_structured("a");
                for offset in (part * 4 * MIB..(part + 1) * 4 * MIB).step_by(PIECE) {
                    let read = client.read(offset as u64, PIECE.min(16 * MIB - offset) as u32).unwrap();
                    assert!(read == bytes[offset..offset + read.len()], "{offset}");
                }
            });
        }
    });
    let counters = served.forerun.counters();
    assert_eq!(counters.repeated_bytes, 0, "the connections share what was fetched");
    assert!(counters.demand_bytes <= 17 * MIB as u64, "{counters:?}");
}

#[test]
fn a_slow_read_holds_up_no_other() {
    let bytes = pattern(12 * MIB, 1);
    let served = Served::new(&[("slow", bytes.clone())]);
    let mut client = served.open_structured("slow");
    let slow = client.request(READ, 0, SLOW_FROM, 4096);
    // One after the other, since fast ones may overtake each other too.
    for offset in (0..10).map(|number| number * 4096) {
        assert!(client.read(offset, 4096).unwrap() == bytes[offset as usize..][..4096]);
    }
    assert!(served.open("slow").read(0, 4096).is_ok(), "nor one of another connection");
    served.storage.allowed.add_permits(100);
    assert!(client.take_read(slow, SLOW_FROM, 4096).unwrap() == bytes[8 * MIB..8 * MIB + 4096]);
}

#[test]
fn a_read_that_is_to_be_whole_is_one_chunk() {
    let bytes = pattern(3 * MIB, 1);
    let served = Served::new(&[("a", bytes.clone())]);
    let mut client = served.open_structured("a");
    client.request(READ, FLAG_DF, 5, MIB as u32);
    match client.message() {
        Message::Chunk { is_done: true, kind: 1, payload, .. } => assert!(payload[8..] == bytes[5..MIB + 5]),
        message => panic!("{:.100}", format!("{message:?}")),
    }
    assert_eq!(client.read_with(FLAG_DF, 0, MIB as u32 + 1), Err(EOVERFLOW));
    assert!(client.read_with(FLAG_DF, 0, 65_536).unwrap() == bytes[..65_536]);
}

#[test]
fn zeros_are_told_instead_of_sent() {
    let mut bytes = vec![0; 4 * MIB];
    bytes[3 * MIB - 1] = 1;
    let served = Served::new(&[("a", bytes.clone())]);
    let mut client = served.open_structured("a");
    let cookie = client.request(READ, FLAG_DF, 4096, 8192);
    let hole = [&4096_u64.to_be_bytes()[..], &8192_u32.to_be_bytes()].concat();
    assert_eq!(client.message(), Message::Chunk { is_done: true, kind: 2, cookie, payload: hole });
    assert!(client.read(0, 4 << 20).unwrap() == bytes, "in pieces with bytes, too");
    assert!(served.open("a").read(0, 4 << 20).unwrap() == bytes, "and in a simple reply");
}

#[test]
fn failures_are_told_with_their_place_and_the_connection_goes_on() {
    let bytes = pattern(12 * MIB, 1);
    let served = Served::new(&[("broken", bytes.clone())]);
    let mut client = served.open_structured("broken");
    client.request(READ, 0, SLOW_FROM - 4 * MIB as u64, 6 << 20);
    let mut places = Vec::new();
    loop {
        let Message::Chunk { is_done, kind, payload, .. } = client.message() else {
            panic!("not structured")
        };
        if kind == 0x8002 {
            assert_eq!(payload[..4], EIO.to_be_bytes());
            assert!(String::from_utf8_lossy(&payload).contains("as it must be"), "people are told why");
            places.push(u64::from_be_bytes(payload[payload.len() - 8..].try_into().unwrap()));
        }
        if is_done {
            break;
        }
    }
    places.sort_unstable();
    assert_eq!(places, [SLOW_FROM, SLOW_FROM + MIB as u64]);
    assert!(client.read(0, 4096).unwrap() == bytes[..4096]);

    let mut client = served.open("broken");
    assert_eq!(client.read(SLOW_FROM, 4096), Err(EIO));
    assert!(client.read(0, 4096).unwrap() == bytes[..4096]);
    // A long simple reply has begun when its end fails, and then only hanging up is left.
    client.request(READ, 0, SLOW_FROM - 2 * MIB as u64, 4 << 20);
    assert_eq!(client.message(), Message::Simple { error: 0, cookie: 3 });
    let mut rest = Vec::new();
    std::io::Read::read_to_end(&mut client.socket, &mut rest).unwrap();
    assert!(rest == bytes[6 * MIB..8 * MIB]);
}

#[test]
fn caching_reads_ahead() {
    use std::time::{Duration, Instant};
    let bytes = pattern(8 * MIB, 1);
    let storage = Served::new(&[]).storage.clone();
    storage.objects.replace("a", bytes.clone());
    let options = forerun::Options::default().with_memory_bytes(64 << 20);
    let backend = std::sync::Arc::clone(&storage) as std::sync::Arc<dyn forerun::Backend>;
    let forerun = forerun::Forerun::over(backend, options).unwrap();
    let served = Served::over(storage, forerun.clone());
    let mut client = served.open("a");
    let cookie = client.request(CACHE, 0, 4 << 20, 1 << 20);
    assert_eq!(client.outcome(cookie), 0);
    let deadline = Instant::now() + Duration::from_secs(30);
    while forerun.counters().readahead_bytes < 1 << 20 {
        assert!(Instant::now() < deadline, "nothing is read ahead");
        thread::sleep(Duration::from_millis(5));
    }
    assert!(client.read(4 << 20, 1 << 20).unwrap() == bytes[4 * MIB..5 * MIB]);
    assert_eq!(forerun.counters().miss_bytes, 0, "it was read ahead");
}
