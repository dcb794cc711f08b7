//! What can go wrong with a trace, in words a user can act on.

use std::fmt;
use std::io;

use thiserror::Error;

/// An answer of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, with which file, and what to do next.
#[derive(Debug, Error)]
pub enum Error {
    /// The content is not what the format asks for, or was cut.
    #[error("{name}: {at}: {reason}")]
    Malformed {
        /// The file.
        name: String,
        /// The record.
        at: Position,
        /// What is wrong with it.
        reason: String,
    },
    /// The file is compressed, and what the compressor wrote is not all there or not as it was.
    #[error("{name}: the compressed file {}: {source}; copy or record it again", damage(source))]
    Damaged {
        /// The file.
        name: String,
        /// What the decompressor said.
        source: io::Error,
    },
    /// The system refused to read or write.
    #[error("{name}: cannot {doing}: {source}")]
    Io {
        /// The file.
        name: String,
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// No format was named, and none could be told from content and name.
    #[error("{name}: {reason}")]
    UnknownFormat {
        /// The file.
        name: String,
        /// What to do.
        reason: String,
    },
    /// An access cannot be told in the format that is being written.
    #[error("{name}: access {number}: {reason}")]
    Unwritable {
        /// The file being written.
        name: String,
        /// Which access, from 1.
        number: u64,
        /// Why not.
        reason: String,
    },
}

/// Where in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// A line of a text file, from 1.
    Line(u64),
    /// A record of a binary file.
    Record {
        /// Which, from 1.
        number: u64,
        /// The byte where it begins, after decompression.
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

/// Why a record cannot be read, before the file and the place are known.
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
            // These are what the decompressor says of what it is given.
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
