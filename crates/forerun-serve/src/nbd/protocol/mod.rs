//! The Network Block Device protocol, without I/O: bytes in, messages out.
//!
//! A connection has two phases. In the [`Handshake`] the client chooses an export by options. Then it
//! sends requests ([`Requests`]), each answered in any order ([`Replies`]). Neither part has a socket
//! or a clock, so a driver decides how long a client may take and how much of it is kept.
//!
//! All numbers are big-endian. Every length is checked against a limit before anything is kept. A message
//! that the specification lets us answer gets its error, and any other ends the connection
//! ([`Broken`]). The document is `doc/proto.md` of <https://github.com/NetworkBlockDevice/nbd>.

mod errno;
mod export;
mod handshake;
mod incoming;
mod reply;
mod request;

use std::fmt;

pub use errno::Errno;
pub use export::{BlockSizes, Export, export_flags};
pub use handshake::{Handshake, Step};
pub use incoming::{Incoming, PART_BYTES_MAX, Requests};
pub use reply::{Replies, STATE_HOLE, STATE_ZERO, StatusExtent};
pub use request::{Command, Refusal, Request};

/// The most bytes that a client writes or reads in one request: 32 MiB, the least that every server
/// should take (specification, "Block size constraints").
pub const PAYLOAD_BYTES_MAX: u32 = 32 << 20;

/// The longest read that is answered in one chunk where a client wants that: 1 MiB. A server may choose,
/// from 64 KiB on (specification, `NBD_CMD_READ`), and has to hold a chunk as a whole.
pub const WHOLE_BYTES_MAX: u32 = 1 << 20;

/// The longest string, in bytes (specification, "Conventions").
pub(crate) const STRING_BYTES_MAX: usize = 4096;

/// Our number for `base:allocation`.
const ALLOCATION_ID: u32 = 1;

/// The agreement of a client in the handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// Replies have chunks. Without it, a reply is one header and all bytes.
    pub has_structured_replies: bool,
    /// The client may ask which blocks are holes (`base:allocation`).
    pub has_allocation: bool,
}

/// The client does not keep to the protocol, and no answer is left: the connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The flags after the greeting have bits that mean nothing.
    ClientFlags(u32),
    /// An option does not begin with its magic number.
    OptionMagic(u64),
    /// An option has so many bytes that skipping them is not worth it.
    OptionTooLong(u32),
    /// The client has no fixed newstyle handshake, and then only the option EXPORT_NAME is left.
    OptionOfOldClient(u32),
    /// EXPORT_NAME has no room for an error.
    NoSuchExport,
    /// The client chose an export without TLS, and EXPORT_NAME has no room for an error.
    NoTls,
    /// Bytes came before TLS began, from the client or from somebody between.
    BytesBeforeTls,
    /// A request does not begin with its magic number.
    RequestMagic(u32),
    /// A write announces more than [`PAYLOAD_BYTES_MAX`].
    PayloadTooLong(u32),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::ClientFlags(flags) => write!(f, "its handshake flags {flags:#x} are unknown"),
            Broken::OptionMagic(magic) => write!(f, "an option begins with {magic:#x}"),
            Broken::OptionTooLong(len) => write!(f, "an option has {len} bytes"),
            Broken::OptionOfOldClient(option) => {
                write!(f, "it sent option {option} without the fixed newstyle handshake")
            }
            Broken::NoSuchExport => write!(f, "it asked by EXPORT_NAME for an export that is not here"),
            Broken::NoTls => write!(f, "it asked by EXPORT_NAME for an export without TLS"),
            Broken::BytesBeforeTls => write!(f, "it sent more before TLS had begun"),
            Broken::RequestMagic(magic) => write!(f, "a request begins with {magic:#x}"),
            Broken::PayloadTooLong(len) => write!(f, "a write has {len} bytes"),
        }
    }
}
