//! The bytes of a client in transmission, cut into messages.

use bytes::{Buf, Bytes, BytesMut};

use super::request::{HEAD_BYTES, MAGIC};
use super::{Broken, PAYLOAD_BYTES_MAX, Request};
use crate::fields::Fields;

/// The bytes of a write come in parts of at most 256 KiB. The first and the last part may be shorter: all
/// others begin at multiples of this, so that no part cuts a block.
pub const PART_BYTES_MAX: usize = 256 << 10;

/// The next message of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// A request. The bytes of a write follow it.
    Request(Request),
    /// Bytes of the write that came last.
    Part {
        /// Their place in the export.
        offset: u64,
        /// The bytes, or none if they were dropped.
        bytes: Bytes,
        /// The write has no more bytes.
        is_last: bool,
    },
}

/// Cuts the bytes of a client into messages. No more is kept than one part of a write.
#[derive(Debug, Default)]
pub struct Requests {
    /// The write whose bytes are still coming.
    payload: Option<Payload>,
}

#[derive(Debug)]
struct Payload {
    offset: u64,
    left: usize,
    is_dropped: bool,
}

impl Payload {
    /// The length of its next part.
    fn part_bytes(&self) -> usize {
        let past = (self.offset % PART_BYTES_MAX as u64) as usize;
        self.left.min(PART_BYTES_MAX - past)
    }
}

impl Requests {
    /// The next message of `input`, once all of it is there.
    ///
    /// # Errors
    /// If the client has lost the protocol: nothing can be told from the bytes that follow.
    pub fn next(&mut self, input: &mut BytesMut) -> Result<Option<Incoming>, Broken> {
        let Some(payload) = &mut self.payload else { return self.next_request(input) };
        if payload.is_dropped {
            let dropped = input.len().min(payload.left);
            input.advance(dropped);
            payload.left -= dropped;
            if payload.left > 0 {
                return Ok(None);
            }
            self.payload = None;
            return Ok(Some(Incoming::Part { offset: 0, bytes: Bytes::new(), is_last: true }));
        }
        let len = payload.part_bytes();
        if input.len() < len {
            return Ok(None);
        }
        let (offset, bytes) = (payload.offset, input.split_to(len).freeze());
        payload.left -= len;
        payload.offset = offset.wrapping_add(len as u64);
        let is_last = payload.left == 0;
        if is_last {
            self.payload = None;
        }
        Ok(Some(Incoming::Part { offset, bytes, is_last }))
    }

    fn next_request(&mut self, input: &mut BytesMut) -> Result<Option<Incoming>, Broken> {
        let Some(request) = take(input)? else { return Ok(None) };
        let len = request.payload_bytes();
        if len > PAYLOAD_BYTES_MAX {
            return Err(Broken::PayloadTooLong(len));
        }
        if len > 0 {
            let (offset, left) = (request.offset, len as usize);
            self.payload = Some(Payload { offset, left, is_dropped: false });
        }
        Ok(Some(Incoming::Request(request)))
    }

    /// The write that came last was refused: its bytes are dropped as they come.
    pub fn drop_payload(&mut self) {
        if let Some(payload) = &mut self.payload {
            payload.is_dropped = true;
        }
    }

    /// Whether bytes of a write are still to come.
    pub fn is_in_payload(&self) -> bool {
        self.payload.is_some()
    }

    /// The bytes that are needed at once; a driver has room for these.
    pub fn needed_bytes(&self) -> usize {
        let payload = self.payload.as_ref().filter(|payload| !payload.is_dropped);
        payload.map_or(HEAD_BYTES, Payload::part_bytes)
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
