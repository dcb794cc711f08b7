//! What can go wrong with a backend, in words a user can act on.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// A backend's answer.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, to which object, and what to do next.
///
/// [`source`](StdError::source) has the error of the system that is behind it, if one is. Its
/// text is in the message already. Errors of servers are not kept: they may hold secrets,
/// which messages leave out.
#[derive(Clone, Debug)]
pub struct Error {
    /// The class, for programs.
    pub kind: ErrorKind,
    /// The sentence, for people.
    pub message: String,
    /// How long the server asked to wait before the next request, as far as it may.
    pub(crate) retry_after: Option<Duration>,
    /// It has been tried often enough.
    pub(crate) is_given_up: bool,
    pub(crate) source: Option<Arc<dyn StdError + Send + Sync>>,
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
        Error { kind, message: message.into(), retry_after: None, is_given_up: false, source: None }
    }

    /// The same with the error behind it, which holds no secrets: it is shown as it is.
    #[must_use]
    pub fn with_source(self, source: impl StdError + Send + Sync + 'static) -> Error {
        Error { source: Some(Arc::new(source)), ..self }
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

/// For interfaces of `std::io`: [`get_ref`](io::Error::get_ref) downcasts to the [`Error`].
impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        let kind = match error.kind {
            ErrorKind::NotFound => io::ErrorKind::NotFound,
            ErrorKind::NotADirectory => io::ErrorKind::NotADirectory,
            ErrorKind::Denied => io::ErrorKind::PermissionDenied,
            ErrorKind::Changed => io::ErrorKind::StaleNetworkFileHandle,
            ErrorKind::NoRange => io::ErrorKind::Unsupported,
            ErrorKind::Transient => io::ErrorKind::TimedOut,
            ErrorKind::Busy => io::ErrorKind::ResourceBusy,
            ErrorKind::Unreachable => io::ErrorKind::HostUnreachable,
            ErrorKind::Invalid => io::ErrorKind::InvalidInput,
            ErrorKind::Ended => io::ErrorKind::NotConnected,
            // `std::io` tries an interrupted call again, and this one is to end.
            ErrorKind::Interrupted | ErrorKind::Permanent => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_io_error_has_the_kind_and_gives_the_error_back() {
        for (kind, expected) in [
            (ErrorKind::NotFound, io::ErrorKind::NotFound),
            (ErrorKind::NotADirectory, io::ErrorKind::NotADirectory),
            (ErrorKind::Denied, io::ErrorKind::PermissionDenied),
            (ErrorKind::Changed, io::ErrorKind::StaleNetworkFileHandle),
            (ErrorKind::Transient, io::ErrorKind::TimedOut),
            (ErrorKind::Invalid, io::ErrorKind::InvalidInput),
            (ErrorKind::Interrupted, io::ErrorKind::Other),
        ] {
            let error = io::Error::from(Error::new(kind, "it failed"));
            assert_eq!((error.kind(), error.to_string().as_str()), (expected, "it failed"));
            let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
            assert_eq!(inner.map(|inner| inner.kind), Some(kind));
        }
    }

    #[test]
    fn a_source_is_kept_where_more_is_said_about_the_error() {
        let error = Error::new(ErrorKind::Denied, "no").with_source(io::Error::from_raw_os_error(13));
        let error = error.about("a.bin");
        let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        assert_eq!(source.and_then(io::Error::raw_os_error), Some(13));
    }
}
