//! Which status a client gets for which error.

use forerun::{Error, ErrorKind};
use nfs3_types::nfs3::nfsstat3;

/// The status for a call about an object that failed with `error`. Logs the sentence of the error, since a
/// status cannot say which object failed and what to do about it.
pub(in super::super) fn status_of(error: &Error) -> nfsstat3 {
    // Programs look for missing files all the time.
    if matches!(error.kind, ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::Ended) {
        tracing::debug!(target: "forerun::nfs", "{error}");
    } else {
        tracing::warn!(target: "forerun::nfs", "{error}");
    }
    match error.kind {
        ErrorKind::NotFound => nfsstat3::NFS3ERR_NOENT,
        ErrorKind::NotADirectory => nfsstat3::NFS3ERR_NOTDIR,
        ErrorKind::Denied => nfsstat3::NFS3ERR_ACCES,
        ErrorKind::Changed => nfsstat3::NFS3ERR_STALE,
        ErrorKind::Invalid => nfsstat3::NFS3ERR_INVAL,
        // The client tries again later, and finds another server then.
        ErrorKind::Ended => nfsstat3::NFS3ERR_JUKEBOX,
        _ => nfsstat3::NFS3ERR_IO,
    }
}

/// As [`status_of`], for an object of which the client has a handle: one that is gone makes that stale.
pub(in super::super) fn status_of_handle(error: &Error) -> nfsstat3 {
    let status = status_of(error);
    if status == nfsstat3::NFS3ERR_NOENT { nfsstat3::NFS3ERR_STALE } else { status }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_that_changed_or_is_gone_makes_its_handle_stale() {
        for (kind, status, of_handle) in [
            (ErrorKind::NotFound, nfsstat3::NFS3ERR_NOENT, nfsstat3::NFS3ERR_STALE),
            (ErrorKind::Changed, nfsstat3::NFS3ERR_STALE, nfsstat3::NFS3ERR_STALE),
            (ErrorKind::Denied, nfsstat3::NFS3ERR_ACCES, nfsstat3::NFS3ERR_ACCES),
            (ErrorKind::Busy, nfsstat3::NFS3ERR_IO, nfsstat3::NFS3ERR_IO),
            (ErrorKind::Ended, nfsstat3::NFS3ERR_JUKEBOX, nfsstat3::NFS3ERR_JUKEBOX),
        ] {
            let error = Error::new(kind, "it failed");
            assert_eq!((status_of(&error), status_of_handle(&error)), (status, of_handle), "{kind:?}");
        }
    }
}
