//! Waiters for parked reads, and how each gets its answer.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use forerun_backend::Result;
use forerun_engine::{MemoryRange, ReadId};
use futures::channel::oneshot;

use super::{Driver, closed};
use crate::Lease;
use crate::reader::Handle;

/// The bytes of a parked read. Dropped unseen, they are released.
pub(crate) type Answer = Result<Lease<'static>>;

/// A task or a callback that waits. Dropped unanswered, it gets the error that Forerun closed.
pub(crate) enum Waiter {
    Task(oneshot::Sender<Answer>),
    Call(Call),
}

impl Waiter {
    /// Ends the wait. A callback runs on a runtime thread, because the calling
    /// one may be a reader with another callback on its stack.
    pub(crate) fn answer(self, driver: &Arc<Driver>, answer: Answer) {
        match self {
            // Nobody listens any more if the read was dropped meanwhile.
            Waiter::Task(task) => drop(task.send(answer)),
            Waiter::Call(call) => driver.spawn(async move { call.finish(answer) }),
        }
    }
}

/// A parked read. Dropped before its end, it ends, and what it holds is released.
#[derive(Debug)]
pub(crate) struct Wait {
    driver: Arc<Driver>,
    read: ReadId,
    answered: oneshot::Receiver<Answer>,
    is_over: bool,
}

impl Wait {
    pub(crate) fn new(driver: &Arc<Driver>, read: ReadId, answered: oneshot::Receiver<Answer>) -> Wait {
        Wait { driver: Arc::clone(driver), read, answered, is_over: false }
    }
}

impl Future for Wait {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        let answer = ready!(Pin::new(&mut self.answered).poll(context));
        self.is_over = true;
        Poll::Ready(answer.unwrap_or_else(|_| Err(closed())))
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if !self.is_over {
            // An answer that has come already is released with the channel.
            drop(self.driver.stop_waiting(self.read));
        }
    }
}

/// The callback of a submitted read.
pub(crate) type Done = Box<dyn for<'a> FnOnce(Result<Lease<'a>>) + Send>;

/// A callback that waits; dropped unanswered, it is told that Forerun closed, so
/// that every submitted read ends.
pub(crate) struct Call {
    done: Option<Done>,
    /// Set right before `done` runs.
    is_over: Arc<AtomicBool>,
    /// Keeps the object open while it is read.
    _handle: Arc<Handle>,
}

impl Call {
    pub(crate) fn new(handle: &Arc<Handle>, done: Done) -> Call {
        Call { done: Some(done), is_over: Arc::default(), _handle: Arc::clone(handle) }
    }

    /// Whether the callback runs or has run.
    pub(crate) fn is_over(&self) -> &Arc<AtomicBool> {
        &self.is_over
    }

    pub(crate) fn finish(mut self, result: Result<Lease<'_>>) {
        self.run(result);
    }

    fn run(&mut self, result: Result<Lease<'_>>) {
        if let Some(done) = self.done.take() {
            self.is_over.store(true, Ordering::Release);
            done(result);
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.run(Err(closed()));
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
