//! Which error of the protocol a client gets for which error of a read.

use forerun::{Error, ErrorKind};

use super::protocol::Errno;

/// The error for a read of `export` that failed with `error`, which is also logged with its sentence:
/// few clients show more than a number.
pub(super) fn report(export: &str, error: &Error) -> Errno {
    let errno = errno_of(error.kind);
    match errno {
        Errno::Shutdown if error.kind != ErrorKind::Ended => tracing::warn!(
            target: "forerun::nbd",
            "reads of the export {export:?} fail from now on, since its object changed: {error}; clients \
             that connect again get the new version"
        ),
        _ => tracing::warn!(target: "forerun::nbd", "a read of the export {export:?} fails: {error}"),
    }
    errno
}

/// An object that was replaced or removed does not come back as it was, which a client should not
/// take for a bad block.
fn errno_of(kind: ErrorKind) -> Errno {
    match kind {
        ErrorKind::Changed | ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::Ended => {
            Errno::Shutdown
        }
        ErrorKind::Denied => Errno::NotPermitted,
        // A read failed, for this time or for good.
        _ => Errno::Io,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_object_is_a_shutdown_and_a_failed_read_an_io_error() {
        let table = [
            (ErrorKind::Changed, Errno::Shutdown),
            (ErrorKind::NotFound, Errno::Shutdown),
            (ErrorKind::Denied, Errno::NotPermitted),
            (ErrorKind::Unreachable, Errno::Io),
            (ErrorKind::Permanent, Errno::Io),
        ];
        for (kind, errno) in table {
            assert_eq!(report("a", &Error::new(kind, "it failed")), errno, "{kind:?}");
        }
    }
}
