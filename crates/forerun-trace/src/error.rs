//! Errors of traces, in sentences that a user can act on.

use std::fmt;
use std::io;

use thiserror::Error;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error: its message names the file, the failure and the remedy.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The content is not in the format, or was cut.
    #[error("{name}: {at}: {reason}")]
    Malformed {
        /// The file.
        name: String,
        /// The record.
        at: Position,
        /// The fault in it.
        reason: String,
    },
    /// The compressed file is incomplete or damaged.
    #[error("{name}: the compressed file {}: {source}; copy or record it again", damage(source))]
    Damaged {
        /// The file.
        name: String,
        /// The decompressor's error.
        source: io::Error,
    },
    /// The system refused to read or write.
    #[error("{name}: cannot {doing}: {source}")]
    Io {
        /// The file.
        name: String,
        /// The attempted operation.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// No format was named, and neither content nor name tells it.
    #[error("{name}: {reason}")]
    UnknownFormat {
        /// The file.
        name: String,
        /// The remedy.
        reason: String,
    },
    /// The format being written cannot express an access.
    #[error("{name}: access {number}: {reason}")]
    Unwritable {
        /// The file being written.
        name: String,
        /// The number of the access, from 1.
        number: u64,
        /// The reason.
        reason: String,
    },
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Position {
    /// A line of a text file, from 1.
    Line(u64),
    /// A record of a binary file.
    Record {
        /// Its number, from 1.
        number: u64,
        /// Its first byte, after decompression.
        byte: u64,
    },
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Position::Line(line) => write!(f, "line {line}"),
            Position::Record { number, byte } => write!(f, "record {number} at byte {byte}"),
        }
    }
}

/// The reason why a record cannot be read, without file and place.
#[derive(Debug)]
pub(crate) enum Fault {
    Reason(String),
    Io(io::Error),
}

impl Fault {
    pub(crate) fn at(self, name: &str, at: Position) -> Error {
        let name = name.to_owned();
        match self {
            Fault::Reason(reason) => Error::Malformed { name, at, reason },
            // The decompressor reports damage by these kinds.
            Fault::Io(source) if is_damage(&source) => Error::Damaged { name, source },
            Fault::Io(source) => Error::Io { name, doing: "read it", source },
        }
    }
}

fn damage(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "is cut short",
        _ => "is damaged",
    }
}

fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

impl From<String> for Fault {
    fn from(reason: String) -> Fault {
        Fault::Reason(reason)
    }
}

impl From<&str> for Fault {
    fn from(reason: &str) -> Fault {
        Fault::Reason(reason.to_owned())
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        Fault::Io(error)
    }
}
