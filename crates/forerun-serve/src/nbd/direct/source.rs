//! The engine's source of a file that is written.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use forerun::{Backend, ByteStream, Entry, Error, ErrorKind, Result, Version};
use futures::StreamExt;

use super::super::changes::{file_error, on_disk};
use super::WritableFile;

/// A piece of a fetch. A reader of its first bytes does not wait for all of a large fetch.
const FETCH_PIECE_BYTES: u64 = 1 << 20;

/// The file, as a tree of one object.
#[derive(Clone, Debug)]
pub struct WrittenSource(pub Arc<WritableFile>);

impl WrittenSource {
    fn missing(&self, path: &str) -> Error {
        Error::new(ErrorKind::NotFound, format!("{path:?} is not served; only {:?} is", self.0.name()))
    }
}

#[async_trait]
impl Backend for WrittenSource {
    fn url(&self) -> String {
        self.0.url.clone()
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        if path == self.0.name() { Ok(self.0.entry.clone()) } else { Err(self.missing(path)) }
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        if path.is_empty() { Ok(vec![self.0.entry.clone()]) } else { Err(self.missing(path)) }
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        Err(self.missing(path))
    }

    async fn fetch(&self, _path: &str, _version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        let source = Arc::clone(&self.0);
        let pieces = futures::stream::try_unfold((source, extent), |(source, extent)| async move {
            if extent.is_empty() {
                return Ok(None);
            }
            let end = extent.end.min(extent.start + FETCH_PIECE_BYTES);
            let (file, piece) = (Arc::clone(&source), extent.start..end);
            let bytes = on_disk(move || file.piece(piece)).await?;
            Ok(Some((bytes, (source, end..extent.end))))
        });
        Ok(pieces.boxed())
    }

    async fn open_local(&self, _path: &str, _version: &Version) -> Result<Option<File>> {
        let again = self.0.file.try_clone();
        again.map(Some).map_err(|error| file_error(&self.0.path, "it cannot be opened again", error))
    }
}

impl WritableFile {
    fn piece(&self, extent: Range<u64>) -> Result<Bytes> {
        let mut bytes = vec![0; (extent.end - extent.start) as usize];
        let read = self.file.read_exact_at(&mut bytes, extent.start);
        read.map_err(|error| file_error(&self.path, "it cannot be read", error))?;
        Ok(bytes.into())
    }
}
