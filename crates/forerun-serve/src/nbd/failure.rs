//! Which error of the protocol a client gets for which error of a request.

use std::error::Error as _;
use std::io;

use forerun::{Error, ErrorKind};

use super::protocol::Errno;

/// The error for a request to `export` that failed with `error`, which is also logged with its sentence:
/// few clients show more than a number.
pub(super) fn report(export: &str, error: &Error) -> Errno {
    let errno = errno_of(error);
    match errno {
        Errno::Shutdown if error.kind != ErrorKind::Ended => tracing::warn!(
            target: "forerun::nbd",
            "requests to the export {export:?} fail from now on, since its object changed: {error}; clients \
             that connect again get the new version"
        ),
        // The client has asked whether it is, and goes another way.
        Errno::NotSupported => {}
        _ => tracing::warn!(target: "forerun::nbd", "a request to the export {export:?} fails: {error}"),
    }
    errno
}

/// An object that was replaced or removed does not come back as it was, which a client should not
/// take for a bad block.
fn errno_of(error: &Error) -> Errno {
    let system = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    match system.map(io::Error::kind) {
        Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge) => {
            return Errno::NoSpace;
        }
        Some(io::ErrorKind::Unsupported) => return Errno::NotSupported,
        _ => {}
    }
    match error.kind {
        ErrorKind::Changed | ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::Ended => {
            Errno::Shutdown
        }
        ErrorKind::Denied => Errno::NotPermitted,
        // It failed, for this time or for good.
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
        for (number, errno) in
            [(28, Errno::NoSpace), (122, Errno::NoSpace), (95, Errno::NotSupported), (5, Errno::Io)]
        {
            let error = Error::new(ErrorKind::Permanent, "it failed");
            let error = error.with_source(io::Error::from_raw_os_error(number));
            assert_eq!(report("a", &error), errno, "{number}");
        }
    }
}
