//! The promises of the NBD protocol for any bytes of a client. Nothing panics, and no more is kept than a
//! limit. A conversation does not depend on how its bytes are cut.

use super::protocol::{
    BlockSizes, Broken, Command, Export, Handshake, Incoming, PART_BYTES_MAX, Requests, Session, Step,
};
use bytes::BytesMut;

/// The longest option that is kept, and its head.
const KEPT_BYTES_MAX: usize = (64 << 10) + 16;
const SIZE: u64 = 1 << 30;
const READ_ONLY: u16 = 1 << 1;
const REQUEST_BYTES: usize = 28;

/// Says `bytes` in a handshake, of a server with TLS and of one without.
pub(crate) fn options(bytes: &[u8]) {
    for new in [Handshake::new, Handshake::with_tls] {
        let whole = haggle(bytes, bytes.len().max(1), new);
        let cut = haggle(bytes, 1 + bytes.len() % 13, new);
        assert_eq!(whole, cut, "a handshake depends on how it is cut");
    }
}

/// An export with the flags.
fn export(flags: u16) -> Export {
    let (name, description) = ("disk".to_owned(), "a disk".to_owned());
    Export { name, description, size: SIZE, flags, block_sizes: BlockSizes::default() }
}

type Said = (Vec<u8>, Vec<Step>, Option<Broken>);

fn haggle(bytes: &[u8], step: usize, new: fn(&mut Vec<u8>) -> Handshake) -> Said {
    let (mut output, mut steps, mut input) = (Vec::new(), Vec::new(), BytesMut::new());
    let mut handshake = new(&mut output);
    let export = export(READ_ONLY);
    for piece in bytes.chunks(step) {
        input.extend_from_slice(piece);
        loop {
            let next = match handshake.step(&mut input, &mut output) {
                Ok(Step::Receive) => break,
                Ok(Step::Find(name)) => {
                    let found = (name.len() % 2 == 0).then_some(&export);
                    steps.push(Step::Find(name));
                    match handshake.found(found, &mut output) {
                        Ok(Step::Receive) => continue,
                        next => next,
                    }
                }
                Ok(Step::List) => {
                    handshake.listed(Some(&["disk".to_owned()]), &mut output);
                    continue;
                }
                next => next,
            };
            match next {
                Ok(end) => steps.push(end),
                Err(broken) => return (output, steps, Some(broken)),
            }
            return (output, steps, None);
        }
        assert!(
            step > KEPT_BYTES_MAX || input.len() <= KEPT_BYTES_MAX + step,
            "{} bytes are kept",
            input.len()
        );
    }
    (output, steps, None)
}

/// Sends `bytes` as requests, to an export that may be written and to one that may not.
pub(crate) fn requests(bytes: &[u8]) {
    for session in [Session::default(), Session { has_structured_replies: true, has_allocation: true }] {
        for flags in [0, READ_ONLY] {
            let export = export(flags);
            let whole = ask(bytes, bytes.len().max(1), session, &export);
            let cut = ask(bytes, 1 + bytes.len() % 29, session, &export);
            assert_eq!(whole, cut, "requests depend on how they are cut");
        }
    }
}

fn ask(bytes: &[u8], step: usize, session: Session, export: &Export) -> (Vec<Incoming>, Option<Broken>) {
    let (mut requests, mut input, mut seen) = (Requests::default(), BytesMut::new(), Vec::new());
    let mut write = None;
    for piece in bytes.chunks(step) {
        input.extend_from_slice(piece);
        loop {
            match requests.next(&mut input) {
                Ok(Some(message)) => {
                    match &message {
                        Incoming::Request(request) => {
                            assert_eq!(write, None, "a request among the bytes of a write");
                            let command = request.command(export, session).ok();
                            check(command, export);
                            if requests.is_in_payload() && command.is_none() {
                                requests.drop_payload();
                            }
                            write = command.and_then(written);
                        }
                        Incoming::Part { offset, bytes, is_last } => {
                            write = follow(write, *offset, bytes.len(), *is_last);
                        }
                    }
                    seen.push(message);
                }
                Ok(None) => break,
                Err(broken) => return (seen, Some(broken)),
            }
        }
        let is_kept = requests.is_in_payload() && export.is_writable();
        let kept_max = if is_kept { PART_BYTES_MAX } else { REQUEST_BYTES };
        assert!(input.len() < kept_max, "{} bytes are kept", input.len());
    }
    (seen, None)
}

/// The bytes that follow a write.
fn written(command: Command) -> Option<(u64, usize)> {
    match command {
        Command::Write { offset, len, .. } => Some((offset, len as usize)),
        _ => None,
    }
}

/// The bytes that are left after a part, which are the next of the write; none after a refused one.
fn follow(write: Option<(u64, usize)>, offset: u64, len: usize, is_last: bool) -> Option<(u64, usize)> {
    let Some((from, left)) = write else {
        assert!(len == 0 && is_last, "bytes of a refused write come");
        return None;
    };
    assert!(offset == from && len > 0 && len <= left && len <= PART_BYTES_MAX);
    assert_eq!(is_last, len == left);
    assert!(is_last || (offset + len as u64).is_multiple_of(PART_BYTES_MAX as u64), "a part cuts a block");
    (!is_last).then_some((offset + len as u64, left - len))
}

/// Served extents lie within the export, and nothing is written to one that is read-only.
fn check(command: Option<Command>, export: &Export) {
    let Some(command) = command else { return };
    let is_write = match command {
        Command::Read { .. } | Command::Cache { .. } | Command::BlockStatus { .. } => false,
        Command::Write { .. } | Command::Trim { .. } | Command::WriteZeroes { .. } => true,
        Command::Flush | Command::Disconnect => return,
    };
    assert!(!is_write || export.is_writable());
    let (Command::Read { offset, len, .. }
    | Command::Cache { offset, len }
    | Command::BlockStatus { offset, len, .. }
    | Command::Write { offset, len, .. }
    | Command::Trim { offset, len, .. }
    | Command::WriteZeroes { offset, len, .. }) = command
    else {
        return;
    };
    assert!(len > 0 && offset < SIZE && u64::from(len) <= SIZE - offset, "{command:?}");
}
