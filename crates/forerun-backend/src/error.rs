//! What can go wrong with a backend, in words a user can act on.

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
    /// The body ended early, the connection broke, the server is overloaded:
    /// trying again may help.
    Transient,
    /// The server cannot be reached.
    Unreachable,
    /// The request makes no sense: a malformed URL, an option that does not apply.
    Invalid,
    /// Nobody waits for the answer any more.
    Interrupted,
    /// Anything else; trying again does not help.
    Permanent,
}

impl Error {
    /// An error of `kind` that says `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into() }
    }

    pub(crate) fn not_a_directory(what: impl std::fmt::Display) -> Error {
        Error::new(ErrorKind::NotADirectory, format!("{what} is not a directory"))
    }

    pub(crate) fn not_a_link(what: impl std::fmt::Display) -> Error {
        Error::new(ErrorKind::Invalid, format!("{what} is not a symbolic link"))
    }

    /// Whether the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(self.kind, ErrorKind::Transient | ErrorKind::Unreachable)
    }
}
