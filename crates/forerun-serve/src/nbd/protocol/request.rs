//! Requests, from bytes.

use bytes::{Buf, BytesMut};

use super::fields::{Fields, TooShort};
use super::{Broken, Errno, PAYLOAD_BYTES_MAX, Session, WHOLE_BYTES_MAX};

const MAGIC: u32 = 0x2560_9513;
const HEAD_BYTES: usize = 28;

const READ: u16 = 0;
const WRITE: u16 = 1;
const DISCONNECT: u16 = 2;
const FLUSH: u16 = 3;
const TRIM: u16 = 4;
const CACHE: u16 = 5;
const WRITE_ZEROES: u16 = 6;
const BLOCK_STATUS: u16 = 7;

const FLAG_NO_HOLE: u16 = 1 << 1;
const FLAG_DF: u16 = 1 << 2;
const FLAG_ONE: u16 = 1 << 3;

/// A request as a client sends it, not looked at yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    flags: u16,
    kind: u16,
    /// Names the request in its replies.
    pub cookie: u64,
    offset: u64,
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
    /// Everything is on the storage already.
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

const TOO_LONG: Refusal =
    Refusal { errno: Errno::Overflow, message: "the read is longer than 1 MiB, and is to be one chunk" };

/// Cuts the bytes of a client into requests. The bytes of a write are dropped as they come, so no
/// more than `input` is kept of it.
#[derive(Debug, Default)]
pub struct Requests {
    /// A write whose bytes are still coming.
    write: Option<(Request, usize)>,
}

impl Requests {
    /// The next request of `input`, once all of it is there.
    ///
    /// # Errors
    /// If the client has lost the protocol: nothing can be told from the bytes that follow.
    pub fn next(&mut self, input: &mut BytesMut) -> Result<Option<Request>, Broken> {
        if self.write.is_none() {
            let Some(request) = take(input)? else { return Ok(None) };
            if request.kind != WRITE {
                return Ok(Some(request));
            }
            if request.len > PAYLOAD_BYTES_MAX {
                return Err(Broken::PayloadTooLong(request.len));
            }
            self.write = Some((request, request.len as usize));
        }
        let Some((request, left)) = &mut self.write else { return Ok(None) };
        let dropped = input.len().min(*left);
        input.advance(dropped);
        *left -= dropped;
        let request = (*left == 0).then_some(*request);
        if request.is_some() {
            self.write = None;
        }
        Ok(request)
    }
}

fn take(input: &mut BytesMut) -> Result<Option<Request>, Broken> {
    // A wrong number is told from its first bytes, before the client waits for an answer.
    if let Ok(magic) = Fields(input).u32()
        && magic != MAGIC
    {
        return Err(Broken::RequestMagic(magic));
    }
    let request = Request::parse(Fields(input));
    if request.is_ok() {
        input.advance(HEAD_BYTES);
    }
    Ok(request.ok())
}

impl Request {
    fn parse(mut fields: Fields<'_>) -> Result<Request, TooShort> {
        fields.u32()?;
        let (flags, kind) = (fields.u16()?, fields.u16()?);
        Ok(Request { flags, kind, cookie: fields.u64()?, offset: fields.u64()?, len: fields.u32()? })
    }

    /// Whether a client expects bytes with the reply.
    pub fn is_read(&self) -> bool {
        self.kind == READ
    }

    /// The command for an export of `size` bytes, which is read-only.
    ///
    /// # Errors
    /// The error to answer instead.
    pub fn command(&self, size: u64, session: Session) -> Result<Command, Refusal> {
        let allowed = match self.kind {
            READ if session.has_structured_replies => FLAG_DF,
            BLOCK_STATUS => FLAG_ONE,
            WRITE_ZEROES => FLAG_NO_HOLE,
            _ => 0,
        };
        if self.flags & !allowed != 0 {
            return Err(Refusal::invalid("the request has a flag that it may not have"));
        }
        let (offset, len) = (self.offset, self.len);
        match self.kind {
            READ => {
                self.check(size)?;
                if len > PAYLOAD_BYTES_MAX {
                    return Err(Refusal::invalid("the read is longer than 32 MiB"));
                }
                let is_whole = self.flags & FLAG_DF != 0;
                if is_whole && len > WHOLE_BYTES_MAX {
                    Err(TOO_LONG)
                } else {
                    Ok(Command::Read { offset, len, is_whole })
                }
            }
            WRITE | TRIM | WRITE_ZEROES => Err(READ_ONLY),
            DISCONNECT => Ok(Command::Disconnect),
            FLUSH if (offset, len) == (0, 0) => Ok(Command::Flush),
            FLUSH => Err(Refusal::invalid("a flush has neither offset nor length")),
            CACHE => self.check(size).map(|()| Command::Cache { offset, len }),
            BLOCK_STATUS if !session.has_allocation => {
                Err(Refusal::invalid("no kind of block status was chosen in the handshake"))
            }
            BLOCK_STATUS => {
                self.check(size)?;
                Ok(Command::BlockStatus { offset, len, is_one: self.flags & FLAG_ONE != 0 })
            }
            _ => Err(Refusal::invalid("the request is unknown")),
        }
    }

    /// Whether the extent has bytes, and all of them are the export's.
    fn check(&self, size: u64) -> Result<(), Refusal> {
        if self.len == 0 {
            return Err(Refusal::invalid("the request has no bytes"));
        }
        let end = self.offset.checked_add(u64::from(self.len));
        if end.is_none_or(|end| end > size) {
            return Err(Refusal::invalid("the request ends past the end of the export"));
        }
        Ok(())
    }
}
