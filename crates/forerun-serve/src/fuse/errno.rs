//! Which `errno` a program sees for which error.

use forerun::{Error, ErrorKind};
use fuser::Errno;

/// The `errno` for `error`, which is also logged with its sentence: `errno` has
/// no room for which object it was and what to do about it.
pub(crate) fn report(error: &Error) -> Errno {
    // Programs look for files that are not there all the time.
    if error.kind == ErrorKind::NotFound {
        tracing::debug!("{error}");
    } else {
        tracing::warn!("{error}");
    }
    errno_of(error.kind)
}

/// The same for a read of an open file: its name was there when it was opened, and
/// an object that is gone since is a stale handle as much as one that was replaced.
pub(crate) fn report_read(error: &Error) -> Errno {
    let errno = report(error);
    if error.kind == ErrorKind::NotFound { Errno::ESTALE } else { errno }
}

fn errno_of(kind: ErrorKind) -> Errno {
    match kind {
        ErrorKind::NotFound => Errno::ENOENT,
        ErrorKind::NotADirectory => Errno::ENOTDIR,
        ErrorKind::Denied => Errno::EACCES,
        ErrorKind::Changed => Errno::ESTALE,
        ErrorKind::NoRange => Errno::EOPNOTSUPP,
        ErrorKind::Invalid => Errno::EINVAL,
        ErrorKind::Transient | ErrorKind::Unreachable | ErrorKind::Permanent => Errno::EIO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_object_is_a_stale_handle_and_a_failed_read_is_an_io_error() {
        let table = [
            (ErrorKind::NotFound, Errno::ENOENT),
            (ErrorKind::NotADirectory, Errno::ENOTDIR),
            (ErrorKind::Denied, Errno::EACCES),
            (ErrorKind::Changed, Errno::ESTALE),
            (ErrorKind::NoRange, Errno::EOPNOTSUPP),
            (ErrorKind::Invalid, Errno::EINVAL),
            (ErrorKind::Transient, Errno::EIO),
            (ErrorKind::Unreachable, Errno::EIO),
            (ErrorKind::Permanent, Errno::EIO),
        ];
        for (kind, errno) in table {
            let error = Error::new(kind, "it failed");
            assert_eq!(i32::from(report(&error)), i32::from(errno), "{kind:?}");
            let of_a_read = if kind == ErrorKind::NotFound { Errno::ESTALE } else { errno };
            assert_eq!(i32::from(report_read(&error)), i32::from(of_a_read), "{kind:?}");
        }
    }
}
