//! Errors of backends, in sentences that a user can act on.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The result of a backend's operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a backend: its message names the object, the failure and the remedy.
///
/// [`source`](StdError::source) has the error of the system behind it, if there is one. The message
/// contains its text. Errors of servers are not kept: they may hold secrets, which messages leave
/// out.
#[derive(Clone, Debug)]
pub struct Error {
    /// The class, for programs.
    pub kind: ErrorKind,
    /// The sentence, for people.
    pub message: String,
    /// The wait that the server asked for before the next request, up to
    /// [`RETRY_AFTER_MAX`](crate::bounds::RETRY_AFTER_MAX).
    pub(crate) retry_after: Option<Duration>,
    /// Whether enough tries were made.
    pub(crate) is_given_up: bool,
    pub(crate) source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// Classes of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Nothing exists at the path.
    NotFound,
    /// The path is not a directory.
    NotADirectory,
    /// Credentials are missing, wrong or insufficient.
    Denied,
    /// The object no longer has the version that was asked for.
    Changed,
    /// The server cannot serve a part of an object.
    NoRange,
    /// The body ended early, the connection broke or the server failed. A retry may help.
    Transient,
    /// The server asks for fewer requests. A later retry helps.
    Busy,
    /// The server cannot be reached.
    Unreachable,
    /// The request is malformed, such as a wrong URL or an option that does not apply.
    Invalid,
    /// Nobody waits for the answer any more.
    Interrupted,
    /// The other side has ended, such as a mount that was unmounted.
    Ended,
    /// Anything else: a retry does not help.
    Permanent,
}

impl Error {
    /// An error of `kind` with `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), retry_after: None, is_given_up: false, source: None }
    }

    /// Adds the error behind it, which must hold no secrets: it is shown as it is.
    #[must_use]
    pub fn with_source(self, source: impl StdError + Send + Sync + 'static) -> Error {
        Error { source: Some(Arc::new(source)), ..self }
    }

    /// Adds to the message that the request was about `what`.
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
            // `std::io` repeats an interrupted call, and this one must end.
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
