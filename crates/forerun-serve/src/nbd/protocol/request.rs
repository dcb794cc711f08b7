//! Requests, from bytes.

use super::{Errno, Export, PAYLOAD_BYTES_MAX, Session, WHOLE_BYTES_MAX};
use crate::fields::{Fields, TooShort};

pub(super) const MAGIC: u32 = 0x2560_9513;
pub(super) const HEAD_BYTES: usize = 28;

const READ: u16 = 0;
const WRITE: u16 = 1;
const DISCONNECT: u16 = 2;
const FLUSH: u16 = 3;
const TRIM: u16 = 4;
const CACHE: u16 = 5;
const WRITE_ZEROES: u16 = 6;
const BLOCK_STATUS: u16 = 7;

const FLAG_FUA: u16 = 1 << 0;
const FLAG_NO_HOLE: u16 = 1 << 1;
const FLAG_DF: u16 = 1 << 2;
const FLAG_ONE: u16 = 1 << 3;
const FLAG_FAST_ZERO: u16 = 1 << 4;

/// A request as a client sends it, not looked at yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    flags: u16,
    kind: u16,
    /// Names the request in its replies.
    pub cookie: u64,
    pub(super) offset: u64,
    len: u32,
}

/// The command of a request. Extents are not empty, and lie within the export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the specification")]
pub enum Command {
    Read {
        offset: u64,
        len: u32,
        /// The reply is to be one chunk.
        is_whole: bool,
    },
    /// The bytes follow the request.
    Write { offset: u64, len: u32, is_durable: bool },
    /// The bytes are not needed any more.
    Trim { offset: u64, len: u32, is_durable: bool },
    WriteZeroes {
        offset: u64,
        len: u32,
        is_durable: bool,
        /// The zeros have space of their own, for later writes.
        has_space: bool,
        /// Fails if it would take as long as other bytes.
        is_fast: bool,
    },
    /// All writes that were answered are to last.
    Flush,
    /// The bytes will be read soon.
    Cache { offset: u64, len: u32 },
    /// Which of these bytes are holes.
    BlockStatus {
        offset: u64,
        len: u32,
        /// The first extent is enough.
        is_one: bool,
    },
    /// The client leaves once it has its replies.
    Disconnect,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The error.
    pub errno: Errno,
    /// A text for people.
    pub message: &'static str,
}

impl Refusal {
    const fn invalid(message: &'static str) -> Refusal {
        Refusal { errno: Errno::Invalid, message }
    }
}

const READ_ONLY: Refusal = Refusal { errno: Errno::NotPermitted, message: "the export is read-only" };

const NO_SPACE: Refusal =
    Refusal { errno: Errno::NoSpace, message: "the write ends past the end of the export" };

const TOO_LONG: Refusal =
    Refusal { errno: Errno::Overflow, message: "the read is longer than 1 MiB, and is to be one chunk" };

impl Request {
    pub(super) fn parse(mut fields: Fields<'_>) -> Result<Request, TooShort> {
        fields.u32()?;
        let (flags, kind) = (fields.u16()?, fields.u16()?);
        Ok(Request { flags, kind, cookie: fields.u64()?, offset: fields.u64()?, len: fields.u32()? })
    }

    /// The bytes that follow the request.
    pub(super) fn payload_bytes(&self) -> u32 {
        if self.kind == WRITE { self.len } else { 0 }
    }

    /// The command for `export`.
    ///
    /// # Errors
    /// The error to answer instead.
    pub fn command(&self, export: &Export, session: Session) -> Result<Command, Refusal> {
        let writable = export.is_writable();
        let allowed = match self.kind {
            READ if session.has_structured_replies => FLAG_DF,
            BLOCK_STATUS => FLAG_ONE,
            WRITE_ZEROES if writable => FLAG_NO_HOLE | FLAG_FAST_ZERO,
            WRITE_ZEROES => FLAG_NO_HOLE,
            _ => 0,
        };
        // Any request may have it where writes may; only writes heed it.
        let is_durable = self.flags & FLAG_FUA != 0;
        if self.flags & !(allowed | if writable { FLAG_FUA } else { 0 }) != 0 {
            return Err(Refusal::invalid("the request has a flag that it may not have"));
        }
        let (offset, len) = (self.offset, self.len);
        match self.kind {
            READ => self.read(export.size),
            WRITE | TRIM | WRITE_ZEROES if !writable => Err(READ_ONLY),
            WRITE => self.check_space(export.size).map(|()| Command::Write { offset, len, is_durable }),
            TRIM => self.check(export.size).map(|()| Command::Trim { offset, len, is_durable }),
            WRITE_ZEROES => {
                self.check_space(export.size)?;
                let (has_space, is_fast) = (self.flags & FLAG_NO_HOLE != 0, self.flags & FLAG_FAST_ZERO != 0);
                Ok(Command::WriteZeroes { offset, len, is_durable, has_space, is_fast })
            }
            DISCONNECT => Ok(Command::Disconnect),
            FLUSH if (offset, len) == (0, 0) => Ok(Command::Flush),
            FLUSH => Err(Refusal::invalid("a flush has neither offset nor length")),
            CACHE => self.check(export.size).map(|()| Command::Cache { offset, len }),
            BLOCK_STATUS if !session.has_allocation => {
                Err(Refusal::invalid("no kind of block status was chosen in the handshake"))
            }
            BLOCK_STATUS => {
                self.check(export.size)?;
                Ok(Command::BlockStatus { offset, len, is_one: self.flags & FLAG_ONE != 0 })
            }
            _ => Err(Refusal::invalid("the request is unknown")),
        }
    }

    fn read(&self, size: u64) -> Result<Command, Refusal> {
        let (offset, len) = (self.offset, self.len);
        self.check(size)?;
        if len > PAYLOAD_BYTES_MAX {
            return Err(Refusal::invalid("the read is longer than 32 MiB"));
        }
        let is_whole = self.flags & FLAG_DF != 0;
        if is_whole && len > WHOLE_BYTES_MAX {
            return Err(TOO_LONG);
        }
        Ok(Command::Read { offset, len, is_whole })
    }

    /// Whether the extent has bytes, and all of them are the export's.
    fn check(&self, size: u64) -> Result<(), Refusal> {
        if self.len == 0 {
            return Err(Refusal::invalid("the request has no bytes"));
        }
        if self.is_past(size) {
            return Err(Refusal::invalid("the request ends past the end of the export"));
        }
        Ok(())
    }

    /// The same for bytes that are written: past the end there is no space for them.
    fn check_space(&self, size: u64) -> Result<(), Refusal> {
        if self.is_past(size) { Err(NO_SPACE) } else { self.check(size) }
    }

    fn is_past(&self, size: u64) -> bool {
        self.offset.checked_add(u64::from(self.len)).is_none_or(|end| end > size)
    }
}
