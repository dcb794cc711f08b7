//! Bytes of an image's file for imago.
//!
//! imago holds locks of its own while it reads. So a read of it must never wait: one table that a store sends
//! slowly would hold up all readers of the image. It gets bytes that are in memory, and an error for all others.
//! The error says which bytes it lacks. The caller fetches them by the engine, and calls imago once more.

use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::io;
use std::ops::Range;

use imago::Storage;
use imago::io_buffers::{IoVector, IoVectorMut};
use imago::storage::drivers::CommonStorageHelper;

use super::header::truncated;

thread_local! {
    /// The bytes for the call that this thread is in.
    static GIVEN: RefCell<Vec<KnownBytes>> = const { RefCell::new(Vec::new()) };
}

/// Bytes of the file.
#[derive(Debug)]
pub(super) struct KnownBytes {
    pub(super) offset: u64,
    pub(super) bytes: Vec<u8>,
}

/// The file of an image, as imago knows it.
#[derive(Debug)]
pub(super) struct GivenFile {
    size: u64,
    helper: CommonStorageHelper,
}

/// imago asked for bytes that were not given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lacking(pub(super) Range<u64>);

impl fmt::Display for Lacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the bytes {}..{} are not in memory", self.0.start, self.0.end)
    }
}

impl Error for Lacking {}

impl GivenFile {
    pub(super) fn new(size: u64) -> GivenFile {
        GivenFile { size, helper: CommonStorageHelper::default() }
    }

    /// Reads from what was given. Bytes past the end are zeros, as in QEMU, if the read begins before it.
    fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        if buffer.is_empty() {
            return Ok(());
        }
        let end = offset.checked_add(buffer.len() as u64).map_or(self.size, |end| end.min(self.size));
        if offset >= end {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, truncated()));
        }
        let (own, rest) = buffer.split_at_mut((end - offset) as usize);
        rest.fill(0);
        GIVEN.with_borrow(|given| {
            let found = given.iter().find_map(|given| {
                let from = usize::try_from(offset.checked_sub(given.offset)?).ok()?;
                given.bytes.get(from..)?.get(..own.len())
            });
            let found =
                found.ok_or_else(|| io::Error::new(io::ErrorKind::WouldBlock, Lacking(offset..end)))?;
            own.copy_from_slice(found);
            Ok(())
        })
    }
}

/// Calls imago by `call`, which finds `given`.
pub(super) fn with_given<T>(given: &mut Vec<KnownBytes>, call: impl FnOnce() -> T) -> T {
    GIVEN.with_borrow_mut(|own| std::mem::swap(own, given));
    let result = call();
    GIVEN.with_borrow_mut(|own| std::mem::swap(own, given));
    result
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "images are not written")
}

impl Storage for GivenFile {
    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }

    unsafe fn pure_readv(&self, buffers: IoVectorMut<'_>, mut offset: u64) -> io::Result<()> {
        for mut buffer in buffers.into_inner() {
            self.read(&mut buffer, offset)?;
            offset = offset.saturating_add(buffer.len() as u64);
        }
        Ok(())
    }

    unsafe fn pure_writev(&self, _buffers: IoVector<'_>, _offset: u64) -> io::Result<()> {
        Err(read_only())
    }

    unsafe fn pure_write_zeroes(&self, _offset: u64, _length: u64) -> io::Result<()> {
        Err(read_only())
    }

    unsafe fn pure_discard(&self, _offset: u64, _length: u64) -> io::Result<()> {
        Err(read_only())
    }

    // imago flushes when it is dropped, also what was never written.
    fn flush(&self) -> io::Result<()> {
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    unsafe fn invalidate_cache(&self) -> io::Result<()> {
        Ok(())
    }

    fn get_storage_helper(&self) -> &CommonStorageHelper {
        &self.helper
    }
}

impl fmt::Display for GivenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a file of {} bytes", self.size)
    }
}
