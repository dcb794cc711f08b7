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
            assert_eq!(i32::from(report(&Error::new(kind, "it failed"))), i32::from(errno), "{kind:?}");
        }
    }
}
