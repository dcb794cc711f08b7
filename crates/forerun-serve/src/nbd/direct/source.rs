//! The engine's source of an object that is written.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use forerun::{Backend, ByteStream, Entry, Error, ErrorKind, Result, Version};

use super::super::changes::file_error;
use super::WritableObject;

/// The object, as a tree of its own.
#[derive(Clone, Debug)]
pub struct WrittenSource(pub Arc<WritableObject>);

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
        self.0.storage.fetch(extent).await
    }

    async fn open_local(&self, path: &str, _version: &Version) -> Result<Option<File>> {
        let again = self.0.file.as_ref().map(File::try_clone).transpose();
        again.map_err(|error| file_error(path.as_ref(), "it cannot be opened again", error))
    }
}
