//! What a failure of an object store means.

use std::error::Error as StdError;

use object_store::client::HttpError;

use super::connector::{Refused, Unbounded};
use crate::{Error, ErrorKind};

/// What the failure of a request about `name` means.
pub(super) fn classify(error: &object_store::Error, name: &str) -> Error {
    if let Some(refused) = cause::<Refused>(error) {
        return Error::new(kind_of(refused), format!("{name}: {refused}"));
    }
    if let Some(unbounded) = cause::<Unbounded>(error) {
        return Error::new(unbounded.kind, format!("{name}: {unbounded}"));
    }
    if let Some(error) = cause::<HttpError>(error) {
        return crate::http::client_error(error, name);
    }
    let kind = match error {
        object_store::Error::NotFound { .. } => ErrorKind::NotFound,
        object_store::Error::Precondition { .. } => ErrorKind::Changed,
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
            ErrorKind::Denied
        }
        _ => ErrorKind::Permanent,
    };
    Error::new(kind, format!("{name}: {}", innermost(error)))
}

/// What the failure of a body that had begun to arrive means: the connection
/// broke, unless something says otherwise.
pub(super) fn of_body(error: &object_store::Error, name: &str) -> Error {
    let error = classify(error, name);
    let kind = if error.kind == ErrorKind::Permanent { ErrorKind::Transient } else { error.kind };
    Error { kind, ..error }
}

fn kind_of(refused: &Refused) -> ErrorKind {
    // Stores say "slow down" and "expired" with a variety of codes.
    match refused.element("Code") {
        Some("SlowDown" | "InternalError" | "ServerBusy" | "RequestTimeout") => return ErrorKind::Transient,
        Some("ExpiredToken" | "InvalidToken" | "RequestTimeTooSkewed") => return ErrorKind::Denied,
        _ => {}
    }
    match refused.status {
        404 | 410 => ErrorKind::NotFound,
        401 | 403 | 407 => ErrorKind::Denied,
        408 | 429 | 500 | 502 | 503 | 504 => ErrorKind::Transient,
        412 | 416 => ErrorKind::Changed,
        301 | 302 | 307 | 400 => ErrorKind::Invalid,
        _ => ErrorKind::Permanent,
    }
}

fn cause<T: StdError + 'static>(error: &object_store::Error) -> Option<&T> {
    let mut next: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

fn innermost(error: &object_store::Error) -> String {
    let mut innermost: &dyn StdError = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    innermost.to_string()
}
