//! Reads of one object.

use std::sync::Arc;

use forerun_backend::{Entry, Error, Result};
use forerun_engine::{Advice, Config, Extent, Outcome, ReadId, ReaderId};
use futures::channel::oneshot;

use crate::Lease;
use crate::driver::{Call, Driver, Object, Waiter, closed, with_ranges};
use crate::instance::Shared;
use crate::runtime::Background;

/// Reads one version of one object; clones read as one. The object is closed
/// when the last clone is dropped, and what was learned of it is kept for the
/// next time it is opened.
///
/// Once the backend has another version of the object, every read that needs
/// bytes from the backend, and every read after that, fails with
/// [`ErrorKind::Changed`](crate::ErrorKind::Changed): a reader never sees bytes
/// of two versions. Open the object again to read the new one.
#[derive(Clone, Debug)]
pub struct Reader {
    handle: Arc<Handle>,
    /// Keeps the runtime alive.
    shared: Arc<Shared>,
}

/// A submitted read that waits for bytes. Dropping this changes nothing.
#[derive(Clone, Debug)]
pub struct Pending {
    driver: Arc<Driver>,
    read: ReadId,
}

impl Pending {
    /// Whether it waits. If not, its callback has run or will.
    pub fn is_waiting(&self) -> bool {
        self.driver.is_waiting(self.read)
    }

    /// Has its callback run with `error`, soon and on one of the runtime's threads, if it still
    /// waits. The bytes that it waited for are kept for others if they come.
    pub fn give_up(self, error: Error) {
        self.driver.give_up(self.read, error);
    }
}

/// An open object, to the engine one reader.
#[derive(Debug)]
pub(crate) struct Handle {
    driver: Arc<Driver>,
    object: Arc<Object>,
    entry: Entry,
    id: ReaderId,
}

impl Reader {
    pub(crate) fn new(shared: &Arc<Shared>, entry: &Entry) -> Reader {
        let driver = Arc::clone(&shared.driver);
        let (object, id) = driver.open(entry);
        let handle = Arc::new(Handle { driver, object, entry: entry.clone(), id });
        Reader { handle, shared: Arc::clone(shared) }
    }

    /// What is read, as it was when it was opened.
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

    /// Reads from `offset` on into `buf` and says how many bytes; fewer than
    /// `buf` holds only where the object ends. Blocks until they are there. Any
    /// number of threads may read at once.
    ///
    /// # Errors
    /// What kept the backend from answering. A later read tries again, unless
    /// the object has changed.
    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize> {
        let extent = self.handle.clip(offset, buf.len());
        let buf = &mut buf[..extent.len as usize];
        let mut at = offset;
        for piece in buf.chunks_mut(Config::READ_BYTES_MAX as usize) {
            self.handle.read_piece(&self.shared.runtime, piece, at)?;
            at += piece.len() as u64;
        }
        Ok(buf.len())
    }

    /// Reads `len` bytes, fewer only where the object ends, without ever
    /// blocking: on a hit `done` runs at once on the calling thread, else later on
    /// one of the runtime's. It runs exactly once, without any lock held, and may
    /// read in turn, though not block for long. If it is to run later, what is returned can end
    /// the wait.
    ///
    /// A read past [`READ_BYTES_MAX`](Config::READ_BYTES_MAX) is gathered piece by piece
    /// into a buffer of its own, besides the budget; its wait cannot be ended.
    pub fn submit(
        &self,
        offset: u64,
        len: usize,
        done: impl FnOnce(Result<Lease<'_>>) + Send + 'static,
    ) -> Option<Pending> {
        let extent = self.handle.clip(offset, len);
        if extent.len > Config::READ_BYTES_MAX {
            let call = Call::new(&self.handle, Box::new(done));
            let handle = Arc::clone(&self.handle);
            self.handle.driver.spawn(async move {
                let bytes = handle.gather(extent).await;
                call.finish(bytes.map(Lease::gathered));
            });
            None
        } else {
            self.handle.submit_piece(extent, done)
        }
    }

    /// How many bytes of `extent` were read ahead, are in memory and were not read yet: without
    /// a gap from its start, or from its end if `from_end`.
    pub fn unread_bytes(&self, extent: Extent, from_end: bool) -> u64 {
        self.handle.driver.unread_bytes(&self.handle.object, extent, from_end)
    }

    /// Shows the bytes of `extent`, at most [`READ_BYTES_MAX`](Config::READ_BYTES_MAX), to
    /// `copy` if all of them are in memory, without counting them as read. For a front end with
    /// a cache of its own, which tells with [`Reader::consume`] what its readers came for.
    pub fn peek<T>(&self, extent: Extent, copy: impl FnOnce(&Lease<'_>) -> T) -> Option<T> {
        let Handle { driver, object, .. } = &*self.handle;
        with_ranges(|ranges| {
            let read = driver.peek(object, extent, ranges)?;
            Some(copy(&Lease::held(driver, read, ranges)))
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
    fn clip(&self, offset: u64, len: usize) -> Extent {
        Extent::new(offset, self.entry.size.saturating_sub(offset).min(len as u64))
    }

    /// Fills `buf`, which is not empty.
    fn read_piece(&self, runtime: &Background, buf: &mut [u8], offset: u64) -> Result<()> {
        let extent = Extent::new(offset, buf.len() as u64);
        let Handle { driver, object, id, .. } = self;
        with_ranges(|ranges| {
            let mut answered = None;
            let waiter = || {
                let (answer, answer_of_read) = oneshot::channel();
                answered = Some(answer_of_read);
                Waiter::Thread(answer)
            };
            let outcome = driver.read(object, *id, extent, ranges, waiter)?;
            if let Some(answered) = answered {
                *ranges = runtime.wait(answered)?;
            }
            let (Outcome::Ready(read) | Outcome::Parked(read)) = outcome;
            driver.memory.copy(ranges, buf);
            driver.release(read);
            Ok(())
        })
    }

    fn submit_piece(
        self: &Arc<Handle>,
        extent: Extent,
        done: impl FnOnce(Result<Lease<'_>>) + Send + 'static,
    ) -> Option<Pending> {
        if extent.is_empty() {
            done(Ok(Lease::gathered(Vec::new())));
            return None;
        }
        let Handle { driver, object, id, .. } = &**self;
        let mut done = Some(done);
        with_ranges(|ranges| {
            let waiter = || match done.take() {
                Some(done) => Waiter::Call(Call::new(self, Box::new(done))),
                None => unreachable!("a read is parked once"),
            };
            let outcome = driver.read(object, *id, extent, ranges, waiter);
            match (outcome, done.take()) {
                (Ok(Outcome::Parked(read)), _) => {
                    return Some(Pending { driver: Arc::clone(driver), read });
                }
                (Ok(Outcome::Ready(read)), Some(done)) => done(Ok(Lease::held(driver, read, ranges))),
                (Err(error), Some(done)) => done(Err(error)),
                (_, None) => unreachable!("only a parked read takes the callback"),
            }
            None
        })
    }

    /// Reads more than the engine takes at once.
    async fn gather(self: &Arc<Handle>, extent: Extent) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(extent.len as usize);
        let mut at = extent.offset;
        while at < extent.end() {
            let piece = Extent::new(at, (extent.end() - at).min(Config::READ_BYTES_MAX));
            at = piece.end();
            let (answer, answered) = oneshot::channel();
            self.submit_piece(piece, move |lease| {
                let more = lease.map(|lease| {
                    lease.slices().for_each(|slice| bytes.extend_from_slice(slice));
                    bytes
                });
                // Nobody listens any more only when Forerun is closing.
                let _ = answer.send(more);
            });
            bytes = answered.await.unwrap_or_else(|_| Err(closed()))?;
        }
        Ok(bytes)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.driver.close(&self.object, self.id);
    }
}
