//! Errors of the storage, as S3 tells them.

use forerun::{Error, ErrorKind};
use s3s::{S3Error, s3_error};

/// The error that a client gets. It says what happened, and no address of the storage.
pub(super) fn of(error: &Error) -> S3Error {
    let told = match error.kind {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            return s3_error!(NoSuchKey, "There is no such object.");
        }
        ErrorKind::Denied => s3_error!(AccessDenied, "The storage denies access to this server."),
        ErrorKind::Changed => s3_error!(SlowDown, "The object is changing; try again."),
        ErrorKind::Busy => s3_error!(SlowDown, "The storage is busy; try again later."),
        ErrorKind::Ended => s3_error!(ServiceUnavailable, "This server is about to end."),
        _ => s3_error!(ServiceUnavailable, "The storage has failed; the log of this server has the reason."),
    };
    tracing::warn!(target: "forerun::http", "a request failed: {error}");
    told
}
