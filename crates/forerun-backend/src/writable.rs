//! Objects that a caller changes.

use std::fmt::Debug;
use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;

use crate::{ByteStream, Result};

/// An object whose bytes its caller changes, and which keeps its size. Nobody else may change it meanwhile.
///
/// An operation goes on to its end even if its future is dropped. All extents lie within the object.
#[async_trait]
pub trait Writable: Debug + Send + Sync + 'static {
    /// Streams the bytes `extent`, which is not empty. It sees the operations that have ended.
    ///
    /// # Errors
    /// The storage's error.
    async fn fetch(&self, extent: Range<u64>) -> Result<ByteStream>;

    /// Writes `bytes` from `offset` on.
    ///
    /// # Errors
    /// The storage's error. Some bytes may be written.
    async fn write(&self, offset: u64, bytes: Bytes) -> Result<()>;

    /// Gives up the bytes `extent`. Each reads as a zero or as before from then on.
    ///
    /// # Errors
    /// The storage's error. Some bytes may be given up.
    async fn discard(&self, extent: Range<u64>) -> Result<()>;

    /// Writes zeros.
    ///
    /// # Errors
    /// The storage's error, [`ErrorKind::Permanent`](crate::ErrorKind::Permanent) above
    /// [`io::ErrorKind::Unsupported`](std::io::ErrorKind::Unsupported) where `zeroing` cannot be fast. Some zeros may
    /// be written.
    async fn write_zeroes(&self, extent: Range<u64>, zeroing: Zeroing) -> Result<()>;

    /// Makes all operations last that have ended.
    ///
    /// # Errors
    /// The storage's error.
    async fn flush(&self) -> Result<()>;
}

/// How zeros are written.
#[derive(Clone, Copy, Debug)]
pub struct Zeroing {
    /// They have space of their own, for later writes.
    pub has_space: bool,
    /// It fails if it would take as long as other bytes.
    pub is_fast: bool,
}
