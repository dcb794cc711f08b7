//! Reads of one object.

use std::sync::Arc;

use forerun_backend::{Entry, Result};
use forerun_engine::{Advice, ClientId, Config, Extent, ReaderId};
use futures::channel::oneshot;

use crate::Lease;
use crate::driver::{Begun, Driver, Object, Wait, Waiter, with_ranges};
use crate::instance::Shared;

/// Reads one version of one object; clones read as one. The object is closed
/// when the last clone is dropped, and what was learned of it is kept for the
/// next time it is opened.
///
/// A reader never sees bytes of two versions. Once the backend has another version, the next read that
/// needs its bytes fails with [`ErrorKind::Changed`](crate::ErrorKind::Changed), and so does every later
/// read. Open the object again to read the new one.
#[derive(Clone, Debug)]
pub struct Reader {
    pub(crate) handle: Arc<Handle>,
    /// Keeps the runtime alive.
    pub(crate) shared: Arc<Shared>,
}

/// A read that was started.
pub(crate) enum Started<T> {
    Done(T),
    Waits(Wait),
}

/// An open object, to the engine one reader.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) driver: Arc<Driver>,
    pub(crate) object: Arc<Object>,
    entry: Entry,
    pub(crate) id: ReaderId,
}

impl Reader {
    pub(crate) fn new(shared: &Arc<Shared>, entry: &Entry, client: ClientId) -> Reader {
        let driver = Arc::clone(&shared.driver);
        let (object, id) = driver.open(entry, client);
        let handle = Arc::new(Handle { driver, object, entry: entry.clone(), id });
        Reader { handle, shared: Arc::clone(shared) }
    }

    /// The entry of the object, as it was when it was opened.
    pub fn entry(&self) -> &Entry {
        &self.handle.entry
    }

    /// The object's size in bytes.
    pub fn size(&self) -> u64 {
        self.handle.entry.size
    }

    /// Says how this reader, all its clones included, will read. That changes how fast
    /// reads are answered, never with what; what it says in vain is bounded.
    pub fn advise(&self, advice: Advice<'_>) {
        let Handle { driver, object, id, .. } = &*self.handle;
        driver.advise(object, *id, advice);
    }

    /// Reads from `offset` on into `buf` and says how many bytes; fewer than `buf` holds only where the
    /// object ends. Any number of tasks may read at once, on any executor. A read that is dropped ends, and
    /// holds nothing any more. Bytes that were fetched for it are kept for others.
    /// [`Reader::read_at_blocking`] does the same for threads.
    ///
    /// # Errors
    /// The backend's own error. A later read tries again, unless
    /// the object has changed.
    pub async fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize> {
        self.handle.read_at(buf, offset).await
    }

    /// Reads `len` bytes, fewer only where the object ends, without copying them: they are lent as they
    /// lie in memory. Dropping this before its end holds nothing any more.
    ///
    /// A read past [`READ_BYTES_MAX`](Config::READ_BYTES_MAX) is copied into a buffer of its own, besides
    /// the budget.
    ///
    /// # Errors
    /// As [`Reader::read_at`].
    pub async fn lease(&self, offset: u64, len: usize) -> Result<Lease<'static>> {
        self.handle.lease(self.handle.clip(offset, len)).await
    }

    /// Says that the bytes of `extent` have just changed in the object, which keeps its version: this program
    /// writes it. Bytes that were fetched before, or are being fetched, answer no read that begins after
    /// this. Store the bytes first, then call this, then acknowledge the write.
    pub fn invalidate(&self, extent: Extent) {
        let Handle { driver, object, .. } = &*self.handle;
        driver.invalidate(object, extent);
    }

    /// How many bytes of `extent` were read ahead, are in memory and were not read yet. They are counted up
    /// to the first gap, from its start, or from its end if `from_end`.
    pub fn unread_bytes(&self, extent: Extent, from_end: bool) -> u64 {
        self.handle.driver.unread_bytes(&self.handle.object, extent, from_end)
    }

    /// Shows the bytes of `extent`, at most [`READ_BYTES_MAX`](Config::READ_BYTES_MAX), to
    /// `copy` if all of them are in memory, without counting them as read. For a front end with
    /// a cache of its own, which tells with [`Reader::consume`] what its readers came for.
    pub fn peek<T>(&self, extent: Extent, copy: impl FnOnce(&Lease<'_>) -> T) -> Option<T> {
        let Handle { driver, object, .. } = &*self.handle;
        with_ranges(|ranges| {
            let loan = driver.peek(object, extent, ranges)?;
            Some(copy(&Lease::held(driver, loan, ranges)))
        })
    }

    /// Counts `extents` as read, in this order: a front end has given their bytes to a reader
    /// from a copy that it made with [`Reader::peek`].
    pub fn consume(&self, extents: &[Extent]) {
        let Handle { driver, object, id, .. } = &*self.handle;
        driver.consume(object, *id, extents);
    }
}

impl Handle {
    /// The part of the read that lies before the object's end.
    pub(crate) fn clip(&self, offset: u64, len: usize) -> Extent {
        Extent::new(offset, self.entry.size.saturating_sub(offset).min(len as u64))
    }

    async fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize> {
        let extent = self.clip(offset, buf.len());
        let buf = &mut buf[..extent.len as usize];
        let mut at = offset;
        for piece in buf.chunks_mut(Config::READ_BYTES_MAX as usize) {
            let extent = Extent::new(at, piece.len() as u64);
            if let Started::Waits(wait) = self.start(extent, |lease| lease.copy_to(piece))? {
                wait.await?.copy_to(piece);
            }
            at = extent.end();
        }
        Ok(buf.len())
    }

    pub(crate) async fn lease(&self, extent: Extent) -> Result<Lease<'static>> {
        if extent.len > Config::READ_BYTES_MAX {
            let mut bytes = vec![0; extent.len as usize];
            self.read_at(&mut bytes, extent.offset).await?;
            return Ok(Lease::gathered(bytes));
        }
        match self.start(extent, |lease| lease.into_owned())? {
            Started::Done(lease) => Ok(lease),
            Started::Waits(wait) => wait.await,
        }
    }

    /// Starts a read of `extent`, at most `READ_BYTES_MAX`. If its bytes are in memory, `hit` sees them.
    pub(crate) fn start<T>(&self, extent: Extent, hit: impl FnOnce(Lease<'_>) -> T) -> Result<Started<T>> {
        if extent.is_empty() {
            return Ok(Started::Done(hit(Lease::gathered(Vec::new()))));
        }
        let Handle { driver, object, id, .. } = self;
        with_ranges(|ranges| {
            let mut answered = None;
            let waiter = || {
                let (answer, answer_of_read) = oneshot::channel();
                answered = Some(answer_of_read);
                Waiter::Task(answer)
            };
            match (driver.read(object, *id, extent, ranges, waiter)?, answered) {
                (Begun::Waits(read), Some(answered)) => Ok(Started::Waits(Wait::new(driver, read, answered))),
                (Begun::Hit(loan), None) => Ok(Started::Done(hit(Lease::held(driver, loan, ranges)))),
                _ => unreachable!("a read that is parked, and no other, has somebody waiting"),
            }
        })
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.driver.close(&self.object, self.id);
    }
}
