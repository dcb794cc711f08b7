//! The calls for threads: each blocks until the call of the same name without `_blocking` is ready.
//!
//! Any thread may block, one that runs futures included. [`Options::runtime`] says which thread may not.

use std::future::Future;
use std::sync::Arc;

use forerun_backend::{Entry, Result};

use crate::runtime::wait;
use crate::{Forerun, Lease, Options, Part, Reader};

/// As [`open`](crate::open), for threads.
///
/// # Errors
/// As [`open`](crate::open).
pub fn open_blocking(url: &str) -> Result<Reader> {
    let forerun = Forerun::connect_blocking(url, Options::default())?;
    forerun.open_blocking(forerun.single(url)?)
}

impl Forerun {
    /// As [`Forerun::connect`], for threads.
    ///
    /// # Errors
    /// As [`Forerun::connect`].
    pub fn connect_blocking(url: &str, options: Options) -> Result<Forerun> {
        let runtime = options.runtime.clone();
        wait(runtime.as_ref(), Forerun::connect(url, options))
    }

    /// As [`Forerun::stat`], for threads.
    ///
    /// # Errors
    /// As [`Forerun::stat`].
    pub fn stat_blocking(&self, path: &str) -> Result<Entry> {
        let (forerun, path) = (self.clone(), path.to_owned());
        self.wait(async move { forerun.stat(&path).await })
    }

    /// As [`Forerun::list`], for threads.
    ///
    /// # Errors
    /// As [`Forerun::list`].
    pub fn list_blocking(&self, path: &str) -> Result<Arc<[Entry]>> {
        let (forerun, path) = (self.clone(), path.to_owned());
        self.wait(async move { forerun.list(&path).await })
    }

    /// As [`Forerun::read_link`], for threads.
    ///
    /// # Errors
    /// As [`Forerun::read_link`].
    pub fn read_link_blocking(&self, path: &str) -> Result<Vec<u8>> {
        let (forerun, path) = (self.clone(), path.to_owned());
        self.wait(async move { forerun.read_link(&path).await })
    }

    /// As [`Forerun::open`], for threads.
    ///
    /// # Errors
    /// As [`Forerun::open`].
    pub fn open_blocking(&self, path: &str) -> Result<Reader> {
        let (forerun, path) = (self.clone(), path.to_owned());
        self.wait(async move { forerun.open(&path).await })
    }

    /// As [`Forerun::prefetch`], for threads.
    ///
    /// # Errors
    /// As [`Forerun::prefetch`].
    pub fn prefetch_blocking(&self, parts: &[Part]) -> Result<usize> {
        let (forerun, parts) = (self.clone(), parts.to_owned());
        self.wait(async move { forerun.prefetch(&parts).await })
    }

    /// Runs `future` as a task, because tokio's own futures may not be awaited on a thread that blocks.
    fn wait<T: Send + 'static>(&self, future: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
        let runtime = &self.shared.runtime;
        wait(Some(runtime.handle()), runtime.run(future))
    }
}

impl Reader {
    /// As [`Reader::read_at`], for threads; any number of them may read at once.
    ///
    /// # Errors
    /// As [`Reader::read_at`].
    pub fn read_at_blocking(&self, buf: &mut [u8], offset: u64) -> Result<usize> {
        wait(Some(self.shared.runtime.handle()), self.read_at(buf, offset))
    }

    /// As [`Reader::lease`], for threads.
    ///
    /// # Errors
    /// As [`Reader::lease`].
    pub fn lease_blocking(&self, offset: u64, len: usize) -> Result<Lease<'static>> {
        wait(Some(self.shared.runtime.handle()), self.lease(offset, len))
    }
}
