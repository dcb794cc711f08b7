//! Clients that do not keep to the protocol. Each gets the error that the specification has for it, or is
//! cut off, and no other client notices.

use std::time::Duration;

use forerun_serve::nbd::{Exports, Server, Source};

use super::client::*;
use super::numbers::*;
use super::support::{MIB, Served, engine, pattern};

fn served() -> Served {
    Served::new(&[("a", pattern(3 * MIB, 1))])
}

/// The server still serves others.
fn assert_serves(served: &Served) {
    assert_eq!(served.open("a").read(0, 100).unwrap(), pattern(3 * MIB, 1)[..100]);
}

#[test]
fn malformed_options_are_refused_and_the_handshake_goes_on() {
    let served = served();
    let mut client = Client::unix(&served.socket).structured();
    let name_past_the_end = [&100_u32.to_be_bytes()[..], b"a\0\0"].concat();
    let huge_name = [&u32::MAX.to_be_bytes()[..], b"a\0\0"].concat();
    let infos_past_the_end = [&1_u32.to_be_bytes()[..], b"a", &9_u16.to_be_bytes(), &[0, 1]].concat();
    let too_much = [&named("a", &[])[..], &[0]].concat();
    let too_many_queries = [&1_u32.to_be_bytes()[..], b"a", &u32::MAX.to_be_bytes()].concat();
    let no_text = [&2_u32.to_be_bytes()[..], &[0xC3, 0x28], &[0, 0]].concat();
    let refused: [(u32, &[u8], u32); 17] = [
        (77, &[], ERR_UNSUP),
        (77, &[1, 2, 3], ERR_UNSUP),
        (11, &[], ERR_UNSUP),
        (STARTTLS, &[], ERR_UNSUP),
        (STARTTLS, &[1], ERR_INVALID),
        (LIST, &[1], ERR_INVALID),
        (STRUCTURED_REPLY, &[1], ERR_INVALID),
        (GO, &[], ERR_INVALID),
        (GO, &[0, 0, 0], ERR_INVALID),
        (GO, &name_past_the_end, ERR_INVALID),
        (INFO, &huge_name, ERR_INVALID),
        (INFO, &infos_past_the_end, ERR_INVALID),
        (GO, &too_much, ERR_INVALID),
        (GO, &no_text, ERR_INVALID),
        (GO, &named("a\0", &[]), ERR_INVALID),
        (SET_META_CONTEXT, &too_many_queries, ERR_INVALID),
        (LIST_META_CONTEXT, &[0, 0, 0, 1], ERR_INVALID),
    ];
    for (option, data, error) in refused {
        assert_eq!(client.option(option, data), (vec![], error), "{option} {data:?}");
    }
    assert_eq!(client.option(GO, &named(&"n".repeat(4097), &[])).1, ERR_TOO_BIG);
    assert_eq!(client.option(GO, &named(&"n".repeat(4096), &[])).1, ERR_UNKNOWN);
    assert_eq!(client.option(77, &vec![0; 65_536]).1, ERR_UNSUP);
    for len in [65_537, MIB, 16 * MIB] {
        assert_eq!(client.option(GO, &vec![0; len]).1, ERR_TOO_BIG, "{len}");
    }
    assert_eq!(client.go("a").0, 3 * MIB as u64);
    assert_eq!(client.read(5, 5).unwrap(), pattern(10, 1)[5..]);
}

#[test]
fn clients_that_have_lost_the_handshake_are_cut_off() {
    let served = served();
    let head = |magic: u64, option: u32, len: u32| {
        [&magic.to_be_bytes()[..], &option.to_be_bytes(), &len.to_be_bytes()].concat()
    };
    let cut_off: [(u32, Vec<u8>); 5] = [
        (4, vec![]),
        (u32::MAX, vec![]),
        (3, head(OPTION_MAGIC + 1, LIST, 0)),
        (3, head(OPTION_MAGIC, GO, (16 << 20) + 1)),
        (3, head(OPTION_MAGIC, EXPORT_NAME, 65_537)),
    ];
    for (flags, bytes) in cut_off {
        let mut client = Client::greeted(Box::new(connect(&served.socket)), flags);
        client.send(&bytes);
        assert!(client.is_hung_up(), "{flags:#x} {bytes:?}");
    }
    // Without the fixed handshake, only one option is understood.
    let mut old = Client::greeted(Box::new(connect(&served.socket)), 0);
    old.send_option(LIST, &[]);
    assert!(old.is_hung_up());
    assert_serves(&served);
}

#[test]
fn a_client_that_chooses_nothing_is_cut_off_in_time() {
    let (storage, forerun) = engine(16 << 20, &[("a", pattern(3 * MIB, 1))]);
    let server = Server::new(Exports::new(vec![Source::new(forerun.clone(), None)]));
    let served = Served::by(storage, forerun, server.with_handshake_time_max(Duration::from_secs(2)));
    let mut silent = Client::unix(&served.socket);
    let mut slow = Client::unix(&served.socket);
    slow.send(&OPTION_MAGIC.to_be_bytes());
    assert!(silent.is_hung_up() && slow.is_hung_up());
    assert_serves(&served);
}

#[test]
fn requests_that_make_no_sense_are_refused_and_the_next_is_served() {
    const END: u64 = 3 << 20;
    let served = served();
    for is_structured in [false, true] {
        let mut client = if is_structured { served.open_structured("a") } else { served.open("a") };
        let refused: [(u16, u16, u64, u32, u32); 21] = [
            (READ, 0, 0, 0, EINVAL),
            (READ, 0, END, 1, EINVAL),
            (READ, 0, END - 1, 2, EINVAL),
            (READ, 0, u64::MAX, 1, EINVAL),
            (READ, 0, u64::MAX - 1, u32::MAX, EINVAL),
            (READ, 0, 0, u32::MAX, EINVAL),
            (READ, 1, 0, 5, EINVAL),
            (READ, 1 << 15, 0, 5, EINVAL),
            (READ, FLAG_ONE, 0, 5, EINVAL),
            (TRIM, 0, 0, 5, EPERM),
            (TRIM, FLAG_DF, 0, 5, EINVAL),
            (WRITE_ZEROES, 0, 0, 5, EPERM),
            (WRITE_ZEROES, 1 << 1, END, 5, EPERM),
            (FLUSH, 0, 0, 5, EINVAL),
            (FLUSH, 1, 0, 0, EINVAL),
            (CACHE, 0, END, 1, EINVAL),
            (CACHE, 0, 0, 0, EINVAL),
            (CACHE, FLAG_DF, 0, 5, EINVAL),
            (BLOCK_STATUS, 0, 0, 5, EINVAL),
            (8, 0, 0, 5, EINVAL),
            (u16::MAX, 0, 0, 0, EINVAL),
        ];
        for (kind, flags, offset, len, error) in refused {
            let cookie = client.request(kind, flags, offset, len);
            assert_eq!(client.outcome(cookie), error, "{kind} {flags} {offset} {len}");
        }
        assert_eq!(client.read(END - 5, 5).unwrap(), pattern(3 * MIB, 1)[3 * MIB - 5..]);
        let cookie = client.request(FLUSH, 0, 0, 0);
        assert_eq!(client.outcome(cookie), 0);
    }
    // One chunk can only be asked for where there are chunks.
    let mut client = served.open("a");
    assert_eq!(client.read_with(FLAG_DF, 0, 5), Err(EINVAL));
}

#[test]
fn the_bytes_of_refused_writes_are_dropped() {
    let served = served();
    let mut client = served.open("a");
    for (flags, len, error) in [(0, 5, EPERM), (1, 70_000, EINVAL), (0, 0, EPERM), (0, 32 * MIB, EPERM)] {
        let cookie = client.request(WRITE, flags, 0, len as u32);
        // Among them, bytes that look like a request.
        let mut payload = request(READ, 0, 99, 0, 5);
        payload.resize(payload.len().max(len), 1);
        client.send(&payload[..len]);
        assert_eq!(client.outcome(cookie), error, "{len}");
    }
    assert_eq!(client.read(0, 10).unwrap(), pattern(10, 1));
    client.request(WRITE, 0, 0, (32 << 20) + 1);
    assert!(client.is_hung_up(), "more than any client may send");
    assert_serves(&served);
}

#[test]
fn clients_that_have_lost_the_protocol_are_cut_off() {
    let served = served();
    let mut client = served.open("a");
    client.send(&(REQUEST_MAGIC ^ 1).to_be_bytes());
    assert!(client.is_hung_up());
    // An extended request was not agreed on.
    let mut client = served.open_structured("a");
    client.send(&[&0x21e4_1c71_u32.to_be_bytes()[..], &[0; 28]].concat());
    assert!(client.is_hung_up());
    assert_serves(&served);
}

#[test]
fn clients_may_hang_up_at_any_byte() {
    let served = served();
    let conversation = [
        3_u32.to_be_bytes().to_vec(),
        [&OPTION_MAGIC.to_be_bytes()[..], &GO.to_be_bytes(), &7_u32.to_be_bytes(), &named("a", &[])].concat(),
        request(READ, 0, 1, 0, 1000),
        request(WRITE, 0, 2, 0, 10),
        vec![0; 10],
    ]
    .concat();
    for len in 0..=conversation.len() {
        let mut socket = connect(&served.socket);
        std::io::Write::write_all(&mut socket, &conversation[..len]).unwrap();
    }
    assert_serves(&served);
}
