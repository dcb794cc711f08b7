//! Clients that ask for much, that do not take their replies, and that rest; and the end of the server.

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use forerun_serve::Limits;
use nfs3_types::nfs3::READ3args;
use nfs3_types::xdr_codec::Void;

use super::client::{Client, Head, NFS, Procedure};
use super::support::{MEMORY_BYTES, MIB, SLOW_FROM, Served, pattern};

/// Sends reads until the server takes no more; their numbers.
fn flood(client: &mut Client, read: &READ3args) -> Vec<u32> {
    let mut sent = Vec::new();
    loop {
        let head = Head { procedure: Procedure::NFSPROC3_READ as u32, ..NFS };
        let (xid, record) = client.record(head, read);
        if client.socket.write_all(&record).is_err() {
            return sent;
        }
        sent.push(xid);
    }
}

#[test]
fn clients_that_never_read_stop_only_themselves() {
    let bytes = pattern(24 * MIB, 1);
    let served = Served::new(&[("a", bytes.clone())]);
    let file = served.connect().open("a");
    let mut stopped = Vec::new();
    for number in 0..12 {
        let mut client = served.connect();
        client.socket.set_write_timeout(Some(Duration::from_millis(50))).unwrap();
        let count = if number % 2 == 0 { 4096 } else { 1 << 20 };
        let sent = flood(&mut client, &READ3args { file: file.clone(), offset: 0, count });
        // The sockets hold a part of it, and not without end.
        assert!(sent.len() < 100_000, "calls are taken without end");
        stopped.push((client, sent, count as usize));
    }
    let mut client = served.connect();
    let began = Instant::now();
    for offset in (0..24 * MIB).step_by(MIB) {
        assert!(client.read(&file, offset as u64, MIB as u32).unwrap() == bytes[offset..offset + MIB]);
    }
    assert!(began.elapsed() < Duration::from_secs(15), "it took {:?}", began.elapsed());
    assert!(served.forerun.memory_bytes() <= MEMORY_BYTES);
    // A stopped client that goes on gets every byte that it has asked for.
    for (client, sent, count) in &mut stopped[..4] {
        for xid in &sent[..30] {
            assert!(client.take_read(*xid).unwrap() == bytes[..*count]);
        }
    }
}

#[test]
fn a_client_that_takes_nothing_or_asks_for_nothing_is_cut_off_in_time() {
    let limits =
        Limits::default().with_idle(Duration::from_millis(400)).with_stall(Duration::from_millis(400));
    let served = Served::with(&[("a", pattern(8 * MIB, 1))], limits);
    let mut resting = served.connect();
    let mut begun = served.connect();
    begun.socket.write_all(&[0x80, 0, 0, 40, 1, 2, 3]).unwrap();
    let mut greedy = served.connect();
    let file = greedy.open("a");
    for _ in 0..64 {
        greedy.send_read(&file, 0, 1 << 20);
    }
    assert!(resting.is_hung_up() && begun.is_hung_up());
    // The sockets hold some of the replies.
    std::thread::sleep(Duration::from_millis(600));
    let mut taken = 0;
    let mut buffer = vec![0; MIB];
    loop {
        match greedy.socket.read(&mut buffer) {
            Ok(0) => break,
            Ok(len) => taken += len,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::ConnectionReset);
                break;
            }
        }
    }
    assert!(taken < 64 * MIB, "it was not cut off");
}

#[test]
fn a_client_that_sends_a_call_byte_by_byte_is_cut_off_in_time() {
    let served =
        Served::with(&[("a", pattern(5000, 1))], Limits::default().with_idle(Duration::from_millis(400)));
    let mut slow = served.connect();
    // Longer than the server waits, in parts that are shorter.
    slow.socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let (_, record) = slow.record(NFS, &Void);
    let began = Instant::now();
    let hung_up = record.iter().any(|byte| {
        // The server may have hung up meanwhile.
        let _ = slow.socket.write_all(&[*byte]);
        slow.is_hung_up()
    });
    assert!(hung_up && began.elapsed() < Duration::from_secs(5), "it took {:?}", began.elapsed());
}

#[test]
fn half_a_connection_ends_itself_alone() {
    let bytes = pattern(12 * MIB, 1);
    let served = Served::new(&[("slow", bytes.clone())]);
    let mut client = served.connect();
    let file = client.open("slow");
    let mut halves: Vec<Client> = (0..20).map(|_| served.connect()).collect();
    for half in &mut halves {
        half.send_read(&file, SLOW_FROM, 4096);
        half.socket.shutdown(Shutdown::Write).unwrap();
    }
    assert!(client.read(&file, 0, 4096).unwrap() == bytes[..4096]);
    assert!(halves.iter_mut().all(Client::is_hung_up), "nobody waits for the storage");
    served.storage.allowed.add_permits(100);
    assert!(client.read(&file, SLOW_FROM, 4096).unwrap() == bytes[8 * MIB..8 * MIB + 4096]);
}

#[test]
fn the_end_of_the_server_answers_what_is_in_flight() {
    let bytes = pattern(12 * MIB, 1);
    let mut served = Served::new(&[("slow", bytes.clone())]);
    let mut resting = served.connect();
    let mut client = served.connect();
    let file = client.open("slow");
    let read = client.send_read(&file, SLOW_FROM, 4096);
    // The server has it once it has answered the next.
    assert!(client.read(&file, 0, 4096).is_ok());
    resting.mount("/data");
    served.running.stop();
    assert!(resting.is_hung_up());
    assert!(!served.running.ends_within(Duration::from_millis(200)), "a reply is owed");
    served.storage.allowed.add_permits(100);
    assert!(client.take_read(read).unwrap() == bytes[8 * MIB..8 * MIB + 4096]);
    assert!(client.is_hung_up());
    assert!(served.running.ends_within(Duration::from_secs(5)));
}
