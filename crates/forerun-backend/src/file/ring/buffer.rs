//! Memory for the bytes of a read.

use bytes::Bytes;

use crate::file::direct::DirectBuffer;

/// Memory for one piece of a file.
#[derive(Debug)]
pub(super) enum PieceBuffer {
    /// Of a read through the page cache.
    Cached { memory: Vec<u8>, filled: usize, offset: u64 },
    /// Of one past it.
    Direct(DirectBuffer),
}

impl PieceBuffer {
    /// For `len` bytes at `offset`.
    pub(super) fn new(offset: u64, len: usize, is_direct: bool) -> PieceBuffer {
        if is_direct {
            PieceBuffer::Direct(DirectBuffer::new(offset, len))
        } else {
            PieceBuffer::Cached { memory: vec![0; len], filled: 0, offset }
        }
    }

    /// The place in the file to read on from, and the memory for the bytes there.
    pub(super) fn room(&mut self) -> (u64, &mut [u8]) {
        match self {
            PieceBuffer::Cached { memory, filled, offset } => {
                (*offset + *filled as u64, &mut memory[*filled..])
            }
            PieceBuffer::Direct(buffer) => (buffer.offset(), buffer.room()),
        }
    }

    /// The piece, after `count` bytes more were read. Gives the buffer back if bytes are missing.
    pub(super) fn filled_by(self, count: usize) -> Result<Bytes, PieceBuffer> {
        match self {
            PieceBuffer::Cached { memory, filled, .. } if filled + count == memory.len() => Ok(memory.into()),
            PieceBuffer::Cached { memory, filled, offset } => {
                Err(PieceBuffer::Cached { memory, filled: filled + count, offset })
            }
            // Only whole blocks can be read on from. Another piece follows a short one.
            PieceBuffer::Direct(buffer) => Ok(buffer.into_bytes(count)),
        }
    }
}
