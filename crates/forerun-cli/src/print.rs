//! Standard output. Whoever has closed it has seen enough, as `head` has: that is no failure.

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
