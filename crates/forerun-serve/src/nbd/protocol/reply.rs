//! Replies to requests, as bytes.

use super::{ALLOCATION_ID, Errno, STRING_BYTES_MAX, Session};

const SIMPLE_MAGIC: u32 = 0x6744_6698;
const CHUNK_MAGIC: u32 = 0x668e_33ef;
const FLAG_DONE: u16 = 1 << 0;

const NONE: u16 = 0;
const OFFSET_DATA: u16 = 1;
const OFFSET_HOLE: u16 = 2;
const BLOCK_STATUS: u16 = 5;
const ERROR: u16 = 1 << 15 | 1;
const ERROR_OFFSET: u16 = 1 << 15 | 2;

/// Nothing is stored for an extent.
pub const STATE_HOLE: u32 = 1 << 0;
/// An extent reads as zeros.
pub const STATE_ZERO: u32 = 1 << 1;

/// Consecutive bytes of one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusExtent {
    /// How many bytes, at least one.
    pub len: u32,
    /// [`STATE_HOLE`] and [`STATE_ZERO`], or none of them.
    pub state: u32,
}

/// Makes replies for a client. Each function makes one message, or the part of it before its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Replies {
    session: Session,
}

impl Replies {
    /// Replies as `session` has them.
    pub fn new(session: Session) -> Replies {
        Replies { session }
    }

    /// The request `cookie` has succeeded, and has no bytes.
    pub fn done(self, cookie: u64) -> Vec<u8> {
        if self.session.has_structured_replies {
            chunk(FLAG_DONE, NONE, cookie, &[])
        } else {
            simple(0, cookie)
        }
    }

    /// The request `cookie` has failed.
    pub fn error(self, cookie: u64, errno: Errno, message: &str) -> Vec<u8> {
        if !self.session.has_structured_replies {
            return simple(errno.code(), cookie);
        }
        let [code, len, message] = &error_parts(errno, message);
        chunk(FLAG_DONE, ERROR, cookie, &[code, len, message])
    }

    /// The part of the read `cookie` that begins at `offset` has failed. `is_last` if no other part of
    /// the read comes after.
    pub fn error_at(self, cookie: u64, errno: Errno, message: &str, offset: u64, is_last: bool) -> Vec<u8> {
        if !self.session.has_structured_replies {
            return simple(errno.code(), cookie);
        }
        let [code, len, message] = &error_parts(errno, message);
        let offset = offset.to_be_bytes();
        chunk(done_if(is_last), ERROR_OFFSET, cookie, &[code, len, message, &offset])
    }

    /// The head of `len` bytes from `offset` on, which follow it. `is_last` if no other part of the read
    /// comes after; a client without structured replies gets the read in one part.
    pub fn data(self, cookie: u64, offset: u64, len: u32, is_last: bool) -> Vec<u8> {
        if !self.session.has_structured_replies {
            return simple(0, cookie);
        }
        let mut head = chunk_head(done_if(is_last), OFFSET_DATA, cookie, 8 + len);
        head.extend_from_slice(&offset.to_be_bytes());
        head
    }

    /// `len` zeros from `offset` on, if this client can be told of them without sending them.
    pub fn hole(self, cookie: u64, offset: u64, len: u32, is_last: bool) -> Option<Vec<u8>> {
        let parts: [&[u8]; 2] = [&offset.to_be_bytes(), &len.to_be_bytes()];
        let chunk = || chunk(done_if(is_last), OFFSET_HOLE, cookie, &parts);
        self.session.has_structured_replies.then(chunk)
    }

    /// The states of the bytes that were asked for, from the first on.
    pub fn block_status(self, cookie: u64, extents: &[StatusExtent]) -> Vec<u8> {
        let mut payload = Vec::with_capacity(4 + 8 * extents.len());
        payload.extend_from_slice(&ALLOCATION_ID.to_be_bytes());
        for extent in extents {
            payload.extend_from_slice(&extent.len.to_be_bytes());
            payload.extend_from_slice(&extent.state.to_be_bytes());
        }
        chunk(FLAG_DONE, BLOCK_STATUS, cookie, &[&payload])
    }
}

fn done_if(is_last: bool) -> u16 {
    if is_last { FLAG_DONE } else { 0 }
}

fn simple(code: u32, cookie: u64) -> Vec<u8> {
    let mut head = Vec::with_capacity(16);
    head.extend_from_slice(&SIMPLE_MAGIC.to_be_bytes());
    head.extend_from_slice(&code.to_be_bytes());
    head.extend_from_slice(&cookie.to_be_bytes());
    head
}

fn chunk(flags: u16, kind: u16, cookie: u64, parts: &[&[u8]]) -> Vec<u8> {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    let mut chunk = chunk_head(flags, kind, cookie, u32::try_from(len).unwrap_or(u32::MAX));
    parts.iter().for_each(|part| chunk.extend_from_slice(part));
    chunk
}

fn chunk_head(flags: u16, kind: u16, cookie: u64, len: u32) -> Vec<u8> {
    let mut head = Vec::with_capacity(32);
    head.extend_from_slice(&CHUNK_MAGIC.to_be_bytes());
    head.extend_from_slice(&flags.to_be_bytes());
    head.extend_from_slice(&kind.to_be_bytes());
    head.extend_from_slice(&cookie.to_be_bytes());
    head.extend_from_slice(&len.to_be_bytes());
    head
}

/// The beginning of every error chunk. The message is cut where a string has to end.
fn error_parts(errno: Errno, message: &str) -> [Vec<u8>; 3] {
    let message = &message[..message.floor_char_boundary(STRING_BYTES_MAX)];
    let len = u16::try_from(message.len()).unwrap_or(u16::MAX);
    [errno.code().to_be_bytes().into(), len.to_be_bytes().into(), message.into()]
}
