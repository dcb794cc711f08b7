//! An export that connections use.

mod status;

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use forerun::{Entry, Error, ErrorKind, Forerun, Result, Zeroing};
use tokio::sync::OwnedSemaphorePermit;

use super::changes::Changes;
use super::disk::Disk;
use super::image::{Image, Images};
use super::protocol::{BlockSizes, Export, export_flags};
use crate::sending::{Lent, Pool};
use crate::sharers::client_of;

/// Every export has these. The engine is the one cache of all connections, so a client may read through
/// several. A flush on one of them covers the writes that were answered on all.
const FLAGS: u16 = export_flags::SEND_FLUSH | export_flags::CAN_MULTI_CONN | export_flags::SEND_CACHE;

/// Parts of an engine's memory. Each is for all connections together.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    /// Bytes of reads until they are sent.
    pub(super) lending: Pool,
    /// Bytes of writes until they are written, besides the engine's memory.
    pub(super) taking: Pool,
}

/// One version of one object, as all connections to it use it.
#[derive(Debug)]
pub(super) struct OpenExport {
    pub(super) shown: Export,
    forerun: Forerun,
    entry: Entry,
    disk: Disk,
    changes: Changes,
    /// The object as a file of this system, which knows its holes.
    file: Option<Arc<File>>,
    /// A newer version was seen.
    is_stale: AtomicBool,
    shares: Shares,
}

impl OpenExport {
    /// Opens `entry` of `forerun` as the export `name`. It is one of `images`, if there are any.
    ///
    /// # Errors
    /// * If the object has changed since `entry` was made.
    /// * If it is no image that can be served.
    /// * If its overlay belongs to another version.
    pub(super) async fn new(
        name: String,
        entry: &Entry,
        forerun: &Forerun,
        images: Option<&Images>,
        shares: &Shares,
        changes: &Changes,
    ) -> Result<OpenExport> {
        // An export is the disk of one machine.
        let client = client_of(&name);
        let (disk, file, base) = match images {
            None => {
                let file = forerun.open_local(entry).await?.map(Arc::new);
                (Disk::Object(forerun.for_client(client).reader_of(entry)), file, entry.clone())
            }
            Some(images) => {
                let image = Image::open(entry, forerun, client, images).await?;
                let base = image.disk_entry();
                (Disk::Image(Arc::new(image)), None, base)
            }
        };
        if let Changes::Overlay(overlay) = changes {
            overlay.check_base(&base)?;
        }
        let description = format!("{} of {}", entry.path, forerun.url());
        let (flags, block_sizes) = (FLAGS | changes.flags(), BlockSizes::default());
        Ok(OpenExport {
            shown: Export { name, description, size: base.size, flags, block_sizes },
            entry: entry.clone(),
            disk,
            forerun: forerun.clone(),
            changes: changes.clone(),
            file,
            is_stale: AtomicBool::new(false),
            shares: shares.clone(),
        })
    }

    /// Whether it is the version that `entry` describes.
    pub(super) fn is(&self, entry: &Entry) -> bool {
        let own = &self.entry;
        !self.is_stale.load(Ordering::Relaxed) && own.version == entry.version && own.size == entry.size
    }

    /// Whether its backing files still have the versions that it reads.
    ///
    /// # Errors
    /// If the storage cannot tell.
    pub(super) async fn has_current_backing(&self) -> Result<bool> {
        match &self.disk {
            Disk::Object(_) => Ok(true),
            Disk::Image(image) => image.has_current_backing().await,
        }
    }

    /// Lets every read and write fail from now on: a client with several connections would otherwise see
    /// another version on some of them.
    pub(super) fn retire(&self) {
        self.is_stale.store(true, Ordering::Relaxed);
    }

    /// Reads `len` bytes, at most [`crate::sending::PIECE_BYTES_MAX`].
    pub(super) async fn read(&self, offset: u64, len: u32) -> Result<Lent> {
        let permit = self.shares.lending.take(len).await?;
        self.check()?;
        if let Changes::Overlay(overlay) = &self.changes
            && let Some(bytes) = self.noticing(overlay.read(&self.disk, offset, len).await)?
        {
            return Ok(Lent::gathered(bytes, permit));
        }
        self.noticing(self.disk.read(offset, len, permit).await)
    }

    /// Reads `len` bytes ahead.
    pub(super) async fn will_need(&self, offset: u64, len: u32) -> Result<()> {
        self.noticing(self.disk.will_need(offset, len).await)
    }

    /// The room for `len` bytes of a write, at most a part of it.
    pub(super) async fn room(&self, len: u32) -> Result<OwnedSemaphorePermit> {
        self.shares.taking.take(len).await
    }

    /// Writes `bytes`, which have `room` until then.
    pub(super) async fn write(&self, offset: u64, bytes: Bytes, room: OwnedSemaphorePermit) -> Result<()> {
        self.check()?;
        self.noticing(self.changes.write(&self.disk, offset, bytes, room).await)
    }

    /// Gives up `len` bytes.
    pub(super) async fn trim(&self, offset: u64, len: u32) -> Result<()> {
        self.check()?;
        self.noticing(self.changes.trim(&self.disk, offset, len).await)
    }

    /// Writes `len` zeros.
    pub(super) async fn write_zeroes(&self, offset: u64, len: u32, zeroing: Zeroing) -> Result<()> {
        self.check()?;
        self.noticing(self.changes.write_zeroes(&self.disk, offset, len, zeroing).await)
    }

    /// Makes all writes last that have ended. It does so even if the base has changed.
    pub(super) async fn flush(&self) -> Result<()> {
        self.changes.flush().await
    }

    /// Lets every request fail once one has found that a file has changed or is gone. An image has several files, and
    /// zeros that no file has: its readers would not find out by themselves.
    fn noticing<T>(&self, result: Result<T>) -> Result<T> {
        result.inspect_err(|error| {
            if matches!(error.kind, ErrorKind::Changed | ErrorKind::NotFound) {
                self.retire();
            }
        })
    }

    fn check(&self) -> Result<()> {
        if self.is_stale.load(Ordering::Relaxed) { Err(self.changed()) } else { Ok(()) }
    }

    fn changed(&self) -> Error {
        let message = format!("{:?} has another version by now; connect again", self.shown.name);
        Error::new(ErrorKind::Changed, message)
    }
}
