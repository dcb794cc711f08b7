//! The promises of the NBD protocol for any bytes of a client. Nothing panics, and no more is kept than a
//! limit. A conversation does not depend on how its bytes are cut.

use super::protocol::{BlockSizes, Broken, Command, Export, Handshake, Request, Requests, Session, Step};
use bytes::BytesMut;

/// The longest option that is kept, and its head.
const KEPT_BYTES_MAX: usize = (64 << 10) + 16;
const SIZE: u64 = 1 << 30;

/// Says `bytes` in a handshake.
pub(crate) fn options(bytes: &[u8]) {
    let whole = haggle(bytes, bytes.len().max(1));
    let cut = haggle(bytes, 1 + bytes.len() % 13);
    assert_eq!(whole, cut, "a handshake depends on how it is cut");
}

type Said = (Vec<u8>, Vec<Step>, Option<Broken>);

fn haggle(bytes: &[u8], step: usize) -> Said {
    let (mut output, mut steps, mut input) = (Vec::new(), Vec::new(), BytesMut::new());
    let mut handshake = Handshake::new(&mut output);
    let (name, description) = ("disk".to_owned(), "a disk".to_owned());
    let export = Export { name, description, size: SIZE, flags: 2, block_sizes: BlockSizes::default() };
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

/// Sends `bytes` as requests.
pub(crate) fn requests(bytes: &[u8]) {
    for session in [Session::default(), Session { has_structured_replies: true, has_allocation: true }] {
        let whole = ask(bytes, bytes.len().max(1), session);
        assert_eq!(whole, ask(bytes, 1 + bytes.len() % 29, session), "requests depend on how they are cut");
    }
}

fn ask(bytes: &[u8], step: usize, session: Session) -> (Vec<Request>, Option<Broken>) {
    let (mut requests, mut input, mut seen) = (Requests::default(), BytesMut::new(), Vec::new());
    for piece in bytes.chunks(step) {
        input.extend_from_slice(piece);
        loop {
            match requests.next(&mut input) {
                Ok(Some(request)) => {
                    check(&request, session);
                    seen.push(request);
                }
                Ok(None) => break,
                Err(broken) => return (seen, Some(broken)),
            }
        }
        assert!(input.len() < 28, "the bytes of writes are kept");
    }
    (seen, None)
}

/// Served extents lie within the export.
fn check(request: &Request, session: Session) {
    let Ok(command) = request.command(SIZE, session) else { return };
    match command {
        Command::Read { offset, len, .. }
        | Command::Cache { offset, len }
        | Command::BlockStatus { offset, len, .. } => {
            assert!(len > 0 && offset < SIZE && u64::from(len) <= SIZE - offset, "{command:?}");
        }
        Command::Flush | Command::Disconnect => {}
    }
}
