//! Standard output and standard error. Whoever has closed them has seen enough, as `head` has:
//! that is no failure.

use std::io::{self, ErrorKind, Write};

/// Writes `text`, which is left out where nobody reads any more.
///
/// # Errors
/// It cannot be written though somebody waits for it: to a disk that is full, say.
pub(crate) fn show(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// Writes a line to standard error, where nobody need listen: a terminal that was closed is no
/// reason to leave a mount behind.
pub(crate) fn tell(line: &str) {
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Tells that the program says so.
pub(crate) fn say(message: &str) {
    tell(&format!("forerun: {message}"));
}
