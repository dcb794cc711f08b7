//! Clients that do not keep to the protocol. Each gets the refusal that RFC 5531 has for it, or is cut off, and no
//! other client notices.

use std::io::Write;

use nfs3_types::xdr_codec::Void;

use super::client::{Client, Head, MOUNT, NFS};
use super::support::{Served, pattern};

const REPLY: u32 = 1;
const ACCEPTED: u32 = 0;
const DENIED: u32 = 1;

fn served() -> Served {
    Served::new(&[("a", pattern(5000, 1))])
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|word| u32::from_be_bytes(word.try_into().unwrap())).collect()
}

/// The server still serves others.
fn assert_serves(served: &Served) {
    let mut client = served.connect();
    let file = client.open("a");
    assert_eq!(client.read(&file, 0, 5000).unwrap(), pattern(5000, 1));
}

#[test]
fn calls_that_cannot_be_answered_are_refused_and_the_next_is_answered() {
    let served = served();
    let mut client = served.connect();
    let refused: [(Head, &[u8], &[u32]); 12] = [
        (Head { rpc_version: 3, ..NFS }, &[], &[DENIED, 0, 2, 2]),
        (Head { program: 100_227, ..NFS }, &[], &[ACCEPTED, 0, 0, 1]),
        (Head { version: 4, ..NFS }, &[], &[ACCEPTED, 0, 0, 2, 3, 3]),
        (Head { version: 1, ..MOUNT }, &[], &[ACCEPTED, 0, 0, 2, 3, 3]),
        (Head { procedure: 22, ..NFS }, &[], &[ACCEPTED, 0, 0, 3]),
        (Head { procedure: 6, ..MOUNT }, &[], &[ACCEPTED, 0, 0, 3]),
        // No handle, one that is too long, and one that ends past the record.
        (Head { procedure: 1, ..NFS }, &[], &[ACCEPTED, 0, 0, 4]),
        (Head { procedure: 1, ..NFS }, &[&[0, 0, 0, 68][..], &[0; 68]].concat(), &[ACCEPTED, 0, 0, 4]),
        (Head { procedure: 6, ..NFS }, &[0xFF; 4], &[ACCEPTED, 0, 0, 4]),
        (Head { procedure: 7, ..NFS }, &[0, 0, 0, 5, 1, 2], &[ACCEPTED, 0, 0, 4]),
        (Head { procedure: 6, ..NFS }, &[0, 0, 0, 1, 1, 0, 0, 0], &[ACCEPTED, 0, 0, 4]),
        (Head { procedure: 1, ..MOUNT }, &[0x7F, 0xFF, 0xFF, 0xFF], &[ACCEPTED, 0, 0, 4]),
    ];
    for (head, arguments, answer) in refused {
        let (xid, mut record) = client.record(head, &Void);
        record.extend_from_slice(arguments);
        let mark = (1 << 31 | (record.len() as u32 - 4)).to_be_bytes();
        record[..4].copy_from_slice(&mark);
        client.socket.write_all(&record).unwrap();
        let reply = words(&client.reply(xid));
        assert_eq!(reply, [&[REPLY], answer].concat(), "procedure {}, {arguments:?}", head.procedure);
    }
    client.mount("/data");
    assert_serves(&served);
}

/// A record with the head of a call, its credential, and its verifier.
fn call(credential: (u32, &[u8]), verifier: (u32, &[u8])) -> Vec<u8> {
    let mut call: Vec<u8> =
        [7, 0, 2, 100_003, 3, 0].iter().flat_map(|word: &u32| word.to_be_bytes()).collect();
    for (flavor, bytes) in [credential, verifier] {
        call.extend(flavor.to_be_bytes());
        call.extend((bytes.len() as u32).to_be_bytes());
        call.extend_from_slice(bytes);
    }
    [&(1 << 31 | call.len() as u32).to_be_bytes()[..], &call].concat()
}

#[test]
fn credentials_that_nobody_understands_are_refused() {
    let served = served();
    let system = |groups: u32, more: usize| {
        let head = [0, 0, 1000, 1000, groups].into_iter().flat_map(|word: u32| word.to_be_bytes());
        head.chain(vec![0; more]).collect::<Vec<u8>>()
    };
    let denied = |status| vec![REPLY, DENIED, 1, status];
    let accepted = vec![REPLY, ACCEPTED, 0, 0, 0];
    for (credential, verifier, answer) in [
        ((0, vec![]), (0, vec![]), accepted.clone()),
        ((1, system(16, 64)), (0, vec![]), accepted),
        ((1, system(17, 68)), (0, vec![]), denied(1)),
        ((1, system(u32::MAX, 0)), (0, vec![]), denied(1)),
        ((1, vec![0; 8]), (0, vec![]), denied(1)),
        ((1, vec![0; 404]), (0, vec![]), denied(1)),
        ((6, vec![0; 20]), (0, vec![]), denied(1)),
        ((0, vec![]), (0, vec![0; 404]), denied(3)),
    ] {
        let mut client = served.connect();
        client.socket.write_all(&call((credential.0, &credential.1), (verifier.0, &verifier.1))).unwrap();
        assert_eq!(words(&client.reply(7)), answer, "{credential:?}");
    }
}

#[test]
fn clients_that_have_lost_the_protocol_are_cut_off() {
    let served = served();
    let of = |parts: &[&[u8]]| parts.concat();
    let too_short = call((0, &[]), (0, &[]))[4..30].to_vec();
    let reply = [0, 0, 0, 7, 0, 0, 0, 1];
    for bytes in [
        of(&[&[0xFF; 4]]),
        of(&[&[0x80, 0, 0xA0, 1]]),
        // Many fragments of a record that never ends.
        of(&[&[0, 0, 0x80, 0], &[0; 0x8000], &[0, 0, 0x80, 0]]),
        [0; 4].repeat(100),
        of(&[&[0x80, 0, 0, 26], &too_short]),
        of(&[&[0x80, 0, 0, 8], &reply]),
        of(&[&[0x80, 0, 0, 0]]),
    ] {
        let mut client = served.connect();
        client.socket.write_all(&bytes).unwrap();
        assert!(client.is_hung_up(), "{:?}", &bytes[..bytes.len().min(12)]);
    }
    assert_serves(&served);
}

#[test]
fn a_call_may_come_in_fragments_and_in_any_pieces() {
    let served = served();
    let mut client = served.connect();
    let (xid, record) = client.record(NFS, &Void);
    for len in [2, 7, 40] {
        let count = record[4..].chunks(len).len();
        for (index, piece) in record[4..].chunks(len).enumerate() {
            let last = if index + 1 == count { 1 << 31 } else { 0 };
            let mark: u32 = last | piece.len() as u32;
            client.socket.write_all(&[&mark.to_be_bytes(), piece].concat()).unwrap();
        }
        client.take::<Void>(xid);
    }
    record.chunks(1).for_each(|byte| client.socket.write_all(byte).unwrap());
    client.take::<Void>(xid);
}

#[test]
fn clients_may_hang_up_at_any_byte() {
    let served = served();
    let record = call((0, &[]), (0, &[]));
    for len in 0..=record.len() {
        let mut client: Client = served.connect();
        client.socket.write_all(&record[..len]).unwrap();
    }
    assert_serves(&served);
}
