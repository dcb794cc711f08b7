//! Trying again.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use tokio::time::Instant;

use crate::{Backend, ByteStream, Entry, Error, ErrorKind, Result, RetryOptions, Version};

/// Tries again what met a transient error, ever more patiently. A stream that
/// breaks is resumed where it broke, in the same version, and starts counting
/// its tries anew with every byte that arrives.
#[derive(Debug)]
pub struct Retry {
    inner: Arc<dyn Backend>,
    options: RetryOptions,
}

impl Retry {
    /// `inner`, tried again as `options` say.
    pub fn new(inner: Arc<dyn Backend>, options: RetryOptions) -> Retry {
        Retry { inner, options }
    }

    async fn repeat<T, F: Future<Output = Result<T>>>(&self, ask: impl Fn() -> F) -> Result<T> {
        let mut tries = Tries::new(&self.options);
        loop {
            match ask().await {
                Ok(answer) => return Ok(answer),
                Err(error) => tries.again(error).await?,
            }
        }
    }
}

#[async_trait]
impl Backend for Retry {
    fn url(&self) -> String {
        self.inner.url()
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        self.repeat(|| self.inner.stat(path)).await
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        self.repeat(|| self.inner.list(path)).await
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        self.repeat(|| self.inner.read_link(path)).await
    }

    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        let mut fetch = Fetch {
            inner: self.inner.clone(),
            path: path.to_owned(),
            version: version.clone(),
            extent,
            body: None,
            tries: Tries::new(&self.options),
        };
        fetch.open().await?;
        Ok(futures::stream::try_unfold(fetch, Fetch::next).boxed())
    }
}

/// One fetch, across as many bodies as it takes.
struct Fetch {
    inner: Arc<dyn Backend>,
    path: String,
    version: Version,
    /// What has not arrived yet.
    extent: Range<u64>,
    body: Option<ByteStream>,
    tries: Tries,
}

impl Fetch {
    async fn open(&mut self) -> Result<()> {
        while self.body.is_none() {
            match self.inner.fetch(&self.path, &self.version, self.extent.clone()).await {
                Ok(body) => self.body = Some(body),
                Err(error) => self.again(error).await?,
            }
        }
        Ok(())
    }

    async fn next(mut self) -> Result<Option<(Bytes, Fetch)>> {
        while !self.extent.is_empty() {
            self.open().await?;
            let Some(body) = &mut self.body else { continue };
            match body.try_next().await {
                Ok(Some(piece)) if piece.is_empty() => {}
                Ok(Some(piece)) => {
                    self.extent.start += piece.len() as u64;
                    self.tries = Tries::new(&self.tries.options);
                    return Ok(Some((piece, self)));
                }
                Ok(None) => self.again(cut_short(&self.path, &self.extent)).await?,
                Err(error) => self.again(error).await?,
            }
        }
        Ok(None)
    }

    async fn again(&mut self, error: Error) -> Result<()> {
        self.body = None;
        self.tries.again(error).await
    }
}

/// A backend whose stream ended without an error before its extent did.
fn cut_short(path: &str, missing: &Range<u64>) -> Error {
    Error::new(ErrorKind::Transient, format!("{path:?}: the bytes {missing:?} did not arrive"))
}

/// The tries one request has had.
struct Tries {
    options: RetryOptions,
    count: u32,
    first: Instant,
}

impl Tries {
    fn new(options: &RetryOptions) -> Tries {
        Tries { options: options.clone(), count: 0, first: Instant::now() }
    }

    /// Waits until the next try is due.
    ///
    /// # Errors
    /// `error` itself if trying again does not help, or with what was tried if
    /// it has been tried enough.
    async fn again(&mut self, error: Error) -> Result<()> {
        if !error.is_transient() {
            return Err(error);
        }
        self.count += 1;
        let wait = self.backoff();
        if self.count >= self.options.attempts || self.first.elapsed() + wait > self.options.deadline {
            return Err(self.exhausted(&error));
        }
        tracing::debug!(%error, tries = self.count, ?wait, "trying again");
        tokio::time::sleep(wait).await;
        Ok(())
    }

    /// Half of the doubled wait is certain and half is chance, so that readers
    /// that failed together do not come back together.
    fn backoff(&self) -> Duration {
        let doublings = (self.count - 1).min(31);
        let wait = self.options.backoff_first.saturating_mul(1 << doublings).min(self.options.backoff_max);
        let chance = RandomState::new().hash_one(self.count) as u32;
        wait / 2 + wait.mul_f64(f64::from(chance) / f64::from(u32::MAX)) / 2
    }

    fn exhausted(&self, error: &Error) -> Error {
        let (tries, time) = (self.count, self.first.elapsed());
        let plural = if tries == 1 { "try" } else { "tries" };
        Error::new(
            error.kind,
            format!("{error}; gave up after {tries} {plural} in {:.1} s", time.as_secs_f64()),
        )
    }
}

#[cfg(test)]
mod tests;
