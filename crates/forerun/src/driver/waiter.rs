//! Who waits for a parked read, and how they are told.

use std::cell::RefCell;
use std::sync::Arc;

use forerun_backend::Result;
use forerun_engine::{MemoryRange, ReadId};
use futures::channel::oneshot;

use super::{Driver, closed};
use crate::Lease;
use crate::reader::Handle;

/// Where a parked read's bytes are.
pub(crate) type Answer = Result<Vec<MemoryRange>>;

/// Who waits. Dropped unanswered, it hears that Forerun closed.
pub(crate) enum Waiter {
    Thread(oneshot::Sender<Answer>),
    Call(Call),
}

impl Waiter {
    /// Ends the wait. A callback runs on a runtime thread, because the calling
    /// one may be a reader with another callback on its stack.
    pub(crate) fn answer(self, driver: &Arc<Driver>, read: ReadId, answer: Answer) {
        match self {
            // Its thread listens until then.
            Waiter::Thread(thread) => drop(thread.send(answer)),
            Waiter::Call(call) => {
                let owner = Arc::clone(driver);
                driver.spawn(async move { call.run(&owner, read, answer) });
            }
        }
    }
}

/// What runs when a submitted read is over.
pub(crate) type Done = Box<dyn for<'a> FnOnce(Result<Lease<'a>>) + Send>;

/// A callback that waits; dropped unanswered, it is told that Forerun closed, so
/// that every submitted read ends.
pub(crate) struct Call {
    done: Option<Done>,
    /// Keeps the object open while it is read.
    _handle: Arc<Handle>,
}

impl Call {
    pub(crate) fn new(handle: &Arc<Handle>, done: Done) -> Call {
        Call { done: Some(done), _handle: Arc::clone(handle) }
    }

    pub(crate) fn run(mut self, driver: &Arc<Driver>, read: ReadId, answer: Answer) {
        let Some(done) = self.done.take() else { return };
        match answer {
            Ok(ranges) => done(Ok(Lease::held(driver, read, &ranges))),
            Err(error) => done(Err(error)),
        }
    }

    pub(crate) fn finish(mut self, result: Result<Lease<'_>>) {
        if let Some(done) = self.done.take() {
            done(result);
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(done) = self.done.take() {
            done(Err(closed()));
        }
    }
}

/// Lends the calling thread's list of ranges, so that a hit allocates nothing.
/// A callback that reads in turn finds another, empty one.
pub(crate) fn with_ranges<R>(work: impl FnOnce(&mut Vec<MemoryRange>) -> R) -> R {
    thread_local!(static RANGES: RefCell<Vec<MemoryRange>> = const { RefCell::new(Vec::new()) });
    let mut ranges = RANGES.take();
    let result = work(&mut ranges);
    RANGES.set(ranges);
    result
}
