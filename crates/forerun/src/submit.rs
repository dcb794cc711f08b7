//! Reads that are answered from a callback.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forerun_backend::{Error, Result};
use forerun_engine::{Config, Extent, ReadId};

use crate::driver::{Begun, Call, Driver, Waiter, with_ranges};
use crate::reader::Handle;
use crate::{Lease, Reader};

/// A submitted read that waits for bytes. Dropping this changes nothing.
#[derive(Clone, Debug)]
pub struct Pending {
    driver: Arc<Driver>,
    read: ReadId,
    is_over: Arc<AtomicBool>,
}

impl Pending {
    /// Whether its callback has not begun.
    pub fn is_waiting(&self) -> bool {
        !self.is_over.load(Ordering::Acquire)
    }

    /// Has its callback run with `error`, soon and on one of the runtime's threads, if it still
    /// waits. The bytes that it waited for are kept for others if they come.
    pub fn give_up(self, error: Error) {
        self.driver.give_up(self.read, error);
    }
}

impl Reader {
    /// Reads `len` bytes, fewer only where the object ends, without ever
    /// blocking. On a hit `done` runs at once on the calling thread, else later on one of the runtime's. It
    /// runs exactly once, without any lock held, and may
    /// read in turn, though not block for long. If it is to run later, what is returned can end
    /// the wait.
    ///
    /// This is for front ends whose own threads take requests and answer them from a callback, as the mount
    /// does. A hit costs no task, no channel and no allocation. [`Reader::read_at`] and [`Reader::lease`]
    /// are
    /// simpler elsewhere.
    ///
    /// A read past [`READ_BYTES_MAX`](Config::READ_BYTES_MAX) is gathered piece by piece
    /// into a buffer of its own, besides the budget; its wait cannot be ended.
    pub fn submit(
        &self,
        offset: u64,
        len: usize,
        done: impl FnOnce(Result<Lease<'_>>) + Send + 'static,
    ) -> Option<Pending> {
        self.submit_for(offset, len, done, |done, result| done(result), |done| done)
    }

    /// As [`Reader::submit`], for front ends that need more to answer later than to answer at once. A hit, or an
    /// error, passes `request` to `now`. Only a read that waits has `later` make a callback of it. `later`
    /// runs with the engine's lock held, and must do no more than that.
    pub fn submit_for<T, F>(
        &self,
        offset: u64,
        len: usize,
        request: T,
        now: impl FnOnce(T, Result<Lease<'_>>),
        later: impl FnOnce(T) -> F,
    ) -> Option<Pending>
    where
        F: FnOnce(Result<Lease<'_>>) + Send + 'static,
    {
        let extent = self.handle.clip(offset, len);
        if extent.len > Config::READ_BYTES_MAX {
            let call = Call::new(&self.handle, Box::new(later(request)));
            let handle = Arc::clone(&self.handle);
            self.handle.driver.spawn(async move {
                call.finish(handle.lease(extent).await);
            });
            None
        } else {
            self.handle.submit_piece(extent, request, now, later)
        }
    }
}

impl Handle {
    fn submit_piece<T, F>(
        self: &Arc<Handle>,
        extent: Extent,
        request: T,
        now: impl FnOnce(T, Result<Lease<'_>>),
        later: impl FnOnce(T) -> F,
    ) -> Option<Pending>
    where
        F: FnOnce(Result<Lease<'_>>) + Send + 'static,
    {
        if extent.is_empty() {
            now(request, Ok(Lease::gathered(Vec::new())));
            return None;
        }
        let Handle { driver, object, id, .. } = &**self;
        let (mut request, mut is_over) = (Some(request), None);
        with_ranges(|ranges| {
            let waiter = || match request.take() {
                Some(request) => {
                    let call = Call::new(self, Box::new(later(request)));
                    is_over = Some(Arc::clone(call.is_over()));
                    Waiter::Call(call)
                }
                None => unreachable!("a read is parked once"),
            };
            let begun = driver.read(object, *id, extent, ranges, waiter);
            match (begun, request.take()) {
                (Ok(Begun::Waits(read)), _) => {
                    return is_over.map(|is_over| Pending { driver: Arc::clone(driver), read, is_over });
                }
                (Ok(Begun::Hit(loan)), Some(request)) => {
                    now(request, Ok(Lease::held(driver, loan, ranges)));
                }
                (Err(error), Some(request)) => now(request, Err(error)),
                (_, None) => unreachable!("only a parked read takes the callback"),
            }
            None
        })
    }
}
