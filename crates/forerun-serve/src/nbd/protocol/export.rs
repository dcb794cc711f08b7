//! The description of an export for clients.

use super::{PAYLOAD_BYTES_MAX, Session};

/// The flags of an export in transmission.
pub mod export_flags {
    /// Always set.
    pub(crate) const HAS_FLAGS: u16 = 1 << 0;
    /// Writes are refused.
    pub const READ_ONLY: u16 = 1 << 1;
    /// FLUSH is understood.
    pub const SEND_FLUSH: u16 = 1 << 2;
    /// A write may ask to last before it is answered.
    pub const SEND_FUA: u16 = 1 << 3;
    /// TRIM is understood.
    pub const SEND_TRIM: u16 = 1 << 5;
    /// WRITE_ZEROES is understood.
    pub const SEND_WRITE_ZEROES: u16 = 1 << 6;
    /// A read may ask for one chunk.
    pub(crate) const SEND_DF: u16 = 1 << 7;
    /// Several connections see the same bytes.
    pub const CAN_MULTI_CONN: u16 = 1 << 8;
    /// CACHE is understood.
    pub const SEND_CACHE: u16 = 1 << 10;
    /// WRITE_ZEROES may ask to fail where it would not be fast.
    pub const SEND_FAST_ZERO: u16 = 1 << 11;
}

/// Which sizes of requests suit an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSizes {
    /// Offsets and lengths are multiples of this.
    pub min: u32,
    /// Requests of multiples of this are fast.
    pub preferred: u32,
    /// No request is longer.
    pub max: u32,
}

impl Default for BlockSizes {
    fn default() -> BlockSizes {
        // 4 KiB is what clients expect where a server says nothing.
        BlockSizes { min: 1, preferred: 4096, max: PAYLOAD_BYTES_MAX }
    }
}

/// An export as a client is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Its own name; a client may have asked for it by the empty name.
    pub name: String,
    /// A text for people.
    pub description: String,
    /// In bytes.
    pub size: u64,
    /// Some of [`export_flags`].
    pub flags: u16,
    /// The sizes of requests.
    pub block_sizes: BlockSizes,
}

impl Export {
    /// Whether clients may write.
    pub fn is_writable(&self) -> bool {
        self.flags & export_flags::READ_ONLY == 0
    }

    /// The flags as they hold for a client. Without structured replies a reply is one piece anyway,
    /// and the flag for it must not be set.
    pub(super) fn flags_for(&self, session: Session) -> u16 {
        let df = if session.has_structured_replies { export_flags::SEND_DF } else { 0 };
        export_flags::HAS_FLAGS | self.flags | df
    }
}
