//! Remote procedure calls over TCP (ONC RPC, RFC 5531), and the programs MOUNT and NFS in version 3 (RFC 1813).
//! There is no I/O: bytes go in, calls come out, and replies become bytes.
//!
//! A record is one call ([`Calls`]). A call that RFC 5531 lets us refuse gets its refusal, and any other broken
//! one ends the connection ([`Broken`]). Every length is checked against a limit before anything is kept. Only
//! replies are made by the crate `nfs3_types`, since its reader believes every length.

mod call;
mod operation;
mod record;
mod reply;

use std::fmt;

pub use call::{Call, Calls, Credential, Incoming};
pub use operation::Operation;
pub use record::RECORD_BYTES_MAX;
pub(super) use reply::{padding_after, read, read_only, result, success};

/// The longest READ that is answered with all of its bytes: as much as the engine reads at once.
pub const READ_BYTES_MAX: u32 = 1 << 20;
/// The longest reply to READDIR and READDIRPLUS. It lies in this program's memory until it is sent.
pub const LIST_BYTES_MAX: u32 = 64 << 10;
/// The longest WRITE that a client may send, to be refused. Clients take 0 for no limit.
pub const WRITE_BYTES_MAX: u32 = 32 << 10;
/// The longest name in a directory, which Linux has too.
pub const NAME_BYTES_MAX: u32 = 255;

/// The client does not keep to the protocol, and no answer is left: the connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A record has more bytes than [`RECORD_BYTES_MAX`].
    RecordTooLong(usize),
    /// A record has more fragments than any client sends.
    TooManyFragments,
    /// A record ends within the head of a call.
    CallTooShort,
    /// A record is no call.
    NotACall(u32),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::RecordTooLong(len) => write!(f, "a record has at least {len} bytes"),
            Broken::TooManyFragments => write!(f, "a record has too many fragments"),
            Broken::CallTooShort => write!(f, "a record ends within the head of a call"),
            Broken::NotACall(kind) => write!(f, "a message of the kind {kind} is no call"),
        }
    }
}
