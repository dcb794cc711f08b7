//! A layer that retries.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use tokio::time::Instant;

use crate::bounds::{PROGRESS_BYTES_MIN, Pace};
use crate::tries::{Retries, Tries};
use crate::{
    Backend, ByteStream, Entry, Error, ErrorKind, Result, RetryOptions, TryCounts, Version, Writable,
};

/// Retries requests after transient errors, with growing pauses. A stream that breaks or stalls is
/// resumed where it broke, in the same version. Its count of tries restarts with each 4 KiB that
/// arrive. During an outage one request at a time probes whether the store is back.
#[derive(Debug)]
pub struct Retry {
    inner: Arc<dyn Backend>,
    retries: Arc<Retries>,
}

impl Retry {
    /// `inner`, with retries as `options` say.
    pub fn new(inner: Arc<dyn Backend>, options: RetryOptions) -> Retry {
        Retry::sharing(inner, Retries::new(options))
    }

    /// Shares `retries` with `inner`, which itself retries some requests.
    pub(crate) fn sharing(inner: Arc<dyn Backend>, retries: Arc<Retries>) -> Retry {
        Retry { inner, retries }
    }
}

#[async_trait]
impl Backend for Retry {
    fn url(&self) -> String {
        self.inner.url()
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        self.retries.repeat(|| self.inner.stat(path)).await
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        self.retries.repeat(|| self.inner.list(path)).await
    }

    async fn list_within(&self, path: &str, entries_max: usize) -> Result<Option<Vec<Entry>>> {
        self.retries.repeat(|| self.inner.list_within(path, entries_max)).await
    }

    fn has_whole_lists(&self) -> bool {
        self.inner.has_whole_lists()
    }

    fn try_counts(&self) -> TryCounts {
        self.retries.counts()
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        self.retries.repeat(|| self.inner.read_link(path)).await
    }

    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        let mut fetch = Fetch {
            inner: self.inner.clone(),
            path: path.to_owned(),
            version: version.clone(),
            extent,
            body: None,
            pace: Pace::default(),
            came: 0,
            tries: self.retries.begin(),
        };
        fetch.open().await?;
        Ok(futures::stream::try_unfold(fetch, Fetch::next).boxed())
    }

    async fn open_local(&self, path: &str, version: &Version) -> Result<Option<File>> {
        self.retries.repeat(|| self.inner.open_local(path, version)).await
    }

    async fn open_writable(&self, path: &str, version: &Version) -> Result<Option<Arc<dyn Writable>>> {
        self.retries.repeat(|| self.inner.open_writable(path, version)).await
    }
}

/// One fetch, across all its bodies.
struct Fetch {
    inner: Arc<dyn Backend>,
    path: String,
    version: Version,
    /// The extent that has not arrived yet.
    extent: Range<u64>,
    body: Option<ByteStream>,
    pace: Pace,
    /// Bytes since the count of tries restarted.
    came: u64,
    tries: Tries,
}

impl Fetch {
    async fn open(&mut self) -> Result<()> {
        while self.body.is_none() {
            match self.inner.fetch(&self.path, &self.version, self.extent.clone()).await {
                Ok(body) => {
                    self.body = Some(body);
                    self.tries.answered();
                }
                Err(error) => self.again(error).await?,
            }
        }
        Ok(())
    }

    async fn next(mut self) -> Result<Option<(Bytes, Fetch)>> {
        while !self.extent.is_empty() {
            self.open().await?;
            let Some(body) = &mut self.body else { continue };
            let asked = Instant::now();
            match body.try_next().await {
                Ok(Some(piece)) if piece.is_empty() => {}
                Ok(Some(piece)) => {
                    self.arrived(asked.elapsed(), piece.len());
                    return Ok(Some((piece, self)));
                }
                Ok(None) => self.again(cut_short(&self.path, &self.extent)).await?,
                Err(error) => self.again(error).await?,
            }
        }
        Ok(None)
    }

    fn arrived(&mut self, waited: Duration, bytes: usize) {
        self.extent.start += bytes as u64;
        self.came += bytes as u64;
        if self.came >= PROGRESS_BYTES_MIN {
            self.came = 0;
            self.tries.reset();
        }
        if !self.pace.keeps_up(waited, bytes) {
            self.body = Some(futures::stream::iter([Err(too_slow(&self.path))]).boxed());
        }
    }

    async fn again(&mut self, error: Error) -> Result<()> {
        self.body = None;
        self.tries.again(error).await
    }
}

/// The error for a body that stalls.
fn too_slow(path: &str) -> Error {
    Error::new(ErrorKind::Transient, format!("{path:?}: the server sends it too slowly"))
}

/// The error for a stream that ends early without an error of its own.
fn cut_short(path: &str, missing: &Range<u64>) -> Error {
    Error::new(ErrorKind::Transient, format!("{path:?}: the bytes {missing:?} did not arrive"))
}

#[cfg(test)]
mod tests;
