//! The kernel's FUSE protocol, without I/O: requests from bytes, answers to bytes.
//!
//! Numbers have the machine's byte order. Every length is checked: a request that is too short, or
//! whose lengths disagree, is [`Malformed`].

mod decode;
mod directory;
mod fields;
mod greeting;
mod payload;
mod request;

pub use directory::Directory;
pub use greeting::{Offer, Wishes, capabilities};
pub use payload::{Attributes, attributes, entry, ioctl, open_flags, opened, size, statfs, written};
pub(crate) use payload::{header, notify_store};
pub use request::{Forgets, Message, Operation, Request};

/// A request that cannot be decoded, though perhaps answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Its number, if it is long enough to have one.
    pub unique: Option<u64>,
}

/// The longest read or write in bytes. The kernel allows no more unless its administrator raises
/// `fs.fuse.max_pages_limit`.
pub(crate) const REQUEST_BYTES_MAX: u32 = 1 << 20;
