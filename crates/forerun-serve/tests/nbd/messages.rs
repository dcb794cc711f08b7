//! The protocol by itself: bytes in, messages out, cut anywhere.

use bytes::BytesMut;
use forerun_serve::nbd::protocol::{
    BlockSizes, Command, Errno, Export, Handshake, Incoming, Replies, Requests, STATE_HOLE, Session,
    StatusExtent, Step,
};

use super::anything;
use super::client::*;
use super::numbers::*;

fn export() -> Export {
    let (name, description) = ("disk".to_owned(), String::new());
    Export { name, description, size: 1 << 20, flags: 2, block_sizes: BlockSizes::default() }
}

/// Gives `bytes` in pieces of `step`; what the server says, and what it was told to do.
fn haggle(bytes: &[u8], step: usize) -> (Vec<u8>, Vec<Step>) {
    let (mut output, mut steps, mut input) = (Vec::new(), Vec::new(), BytesMut::new());
    let mut handshake = Handshake::new(&mut output);
    for piece in bytes.chunks(step) {
        input.extend_from_slice(piece);
        loop {
            match handshake.step(&mut input, &mut output).unwrap() {
                Step::Receive => break,
                Step::Find(name) => {
                    steps.push(Step::Find(name.clone()));
                    let export = Some(export()).filter(|export| export.name == name);
                    match handshake.found(export.as_ref(), &mut output).unwrap() {
                        Step::Receive => {}
                        end => {
                            steps.push(end);
                            return (output, steps);
                        }
                    }
                }
                Step::List => handshake.listed(Some(&["disk".to_owned()]), &mut output),
                end => {
                    steps.push(end);
                    return (output, steps);
                }
            }
        }
    }
    (output, steps)
}

#[test]
fn a_handshake_is_the_same_however_its_bytes_are_cut() {
    let option = |option: u32, data: &[u8]| {
        [&OPTION_MAGIC.to_be_bytes()[..], &option.to_be_bytes(), &(data.len() as u32).to_be_bytes(), data]
            .concat()
    };
    let bytes = [
        3_u32.to_be_bytes().to_vec(),
        option(STRUCTURED_REPLY, &[]),
        option(GO, &vec![7; 70_000]),
        option(LIST, &[]),
        option(SET_META_CONTEXT, &queries("disk", &["base:allocation"])),
        option(INFO, &named("other", &[])),
        option(GO, &named("disk", &[3])),
    ]
    .concat();
    let whole = haggle(&bytes, bytes.len());
    let session = Session { has_structured_replies: true, has_allocation: true };
    let find = |name: &str| Step::Find(name.to_owned());
    assert_eq!(whole.1, [find("disk"), find("other"), find("disk"), Step::Begin(session)]);
    for step in [1, 2, 7, 16, 100, 4096] {
        assert_eq!(haggle(&bytes, step), whole, "{step}");
    }
}

/// The messages of `bytes` that come in pieces of `step`, for an export with `flags`. A part of a write is
/// told as its place and length.
fn taken(bytes: &[u8], step: usize, flags: u16) -> Vec<Result<Command, (Errno, u64)>> {
    let (mut requests, mut input, mut seen) = (Requests::default(), BytesMut::new(), Vec::new());
    let export = Export { size: 1 << 20, flags, ..export() };
    for piece in bytes.chunks(step) {
        input.extend_from_slice(piece);
        while let Some(message) = requests.next(&mut input).unwrap() {
            match message {
                Incoming::Request(request) => {
                    let command = request.command(&export, Session::default());
                    if command.is_err() {
                        requests.drop_payload();
                    }
                    seen.push(command.map_err(|refusal| (refusal.errno, request.cookie)));
                }
                Incoming::Part { offset, bytes, is_last } => {
                    let is_durable = is_last;
                    seen.push(Ok(Command::Write { offset, len: bytes.len() as u32, is_durable }));
                }
            }
        }
    }
    seen
}

#[test]
fn requests_are_the_same_however_their_bytes_are_cut() {
    const LEN: u32 = 300_000;
    let bytes = [
        request(READ, 0, 1, 5, 6),
        request(WRITE, 0, 2, 1000, LEN),
        request(READ, 0, 99, 9, 9).repeat(20_000)[..LEN as usize].to_vec(),
        request(WRITE, 0, 3, 0, 0),
        request(DISCONNECT, 0, 4, 0, 0),
    ]
    .concat();
    let read = Ok(Command::Read { offset: 5, len: 6, is_whole: false });
    let part = |offset: u64, len: u32, is_durable| Ok(Command::Write { offset, len, is_durable });
    let refused = |cookie| Err((Errno::NotPermitted, cookie));
    for step in [1, 3, 28, 100, 200_000, bytes.len()] {
        let read_only = taken(&bytes, step, 2);
        let dropped = part(0, 0, true);
        assert_eq!(read_only, [read, refused(2), dropped, refused(3), Ok(Command::Disconnect)], "{step}");
        let (first, last) = ((256 << 10) - 1000, LEN - (256 << 10) + 1000);
        let parts = [part(1000, LEN, false), part(1000, first, false), part(256 << 10, last, true)];
        let ends = [Err((Errno::Invalid, 3)), Ok(Command::Disconnect)];
        assert_eq!(taken(&bytes, step, 0), [&[read], &parts[..], &ends].concat(), "{step}");
    }
}

#[test]
fn replies_have_the_form_of_the_specification() {
    let simple = Replies::new(Session::default());
    assert_eq!(simple.done(7), [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
    assert_eq!(simple.error(7, Errno::Io, "why")[4..8], [0, 0, 0, 5]);
    assert_eq!(simple.hole(7, 0, 1, true), None);
    let chunks = Replies::new(Session { has_structured_replies: true, has_allocation: true });
    let head = |flags, kind: [u8; 2], len| {
        [&[0x66, 0x8e, 0x33, 0xef, 0, flags][..], &kind, &[0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, len]].concat()
    };
    assert_eq!(chunks.done(7), head(1, [0, 0], 0));
    assert_eq!(chunks.data(7, 1, 3, false), [head(0, [0, 1], 11), vec![0, 0, 0, 0, 0, 0, 0, 1]].concat());
    let hole = [head(1, [0, 2], 12), vec![0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3]].concat();
    assert_eq!(chunks.hole(7, 1, 3, true), Some(hole));
    let error = [head(1, [0x80, 1], 9), vec![0, 0, 0, 108, 0, 3], b"why".to_vec()].concat();
    assert_eq!(chunks.error(7, Errno::Shutdown, "why"), error);
    let error_at =
        [head(0, [0x80, 2], 17), vec![0, 0, 0, 5, 0, 3], b"why".to_vec(), vec![0, 0, 0, 0, 0, 0, 0, 9]];
    assert_eq!(chunks.error_at(7, Errno::Io, "why", 9, false), error_at.concat());
    let extents = [StatusExtent { len: 2, state: STATE_HOLE }];
    let status = [head(1, [0, 5], 12), vec![0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1]].concat();
    assert_eq!(chunks.block_status(7, &extents), status);
    let long = chunks.error(7, Errno::Io, &"ü".repeat(5000));
    assert_eq!(long.len(), 20 + 6 + 4096, "a message is no longer than a string may be");
}

#[test]
fn nothing_that_a_client_sends_is_too_much() {
    let options = [
        3_u32.to_be_bytes().to_vec(),
        [&OPTION_MAGIC.to_be_bytes()[..], &GO.to_be_bytes(), &10_u32.to_be_bytes(), &named("disk", &[])]
            .concat(),
    ];
    let requests = [READ, WRITE, BLOCK_STATUS, CACHE].map(|kind| request(kind, 0, 1, 5, 60));
    let (options, requests) = (options.concat(), requests.concat());
    let mut luck = 1_u64;
    let mut draw = move |below: usize| {
        luck = luck.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (luck >> 33) as usize % below
    };
    for _ in 0..20_000 {
        // A few bytes are others, and some are missing.
        let mut harm = |bytes: &[u8]| {
            let mut bytes = bytes.repeat(1 + draw(3));
            for _ in 0..draw(4) {
                let at = draw(bytes.len());
                bytes[at] = draw(256) as u8;
            }
            bytes.truncate(1 + draw(bytes.len()));
            bytes
        };
        anything::options(&harm(&options));
        anything::requests(&harm(&requests));
    }
}
