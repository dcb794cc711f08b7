//! An object whose exports may be written: a local file, or an object whose backend writes it ([`Writable`]).
//!
//! The engine reads the object through the same handle that writes go to ([`Backend`](forerun::Backend) of
//! [`WrittenSource`]). Its version never changes, so a write of this server is no change of the object. After
//! each write the engine forgets the bytes, also those of fetches in flight ([`Reader::invalidate`]).

mod local_file;
mod source;

pub use source::WrittenSource;

use std::fs::File;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use forerun::{Entry, Error, ErrorKind, Extent, Forerun, Reader, Result, Writable, Zeroing};

use self::local_file::LocalFile;
use super::changes::{Flushes, to_its_end};

/// An object that this server may change. It must be the only one that does.
#[derive(Debug)]
pub struct WritableObject {
    storage: Arc<dyn Writable>,
    /// The object as a file of this system, if it is one.
    file: Option<File>,
    url: String,
    entry: Entry,
    flushes: Arc<Flushes>,
}

impl WritableObject {
    /// The one object of `forerun`.
    ///
    /// # Errors
    /// If its storage can only be read, if it may not be written, or if another server writes it.
    pub async fn open(forerun: &Forerun) -> Result<WritableObject> {
        let refused = |why: &str| {
            let message =
                format!("{} cannot be written: {why}; name a local file or an image of Ceph", forerun.url());
            Error::new(ErrorKind::Invalid, message)
        };
        let Some(object) = forerun.object() else { return Err(refused("it is a directory")) };
        let entry = forerun.stat(object).await?;
        let (url, path) = (forerun.url(), PathBuf::from(object));
        let flushes = Flushes::new(path.clone());
        if let Some(storage) = forerun.open_writable(&entry).await? {
            return Ok(WritableObject { storage, file: None, url, entry, flushes });
        }
        let Some(found) = forerun.open_local(&entry).await? else {
            return Err(refused("its storage can only be read"));
        };
        let file = LocalFile::open(path, found, Arc::clone(&flushes))?;
        let descriptor = file.descriptor()?;
        Ok(WritableObject { storage: Arc::new(file), file: Some(descriptor), url, entry, flushes })
    }

    /// The name of the only export.
    pub(super) fn name(&self) -> &str {
        &self.entry.path
    }

    /// Writes `bytes`, and drops `held` once they are not needed any more.
    pub(super) async fn write(
        self: &Arc<WritableObject>,
        reader: &Reader,
        offset: u64,
        bytes: Bytes,
        held: impl Send + 'static,
    ) -> Result<()> {
        let (extent, storage) = (Extent::new(offset, bytes.len() as u64), Arc::clone(&self.storage));
        let write = async move {
            let _held = held;
            storage.write(offset, bytes).await
        };
        self.change(reader, extent, write).await
    }

    pub(super) async fn trim(
        self: &Arc<WritableObject>,
        reader: &Reader,
        offset: u64,
        len: u32,
    ) -> Result<()> {
        let (extent, storage) = (Extent::new(offset, u64::from(len)), Arc::clone(&self.storage));
        self.change(reader, extent, async move { storage.discard(offset..extent.end()).await }).await
    }

    pub(super) async fn write_zeroes(
        self: &Arc<WritableObject>,
        reader: &Reader,
        offset: u64,
        len: u32,
        zeroing: Zeroing,
    ) -> Result<()> {
        let (extent, storage) = (Extent::new(offset, u64::from(len)), Arc::clone(&self.storage));
        let write = async move { storage.write_zeroes(offset..extent.end(), zeroing).await };
        self.change(reader, extent, write).await
    }

    /// Makes all writes last that have ended.
    pub(super) async fn flush(self: &Arc<WritableObject>) -> Result<()> {
        let storage = Arc::clone(&self.storage);
        self.flushes.flush(async move { storage.flush().await }).await
    }

    /// Changes the bytes of `extent` by `write`. Even if it fails, some may be changed. The engine forgets the old
    /// bytes although nobody may wait any more.
    async fn change(
        self: &Arc<WritableObject>,
        reader: &Reader,
        extent: Extent,
        write: impl Future<Output = Result<()>> + Send + 'static,
    ) -> Result<()> {
        self.flushes.check()?;
        let (object, reader) = (Arc::clone(self), reader.clone());
        to_its_end(async move {
            let done = write.await;
            reader.invalidate(extent);
            object.flushes.count_write();
            done
        })
        .await
    }
}
