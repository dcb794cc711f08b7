//! Classes of an object store's failures.

use std::error::Error as StdError;
use std::fmt;

use object_store::client::HttpError;

use super::connector::Refused;
use crate::{Error, ErrorKind};

/// The error for the failure of a request about `name`.
pub(super) fn classify(error: &object_store::Error, name: &str) -> Error {
    if let Some(NoCredentials(error)) = cause(error) {
        let source = error.source.clone();
        return Error { source, ..Error::new(error.kind, format!("{name}: {error}")) };
    }
    if let Some(refused) = cause::<Refused>(error) {
        let error = Error::new(kind_of(refused), format!("{name}: the store {refused}"));
        return Error { retry_after: refused.retry_after, ..error };
    }
    if let Some(error) = cause::<Error>(error) {
        return error.clone().about(name);
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

/// The reason why a request has no credentials.
#[derive(Clone, Debug)]
pub(crate) struct NoCredentials(pub(crate) Error);

impl fmt::Display for NoCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for NoCredentials {}

impl From<NoCredentials> for object_store::Error {
    fn from(error: NoCredentials) -> object_store::Error {
        object_store::Error::Generic { store: "credentials", source: Box::new(error) }
    }
}

/// The error for the failure of a request for credentials, which was sent to `party`.
pub(crate) fn of_party(error: &(dyn StdError + 'static), party: &str) -> Error {
    if let Some(NoCredentials(error)) = cause(error) {
        return error.clone();
    }
    if let Some(refused) = cause::<Refused>(error) {
        let kind = match kind_of(refused) {
            ErrorKind::Transient => ErrorKind::Transient,
            _ => ErrorKind::Denied,
        };
        return Error::new(kind, format!("{party} {refused}"));
    }
    if let Some(error) = cause::<HttpError>(error) {
        return crate::http::client_error(error, party);
    }
    Error::new(ErrorKind::Denied, innermost(error))
}

/// The error for the failure of a body in mid-stream: a broken connection, unless it says
/// otherwise.
pub(super) fn of_body(error: &object_store::Error, name: &str) -> Error {
    let error = classify(error, name);
    let kind = if error.kind == ErrorKind::Permanent { ErrorKind::Transient } else { error.kind };
    Error { kind, ..error }
}

fn kind_of(refused: &Refused) -> ErrorKind {
    // Stores use various codes for "slow down" and "expired".
    match refused.element("Code") {
        Some("SlowDown" | "ServerBusy") => return ErrorKind::Busy,
        Some("InternalError" | "RequestTimeout") => return ErrorKind::Transient,
        Some("ExpiredToken" | "InvalidToken" | "RequestTimeTooSkewed") => return ErrorKind::Denied,
        _ => {}
    }
    match refused.status {
        404 | 410 => ErrorKind::NotFound,
        401 | 403 | 407 => ErrorKind::Denied,
        429 | 503 => ErrorKind::Busy,
        408 | 500 | 502 | 504 => ErrorKind::Transient,
        412 | 416 => ErrorKind::Changed,
        301 | 302 | 307 | 400 => ErrorKind::Invalid,
        _ => ErrorKind::Permanent,
    }
}

fn cause<'a, T: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

fn innermost(error: &(dyn StdError + 'static)) -> String {
    let mut innermost = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    innermost.to_string()
}
