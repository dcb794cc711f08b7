//! Answers that refuse.

use forerun::{Error, ErrorKind};
use hyper::header::{CONTENT_TYPE, RETRY_AFTER};
use hyper::{Response, StatusCode};

use crate::http::Answer;

/// A page of text with `status`.
pub(super) fn text(status: StatusCode, text: &str) -> Answer {
    let answer = Response::builder().status(status).header(CONTENT_TYPE, "text/plain; charset=utf-8");
    answer.body(s3s::Body::from(format!("{text}\n"))).expect("the headers are written by this program")
}

/// The answer where the storage has failed. It says what happened, and no address of the storage.
pub(super) fn of(error: &Error) -> Answer {
    let (status, told) = match error.kind {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            return text(StatusCode::NOT_FOUND, "there is nothing at this address");
        }
        ErrorKind::Denied => (StatusCode::FORBIDDEN, "the storage denies access to this server"),
        ErrorKind::Changed => (StatusCode::SERVICE_UNAVAILABLE, "the object is changing; try again"),
        ErrorKind::Busy => (StatusCode::SERVICE_UNAVAILABLE, "the storage is busy; try again later"),
        ErrorKind::Ended => (StatusCode::SERVICE_UNAVAILABLE, "this server is about to end"),
        _ => (StatusCode::BAD_GATEWAY, "the storage has failed; the log of this server has the reason"),
    };
    tracing::warn!(target: "forerun::http", "a request failed: {error}");
    let mut answer = text(status, told);
    if status == StatusCode::SERVICE_UNAVAILABLE {
        answer.headers_mut().insert(RETRY_AFTER, "1".parse().expect("a header"));
    }
    answer
}
