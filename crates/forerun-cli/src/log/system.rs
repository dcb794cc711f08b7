//! The logs of the system: syslog, and the journal of systemd.

use std::env;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

use tracing::Level;

use super::record::Record;

/// The number of programs in the background (RFC 3164, 4.1.1).
const DAEMON: u8 = 3;
/// The longest message for the journal: a datagram of the system holds more.
const MESSAGE_BYTES_MAX: usize = 48 << 10;

/// A log that listens to datagrams.
#[derive(Debug)]
pub(super) struct System {
    socket: UnixDatagram,
    path: PathBuf,
    encode: fn(&Record) -> Vec<u8>,
}

impl System {
    pub(super) const SYSLOG: &str = "/dev/log";
    const JOURNAL: &str = "/run/systemd/journal/socket";

    /// Syslog, if something keeps it. The journal may do so.
    pub(super) fn syslog() -> io::Result<System> {
        System::connect(Path::new(System::SYSLOG), of_syslog)
    }

    /// The journal by its own protocol, if it runs.
    pub(super) fn journal() -> io::Result<System> {
        System::connect(Path::new(System::JOURNAL), of_journal)
    }

    fn connect(path: &Path, encode: fn(&Record) -> Vec<u8>) -> io::Result<System> {
        UnixDatagram::unbound()?.connect(path)?;
        // A log that is full must not hold up readers.
        let socket = UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        Ok(System { socket, path: path.to_owned(), encode })
    }

    /// Each time by name, so that the log may be started anew.
    pub(super) fn send(&self, record: &Record) {
        let _ = self.socket.send_to(&(self.encode)(record), &self.path);
    }
}

/// Whether the journal reads standard error, as it does of a service.
pub(super) fn journal_reads_stderr() -> bool {
    let Ok(stream) = env::var("JOURNAL_STREAM") else { return false };
    let found = rustix::fs::fstat(io::stderr().as_fd());
    found.is_ok_and(|found| stream == format!("{}:{}", found.st_dev, found.st_ino))
}

fn of_syslog(record: &Record) -> Vec<u8> {
    let priority = DAEMON * 8 + severity(record.level);
    format!("<{priority}>forerun[{}]: {}", std::process::id(), record.plain()).into_bytes()
}

/// The fields of a record (systemd's "Native Journal Protocol").
fn of_journal(record: &Record) -> Vec<u8> {
    let mut bytes = Vec::new();
    let end = record.message.floor_char_boundary(MESSAGE_BYTES_MAX);
    let (priority, facility) = (severity(record.level).to_string(), DAEMON.to_string());
    for (name, value) in [
        ("MESSAGE", &record.message[..end]),
        ("PRIORITY", &*priority),
        ("SYSLOG_FACILITY", &*facility),
        ("SYSLOG_IDENTIFIER", "forerun"),
        ("FORERUN_TARGET", &*record.target),
    ] {
        bytes.extend_from_slice(name.as_bytes());
        if value.contains('\n') {
            bytes.push(b'\n');
            bytes.extend_from_slice(&(value.len() as u64).to_le_bytes());
        } else {
            bytes.push(b'=');
        }
        bytes.extend_from_slice(value.as_bytes());
        bytes.push(b'\n');
    }
    bytes
}

/// The number of a level in syslog and in the journal.
fn severity(level: Level) -> u8 {
    match level {
        Level::ERROR => 3,
        Level::WARN => 4,
        Level::INFO => 6,
        _ => 7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(message: &str) -> Record {
        let (time, target) = (String::new(), "forerun::mount".to_owned());
        Record { time, level: Level::WARN, target, message: message.to_owned() }
    }

    #[test]
    fn the_journal_gets_fields_and_long_texts_by_their_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let journal = UnixDatagram::bind(&path).unwrap();
        let system = System::connect(&path, of_journal).unwrap();
        let mut bytes = [0; 4096];
        let mut sent = |message| {
            system.send(&record(message));
            let len = journal.recv(&mut bytes).unwrap();
            bytes[..len].to_vec()
        };
        let fields =
            "PRIORITY=4\nSYSLOG_FACILITY=3\nSYSLOG_IDENTIFIER=forerun\nFORERUN_TARGET=forerun::mount\n";
        assert_eq!(sent("a"), format!("MESSAGE=a\n{fields}").as_bytes());
        let long = format!("MESSAGE\n\u{3}\0\0\0\0\0\0\0a\nb\n{fields}");
        assert_eq!(sent("a\nb"), long.as_bytes());
    }

    #[test]
    fn syslog_gets_one_line_with_a_priority() {
        let line = String::from_utf8(of_syslog(&record("a\nb"))).unwrap();
        assert_eq!(line, format!("<28>forerun[{}]: forerun::mount: a b", std::process::id()));
    }
}
