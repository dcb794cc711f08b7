//! What can go wrong with a backend, in words a user can act on.

use std::time::Duration;

use thiserror::Error;

/// A backend's answer.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, to which object, and what to do next.
#[derive(Clone, Debug, Error)]
#[error("{message}")]
pub struct Error {
    /// The class, for programs.
    pub kind: ErrorKind,
    /// The sentence, for people.
    pub message: String,
    /// How long the server asked to wait before the next request, as far as it may.
    pub(crate) retry_after: Option<Duration>,
    /// It has been tried often enough.
    pub(crate) is_given_up: bool,
}

/// Classes of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Nothing is there.
    NotFound,
    /// The path is not a directory.
    NotADirectory,
    /// Credentials are missing, wrong or not enough.
    Denied,
    /// The object is not the version that was asked for.
    Changed,
    /// The server cannot serve a part of an object.
    NoRange,
    /// The body ended early, the connection broke, the server failed: trying again may help.
    Transient,
    /// The server asks for fewer requests: trying again later helps.
    Busy,
    /// The server cannot be reached.
    Unreachable,
    /// The request makes no sense: a malformed URL, an option that does not apply.
    Invalid,
    /// Nobody waits for the answer any more.
    Interrupted,
    /// Whoever was asked has ended meanwhile, as a mount does that is unmounted.
    Ended,
    /// Anything else; trying again does not help.
    Permanent,
}

impl Error {
    /// An error of `kind` that says `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), retry_after: None, is_given_up: false }
    }

    /// The same of the request about `what`.
    pub(crate) fn about(self, what: &str) -> Error {
        Error { message: format!("{what}: {}", self.message), ..self }
    }

    pub(crate) fn not_a_directory(what: impl std::fmt::Display) -> Error {
        Error::new(ErrorKind::NotADirectory, format!("{what} is not a directory"))
    }

    pub(crate) fn not_a_link(what: impl std::fmt::Display) -> Error {
        Error::new(ErrorKind::Invalid, format!("{what} is not a symbolic link"))
    }

    /// Whether the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(self.kind, ErrorKind::Transient | ErrorKind::Busy | ErrorKind::Unreachable)
    }
}
