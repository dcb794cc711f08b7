//! A layer that shows one object alone.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;

use crate::{Backend, ByteStream, Entry, Error, ErrorKind, Result, TryCounts, Version, Writable, path};

/// A directory that holds one object of another backend and nothing else.
#[derive(Debug)]
pub struct Only {
    inner: Arc<dyn Backend>,
    path: String,
    name: String,
    /// The object's URL, if the other backend's URL is not it.
    url: Option<String>,
}

impl Only {
    /// A directory that shows the object `path` of `inner` as `name`.
    pub fn new(inner: Arc<dyn Backend>, path: impl Into<String>, name: impl Into<String>) -> Only {
        Only { inner, path: path.into(), name: name.into(), url: None }
    }

    /// Sets the object's own URL.
    pub fn with_url(self, url: impl Into<String>) -> Only {
        Only { url: Some(url.into()), ..self }
    }

    fn check(&self, path: &str) -> Result<()> {
        if path == self.name {
            return Ok(());
        }
        path::components(path)?;
        Err(Error::new(
            ErrorKind::NotFound,
            format!("there is nothing at {path:?}: the only file is {:?}", self.name),
        ))
    }
}

#[async_trait]
impl Backend for Only {
    fn url(&self) -> String {
        self.url.clone().unwrap_or_else(|| self.inner.url())
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        if path.is_empty() {
            return Ok(Entry::directory(""));
        }
        self.check(path)?;
        Ok(Entry { path: self.name.clone(), ..self.inner.stat(&self.path).await? })
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        if path.is_empty() {
            return Ok(vec![self.stat(&self.name).await?]);
        }
        self.check(path)?;
        Err(Error::not_a_directory(path))
    }

    fn try_counts(&self) -> TryCounts {
        self.inner.try_counts()
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        self.check(path)?;
        self.inner.read_link(&self.path).await
    }

    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        self.check(path)?;
        self.inner.fetch(&self.path, version, extent).await
    }

    async fn open_local(&self, path: &str, version: &Version) -> Result<Option<File>> {
        self.check(path)?;
        self.inner.open_local(&self.path, version).await
    }

    async fn open_writable(&self, path: &str, version: &Version) -> Result<Option<Arc<dyn Writable>>> {
        self.check(path)?;
        self.inner.open_writable(&self.path, version).await
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::{MemoryBackend, conformance};

    #[tokio::test]
    async fn one_object_under_another_name_conforms() {
        let memory = MemoryBackend::new();
        memory.replace("deep/object", vec![5; 200_000]);
        memory.replace("deep/secret", "no");
        let only = Arc::new(Only::new(Arc::new(memory), "deep/object", "shown"));
        conformance::check(only.clone(), &[("shown".to_owned(), Bytes::from(vec![5; 200_000]))]).await;
        assert_eq!(only.stat("deep/secret").await.unwrap_err().kind, ErrorKind::NotFound);
    }
}
