//! The store inside, as the engine reads it.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use forerun::{Backend, ByteStream, Entry, Error, ErrorKind, Result, Version, without_secrets};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt};

use crate::error::from_store;
use crate::version::{describes, entry, strong_etag};

/// See the module's page. Directories are the prefixes that locations share.
#[derive(Debug)]
pub(crate) struct StoreBackend {
    inner: Arc<dyn ObjectStore>,
}

impl StoreBackend {
    pub(crate) fn new(inner: Arc<dyn ObjectStore>) -> StoreBackend {
        StoreBackend { inner }
    }

    /// The entries right below `path`; empty if nothing is.
    async fn children(&self, path: &str) -> Result<Vec<Entry>> {
        let prefix = location(path)?;
        let listed = self.inner.list_with_delimiter(Some(&prefix)).await;
        let listed = listed.map_err(|error| from_store(error, &prefix))?;
        let directories = listed.common_prefixes.iter().map(|prefix| Entry::directory(prefix.as_ref()));
        Ok(directories.chain(listed.objects.iter().map(|meta| entry(meta, 0))).collect())
    }
}

#[async_trait]
impl Backend for StoreBackend {
    fn url(&self) -> String {
        without_secrets(&self.inner.to_string())
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        let location = location(path)?;
        if path.is_empty() {
            return Ok(Entry::directory(path));
        }
        match self.inner.head(&location).await {
            Ok(meta) => Ok(entry(&meta, 0)),
            Err(object_store::Error::NotFound { .. }) if !self.children(path).await?.is_empty() => {
                Ok(Entry::directory(path))
            }
            Err(error) => Err(from_store(error, &location)),
        }
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        let entries = self.children(path).await?;
        if !entries.is_empty() || path.is_empty() {
            return Ok(entries);
        }
        self.stat(path).await?;
        Err(Error::new(ErrorKind::NotADirectory, format!("{path:?} in {} is an object", self.url())))
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        Err(Error::new(ErrorKind::Invalid, format!("{path:?} in {} is not a symbolic link", self.url())))
    }

    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        let location = location(path)?;
        let options = GetOptions::new()
            .with_range(Some(GetRange::Bounded(extent.clone())))
            .with_if_match(strong_etag(version));
        let got = self.inner.get_opts(&location, options).await;
        let got = got.map_err(|error| from_store(error, &location))?;
        // Not every store minds the condition.
        if !describes(version, &got.meta) {
            let message = format!("{path:?} in {} has changed; get it again", self.url());
            return Err(Error::new(ErrorKind::Changed, message));
        }
        if got.range != extent {
            let (url, sent) = (self.url(), got.range);
            let message = format!("{url} sent the bytes {sent:?} of {path:?} instead of {extent:?}");
            return Err(Error::new(ErrorKind::Permanent, message));
        }
        Ok(got.into_stream().map_err(move |error| from_store(error, &location)).boxed())
    }
}

/// Where `path` is, verbatim: `Path::parse` encodes nothing.
fn location(path: &str) -> Result<Path> {
    let invalid = |error| Error::new(ErrorKind::Invalid, format!("{path:?} is no location: {error}"));
    Path::parse(path).map_err(invalid)
}
