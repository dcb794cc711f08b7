//! The errors of replies.

/// An error of a reply. The numbers are the protocol's, whatever the system has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Errno {
    /// The export is read-only, or the storage refuses.
    NotPermitted = 1,
    /// The storage failed.
    Io = 5,
    /// The request makes no sense, or lies outside of the export.
    Invalid = 22,
    /// There is no space left for the bytes of a write.
    NoSpace = 28,
    /// A read is too long for one chunk.
    Overflow = 75,
    /// Zeros cannot be written faster than other bytes.
    NotSupported = 95,
    /// The export is not served any more.
    Shutdown = 108,
}

impl Errno {
    pub(super) fn code(self) -> u32 {
        self as u32
    }
}
