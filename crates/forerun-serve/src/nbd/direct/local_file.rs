//! A local file that is written.

use std::fs::File;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use forerun::{ByteStream, Error, ErrorKind, Result, Writable, Zeroing};
use futures::StreamExt;

use super::super::changes::{ChangedFile, Flushes, file_error, on_disk, slow};

/// A piece of a fetch. A reader of its first bytes does not wait for all of a large fetch.
const FETCH_PIECE_BYTES: u64 = 1 << 20;

/// A file that is open for writes, and locked.
#[derive(Debug)]
pub(super) struct LocalFile(Arc<LockedFile>);

#[derive(Debug)]
struct LockedFile {
    file: ChangedFile,
    /// For messages.
    path: PathBuf,
    flushes: Arc<Flushes>,
}

impl LocalFile {
    /// The file that is open as `found`, and no other that took its name `path` meanwhile.
    ///
    /// # Errors
    /// If it may not be written, or if another server writes it.
    pub(super) fn open(path: PathBuf, found: File, flushes: Arc<Flushes>) -> Result<LocalFile> {
        let found = OwnedFd::from(found);
        let again = format!("/proc/self/fd/{}", found.as_raw_fd());
        let file = File::options().read(true).write(true).open(again);
        let file = file.map_err(|error| file_error(&path, "it cannot be opened for writing", error))?;
        if let Err(error) = file.try_lock() {
            let path = path.display();
            let message =
                format!("{path}: the file cannot be locked: {error}; end the server that writes it");
            return Err(Error::new(ErrorKind::Denied, message));
        }
        // The engine plans the readahead, as for other files. Without this advice reads are only slower.
        let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random);
        Ok(LocalFile(Arc::new(LockedFile { file: ChangedFile::new(file), path, flushes })))
    }

    /// Another descriptor of the file.
    pub(super) fn descriptor(&self) -> Result<File> {
        let again = self.0.file.try_clone();
        again.map_err(|error| file_error(&self.0.path, "it cannot be opened again", error))
    }

    /// Runs `work` away from the async threads.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&LockedFile) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let file = Arc::clone(&self.0);
        on_disk(move || work(&file)).await
    }
}

#[async_trait]
impl Writable for LocalFile {
    async fn fetch(&self, extent: Range<u64>) -> Result<ByteStream> {
        let source = LocalFile(Arc::clone(&self.0));
        let pieces = futures::stream::try_unfold((source, extent), |(source, extent)| async move {
            if extent.is_empty() {
                return Ok(None);
            }
            let end = extent.end.min(extent.start + FETCH_PIECE_BYTES);
            let piece = extent.start..end;
            let bytes = source.run(move |file| file.piece(piece)).await?;
            Ok(Some((bytes, (source, end..extent.end))))
        });
        Ok(pieces.boxed())
    }

    async fn write(&self, offset: u64, bytes: Bytes) -> Result<()> {
        let write =
            move |open: &LockedFile| open.file.write_all_at(&bytes, offset).map_err(open.failed("the bytes"));
        self.run(write).await
    }

    async fn discard(&self, extent: Range<u64>) -> Result<()> {
        let (offset, len) = (extent.start, extent.end - extent.start);
        // A file system that gives no space back may leave the bytes as they are.
        self.run(move |open| open.file.punch(offset, len).map(drop).map_err(open.failed("the zeros"))).await
    }

    async fn write_zeroes(&self, extent: Range<u64>, zeroing: Zeroing) -> Result<()> {
        let (offset, len) = (extent.start, extent.end - extent.start);
        let write = move |open: &LockedFile| {
            let (file, failed) = (&open.file, || open.failed("the zeros"));
            let is_done = (!zeroing.has_space && file.punch(offset, len).map_err(failed())?)
                || file.zero_in_place(offset, len).map_err(failed())?;
            if is_done {
                return Ok(());
            }
            if zeroing.is_fast {
                return Err(slow());
            }
            file.write_zeros(offset, len).map_err(failed())
        };
        self.run(write).await
    }

    async fn flush(&self) -> Result<()> {
        self.run(|open| open.flushes.sync(&open.file)).await
    }
}

impl LockedFile {
    fn piece(&self, extent: Range<u64>) -> Result<Bytes> {
        let mut bytes = vec![0; (extent.end - extent.start) as usize];
        let read = self.file.read_exact_at(&mut bytes, extent.start);
        read.map_err(|error| file_error(&self.path, "it cannot be read", error))?;
        Ok(bytes.into())
    }

    fn failed(&self, subject: &'static str) -> impl FnOnce(std::io::Error) -> Error + '_ {
        move |error| file_error(&self.path, &format!("{subject} cannot be written"), error)
    }
}
