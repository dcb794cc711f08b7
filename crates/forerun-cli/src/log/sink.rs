//! Where a line of the log goes.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::net::UnixDatagram;

use tracing::Level;

use crate::print::tell;

/// A place that keeps or shows lines.
#[derive(Debug)]
pub(super) enum Sink {
    Stderr,
    File(File),
    Syslog(Syslog),
}

/// The system's log: syslog, or the journal of systemd, which listens in the same place.
#[derive(Debug)]
pub(super) struct Syslog(UnixDatagram);

impl Sink {
    /// Writes `line`. A log that cannot be written is no reason to fail.
    pub(super) fn write(&self, level: Level, line: &str) {
        match self {
            Sink::Stderr => tell(line),
            Sink::File(file) => drop((&mut &*file).write_all(format!("{line}\n").as_bytes())),
            Sink::Syslog(syslog) => syslog.send(level, line),
        }
    }
}

impl Syslog {
    pub(super) const SOCKET: &str = "/dev/log";

    /// The log, if something keeps it.
    pub(super) fn connect() -> io::Result<Syslog> {
        UnixDatagram::unbound()?.connect(Syslog::SOCKET)?;
        // A log that is full must not hold up readers.
        let socket = UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        Ok(Syslog(socket))
    }

    /// Each time by name, so that the log may be started anew.
    fn send(&self, level: Level, line: &str) {
        // Most logs end a message with a line.
        let line = line.replace('\n', " ");
        let message = format!("<{}>forerun[{}]: {line}", priority(level), std::process::id());
        let _ = self.0.send_to(message.as_bytes(), Syslog::SOCKET);
    }
}

/// The number of a level, and of the programs in the background (RFC 3164, 4.1.1).
fn priority(level: Level) -> u8 {
    const DAEMON: u8 = 3;
    let severity = match level {
        Level::ERROR => 3,
        Level::WARN => 4,
        Level::INFO => 6,
        _ => 7,
    };
    DAEMON * 8 + severity
}
