//! An export that connections read.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forerun::{Advice, Entry, Error, ErrorKind, Extent, Forerun, Lease, Reader, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::holes;
use super::protocol::{BlockSizes, Export, StatusExtent, export_flags};

/// A client may only read an export. The engine is the one cache of all connections, so a
/// client may read through several, and nothing waits for a flush.
const FLAGS: u16 = export_flags::READ_ONLY
    | export_flags::SEND_FLUSH
    | export_flags::CAN_MULTI_CONN
    | export_flags::SEND_CACHE;

/// One version of one object, as all connections to it read it.
#[derive(Debug)]
pub(super) struct OpenExport {
    pub(super) shown: Export,
    forerun: Forerun,
    reader: Reader,
    /// The object as a file of this system, which knows its holes.
    file: Option<Arc<File>>,
    /// A newer version was seen.
    is_stale: AtomicBool,
    lending: Arc<Semaphore>,
}

/// Bytes of a read, lent by the engine. All of these of one engine are a bounded part of its memory.
#[derive(Debug)]
pub(super) struct Lent {
    pub(super) lease: Lease<'static>,
    _permit: OwnedSemaphorePermit,
}

impl OpenExport {
    /// Opens `entry` of `forerun` as the export `name`.
    ///
    /// # Errors
    /// If the object has changed since `entry` was made.
    pub(super) async fn new(
        name: String,
        entry: &Entry,
        forerun: &Forerun,
        lending: &Arc<Semaphore>,
    ) -> Result<OpenExport> {
        let file = forerun.open_local(entry).await?.map(Arc::new);
        let description = format!("{} of {}", entry.path, forerun.url());
        let block_sizes = BlockSizes::default();
        Ok(OpenExport {
            shown: Export { name, description, size: entry.size, flags: FLAGS, block_sizes },
            reader: forerun.reader_of(entry),
            forerun: forerun.clone(),
            file,
            is_stale: AtomicBool::new(false),
            lending: Arc::clone(lending),
        })
    }

    /// Whether it is the version that `entry` describes.
    pub(super) fn is(&self, entry: &Entry) -> bool {
        let own = self.reader.entry();
        !self.is_stale.load(Ordering::Relaxed) && own.version == entry.version && own.size == entry.size
    }

    /// Lets every read fail from now on: a client with several connections would otherwise see
    /// another version on some of them.
    pub(super) fn retire(&self) {
        self.is_stale.store(true, Ordering::Relaxed);
    }

    /// Reads `len` bytes, at most [`super::work::PIECE_BYTES_MAX`].
    pub(super) async fn read(&self, offset: u64, len: u32) -> Result<Lent> {
        let permit = Arc::clone(&self.lending).acquire_many_owned(len).await;
        let permit = permit.map_err(|_| Error::new(ErrorKind::Ended, "the server is about to end"))?;
        if self.is_stale.load(Ordering::Relaxed) {
            return Err(self.changed());
        }
        Ok(Lent { lease: self.reader.lease(offset, len as usize).await?, _permit: permit })
    }

    /// Reads `len` bytes ahead.
    pub(super) fn will_need(&self, offset: u64, len: u32) {
        self.reader.advise(Advice::WillNeed(&[Extent::new(offset, u64::from(len))]));
    }

    /// The states of `len` bytes, from the first on, but not more than one or `count_max` extents.
    pub(super) async fn block_status(
        &self,
        offset: u64,
        len: u32,
        count_max: usize,
    ) -> Result<Vec<StatusExtent>> {
        let Some(file) = self.file.clone() else {
            return Ok(vec![StatusExtent { len, state: 0 }]);
        };
        let map = tokio::task::spawn_blocking(move || holes::map(&file, offset, len, count_max)).await;
        // A file that has changed meanwhile may have bytes where this version had none.
        if self.is_stale.load(Ordering::Relaxed)
            || self.forerun.open_local(self.reader.entry()).await?.is_none()
        {
            return Err(self.changed());
        }
        match map {
            Ok(Ok(extents)) => Ok(extents),
            // Not every file system tells.
            _ => Ok(vec![StatusExtent { len, state: 0 }]),
        }
    }

    fn changed(&self) -> Error {
        let message = format!("{:?} has another version by now; connect again", self.shown.name);
        Error::new(ErrorKind::Changed, message)
    }
}
