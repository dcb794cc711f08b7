//! The promises of a reader for any input. It ends, and does not panic. Its errors say where the damage is.
//! Accesses that it has read can be kept in Forerun's own format. And what of
//! reads of any kind: reading ahead of them breaks no invariant and wastes little.

use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex};

use forerun_trace::{Access, Error, Files, Format, Position, ReadOptions, Reader, Writer};
use nix::sys::signal::{SigSet, Signal};

#[path = "../../crates/forerun-serve/tests/nbd/anything.rs"]
mod clients;
mod http;
mod nfs;
#[path = "../../crates/forerun-sim/tests/regret/accesses.rs"]
mod reads;

use forerun_serve::nbd::protocol;

/// The most bytes that bzip2 makes of one. Blocks of 900 kB, in which 5 bytes stand for a run of 255, take
/// more than 32 each. Also the least of a record's size in bytes is 1.
const UNPACKED_MAX: usize = 900_000 / 5 * 255 / 32;

/// The limit of the accesses that are read in virtual time.
const READERS_MAX: usize = 16;

/// Names the input in errors.
const NAME: &str = "given";

/// Reads `bytes` as `format`, both what was queued and what was dispatched.
pub fn read(format: Format, bytes: &[u8]) {
    check(Some(format), bytes);
}

/// Reads `bytes` as whatever they look like.
pub fn detect(bytes: &[u8]) {
    check(None, bytes);
}

/// Reads what `bytes` say, in virtual time: one reader does, or several side by side.
pub fn accesses(bytes: &[u8]) {
    reads::Accesses::new(bytes).check(1 + bytes.len() % READERS_MAX);
}

/// Says `bytes` in the handshake of the NBD protocol.
pub fn nbd_options(bytes: &[u8]) {
    clients::options(bytes);
}

/// Sends `bytes` as calls of NFS.
pub fn nfs_calls(bytes: &[u8]) {
    nfs::clients::calls(bytes);
}

/// Takes `bytes` for a `Range` of HTTP.
pub fn http_ranges(bytes: &[u8]) {
    http::ranges(bytes);
}

/// Sends `bytes` as a request of HTTP or S3.
pub fn http_requests(bytes: &[u8]) {
    block_sigpipe();
    http::clients::requests(bytes);
}

/// Sends `bytes` as a request of HTTP or S3 to a server that has credentials.
pub fn s3_signatures(bytes: &[u8]) {
    block_sigpipe();
    http::clients::requests_without_a_key(bytes);
}

/// Lets threads that start from now on write to a connection that is closed, as those of a program in Rust
/// do. The first input starts those of the server.
fn block_sigpipe() {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGPIPE);
    signals.thread_block().unwrap();
}

/// Sends `bytes` as requests of the NBD protocol.
pub fn nbd_requests(bytes: &[u8]) {
    clients::requests(bytes);
}

fn check(format: Option<Format>, bytes: &[u8]) {
    for dispatched in [false, true] {
        match Reader::new(
            Cursor::new(bytes.to_vec()),
            NAME,
            ReadOptions::default().with_format(format).with_dispatched(dispatched),
        ) {
            Ok(reader) => exhaust(reader, bytes),
            Err(Error::UnknownFormat { name, reason }) => assert!(name == NAME && !reason.is_empty()),
            Err(error) => check_error(&error, bytes),
        }
    }
}

fn exhaust(mut reader: Reader, bytes: &[u8]) {
    let mut accesses = Vec::new();
    while let Some(access) = reader.next() {
        match access {
            Ok(access) => accesses.push(access),
            Err(error) => {
                check_error(&error, bytes);
                assert!(reader.next().is_none(), "a reader goes on after {error}");
            }
        }
        assert!(accesses.len() <= bytes.len() * UNPACKED_MAX, "more records than bytes");
    }
    keep(&accesses, reader.files());
}

fn check_error(error: &Error, bytes: &[u8]) {
    let Error::Malformed { name, at, reason } = error else { panic!("memory cannot fail: {error}") };
    assert!(name == NAME && !reason.is_empty(), "{error}");
    let bytes_max = bytes.len() * UNPACKED_MAX;
    match at {
        Position::Line(line) => assert!(*line >= 1 && *line <= bytes_max as u64 + 1, "{error}"),
        Position::Record { number, byte } => {
            assert!(*number >= 1 && *number <= bytes_max as u64 + 1, "{error}");
            assert!(*byte <= bytes_max as u64, "{error}");
        }
        position => panic!("a position of a new kind: {position:?}"),
    }
}

/// Forerun's own format keeps all of what was read.
fn keep(accesses: &[Access], files: &Files) {
    let kept = Shared::default();
    let mut writer = Writer::new(kept.clone(), NAME, Format::Compact).expect("it can be written");
    for access in accesses {
        match writer.write(access, files) {
            Ok(()) => {}
            // A dependency may be too far back.
            Err(Error::Unwritable { .. }) => return,
            Err(error) => panic!("memory takes all: {error}"),
        }
    }
    writer.finish(files).expect("memory takes all");
    let bytes = std::mem::take(&mut *kept.0.lock().expect("no writer panicked"));
    let mut reader =
        Reader::new(Cursor::new(bytes), NAME, ReadOptions::default()).expect("its format is known");
    let again: Vec<Access> = reader.by_ref().map(|access| access.expect("it is whole")).collect();
    assert_eq!(again, accesses);
    assert!(accesses.is_empty() || reader.files().iter().eq(files.iter()));
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no writer panicked").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
