//! Standard output and standard error. A reader that has closed them, such as `head`, has seen enough:
//! that is no failure.

use std::io::{self, ErrorKind, Write};

/// Writes `text`, or nothing if the reader has closed the output.
///
/// # Errors
/// If it cannot be written for another reason, such as a full disk.
pub(crate) fn show(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// Writes a line to standard error, which may be closed: a terminal that was closed is no
/// reason to leave a mount behind.
pub(crate) fn tell(line: &str) {
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Tells that the program says so.
pub(crate) fn say(message: &str) {
    tell(&format!("forerun: {message}"));
}
