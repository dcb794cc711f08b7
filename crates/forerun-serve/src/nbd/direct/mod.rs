//! A local file whose exports may be written.
//!
//! The engine reads the file through the same descriptor that writes go to ([`Backend`] of
//! [`WritableFile`]). Its version never changes, so a write of this server is no change of the object. After
//! each write the engine forgets the bytes, also those of fetches in flight ([`Reader::invalidate`]).

mod source;

pub use source::WrittenSource;

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use forerun::{Entry, Error, ErrorKind, Extent, Forerun, Reader, Result};

use super::changes::{Flushes, Zeroing, file_error, on_disk, punch, slow, write_zeros, zero_in_place};

/// A file that this server may change. It must be the only one that does.
#[derive(Debug)]
pub struct WritableFile {
    file: File,
    /// For messages.
    path: PathBuf,
    url: String,
    entry: Entry,
    flushes: Arc<Flushes>,
}

impl WritableFile {
    /// The one object of `forerun`, a local file.
    ///
    /// # Errors
    /// If it is no local file, if it may not be written, or if another server writes it.
    pub async fn open(forerun: &Forerun) -> Result<WritableFile> {
        let refused = |why: &str| {
            let message = format!("{} cannot be written: {why}; name a local file", forerun.url());
            Error::new(ErrorKind::Invalid, message)
        };
        let Some(object) = forerun.object() else { return Err(refused("it is a directory")) };
        let entry = forerun.stat(object).await?;
        let Some(found) = forerun.open_local(&entry).await? else {
            return Err(refused("it is not a file of this system"));
        };
        let (url, path) = (forerun.url(), PathBuf::from(object));
        // The file that was found, and no other that took its name meanwhile.
        let found = OwnedFd::from(found);
        let again = format!("/proc/self/fd/{}", found.as_raw_fd());
        let file = File::options().read(true).write(true).open(again);
        let file = file.map_err(|error| file_error(&path, "it cannot be opened for writing", error))?;
        if let Err(error) = file.try_lock() {
            let message =
                format!("{object}: the file cannot be locked: {error}; end the server that writes it");
            return Err(Error::new(ErrorKind::Denied, message));
        }
        // The engine plans the readahead, as for other files. Without this advice reads are only slower.
        let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random);
        let flushes = Flushes::new(path.clone());
        Ok(WritableFile { file, path, url, entry, flushes })
    }

    /// The name of the only export.
    pub(super) fn name(&self) -> &str {
        &self.entry.path
    }

    pub(super) async fn write(
        self: &Arc<WritableFile>,
        reader: &Reader,
        offset: u64,
        bytes: Bytes,
        held: impl Send + 'static,
    ) -> Result<()> {
        let len = bytes.len() as u64;
        let write = move |file: &WritableFile| {
            let _held = held;
            file.file.write_all_at(&bytes, offset).map_err(|error| file.failed("the bytes", error))
        };
        self.change(reader, Extent::new(offset, len), write).await
    }

    pub(super) async fn trim(self: &Arc<WritableFile>, reader: &Reader, offset: u64, len: u32) -> Result<()> {
        let len = u64::from(len);
        // A file system that gives no space back may leave the bytes as they are.
        let trim = move |file: &WritableFile| {
            punch(&file.file, offset, len).map(|_| ()).map_err(|error| file.failed("the zeros", error))
        };
        self.change(reader, Extent::new(offset, len), trim).await
    }

    pub(super) async fn write_zeroes(
        self: &Arc<WritableFile>,
        reader: &Reader,
        offset: u64,
        len: u32,
        zeroing: Zeroing,
    ) -> Result<()> {
        let len = u64::from(len);
        let write = move |file: &WritableFile| {
            let failed = |error| file.failed("the zeros", error);
            let is_done = (!zeroing.has_space && punch(&file.file, offset, len).map_err(failed)?)
                || zero_in_place(&file.file, offset, len).map_err(failed)?;
            if is_done {
                return Ok(());
            }
            if zeroing.is_fast {
                return Err(slow());
            }
            write_zeros(&file.file, offset, len).map_err(failed)
        };
        self.change(reader, Extent::new(offset, len), write).await
    }

    /// Makes all writes last that have ended.
    pub(super) async fn flush(self: &Arc<WritableFile>) -> Result<()> {
        let file = Arc::clone(self);
        self.flushes.flush(move |flushes| flushes.sync(&file.file)).await
    }

    /// Changes the bytes of `extent` by `write`. Even if it fails, some may be changed.
    async fn change(
        self: &Arc<WritableFile>,
        reader: &Reader,
        extent: Extent,
        write: impl FnOnce(&WritableFile) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        self.flushes.check()?;
        let (file, reader) = (Arc::clone(self), reader.clone());
        on_disk(move || {
            let done = write(&file);
            reader.invalidate(extent);
            file.flushes.count_write();
            done
        })
        .await
    }

    fn failed(&self, subject: &str, error: std::io::Error) -> Error {
        file_error(&self.path, &format!("{subject} cannot be written"), error)
    }
}
