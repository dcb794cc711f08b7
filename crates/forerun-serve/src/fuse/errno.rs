//! The `errno` that a program sees for an error.

use forerun::{Error, ErrorKind};
use rustix::io::Errno;

/// The `errno` for `error`. Logs the error's sentence too: an `errno` cannot say which object
/// failed and what to do about it.
pub(crate) fn report(error: &Error) -> Errno {
    // These are not logged. Programs look for missing files all the time, nobody asks why an
    // interrupted read failed, and the kernel still reads ahead while a mount ends.
    if matches!(error.kind, ErrorKind::NotFound | ErrorKind::Interrupted | ErrorKind::Ended) {
        tracing::debug!(target: "forerun::mount", "{error}");
    } else {
        tracing::warn!(target: "forerun::mount", "{error}");
    }
    errno_of(error.kind)
}

/// As [`report`], for a read of an open file. The name existed at the open, so an object that is
/// gone now gives a stale handle, like one that was replaced.
pub(crate) fn report_read(error: &Error) -> Errno {
    let errno = report(error);
    if error.kind == ErrorKind::NotFound { Errno::STALE } else { errno }
}

fn errno_of(kind: ErrorKind) -> Errno {
    match kind {
        ErrorKind::NotFound => Errno::NOENT,
        ErrorKind::NotADirectory => Errno::NOTDIR,
        ErrorKind::Denied => Errno::ACCESS,
        ErrorKind::Changed => Errno::STALE,
        ErrorKind::NoRange => Errno::OPNOTSUPP,
        ErrorKind::Invalid => Errno::INVAL,
        ErrorKind::Interrupted => Errno::INTR,
        // Transient, Busy, Unreachable, Ended and Permanent.
        _ => Errno::IO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_object_is_a_stale_handle_and_a_failed_read_is_an_io_error() {
        let table = [
            (ErrorKind::NotFound, Errno::NOENT),
            (ErrorKind::NotADirectory, Errno::NOTDIR),
            (ErrorKind::Denied, Errno::ACCESS),
            (ErrorKind::Changed, Errno::STALE),
            (ErrorKind::NoRange, Errno::OPNOTSUPP),
            (ErrorKind::Invalid, Errno::INVAL),
            (ErrorKind::Interrupted, Errno::INTR),
            (ErrorKind::Ended, Errno::IO),
            (ErrorKind::Transient, Errno::IO),
            (ErrorKind::Busy, Errno::IO),
            (ErrorKind::Unreachable, Errno::IO),
            (ErrorKind::Permanent, Errno::IO),
        ];
        for (kind, errno) in table {
            let error = Error::new(kind, "it failed");
            assert_eq!(report(&error), errno, "{kind:?}");
            let of_a_read = if kind == ErrorKind::NotFound { Errno::STALE } else { errno };
            assert_eq!(report_read(&error), of_a_read, "{kind:?}");
        }
    }
}
