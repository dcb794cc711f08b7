//! The threads that fetch.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread::Thread;

use forerun_backend::{Error, ErrorKind, Result};
use futures::channel::oneshot;
use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};

use crate::driver::closed;

/// More threads than this do not make network or disk faster.
const WORKERS_MAX: usize = 8;

/// A runtime of our own, or one that was given. It may be dropped on any thread, one that runs
/// futures included: unless somebody else has the runtime, its tasks end at their next wait, and
/// nobody waits for them.
#[derive(Debug)]
pub(crate) struct Background {
    runtime: Option<Arc<Runtime>>,
    handle: Handle,
}

impl Background {
    /// On `given`, or on threads of its own.
    pub(crate) fn new(given: Option<Arc<Runtime>>) -> Result<Background> {
        let runtime = given.map_or_else(threads, Ok)?;
        Ok(Background { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs `future` on the runtime and blocks for what it brings, on any thread.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        self.handle.spawn(async move {
            // Nobody listens any more only if the thread that waits has gone.
            let _ = answer.send(future.await);
        });
        self.wait(answered)
    }

    /// Blocks the calling thread for what `answered` brings. On one of the runtime's own threads its
    /// other work moves elsewhere meanwhile, the awaited task included. A runtime without threads of
    /// its own runs meanwhile on this one.
    pub(crate) fn wait<T>(&self, answered: oneshot::Receiver<Result<T>>) -> Result<T> {
        let is_alone = self.handle.runtime_flavor() == RuntimeFlavor::CurrentThread;
        let answer = match &self.runtime {
            Some(runtime) if is_alone => runtime.block_on(answered),
            _ if Handle::try_current().is_ok_and(|current| current.id() == self.handle.id()) => {
                tokio::task::block_in_place(|| park(answered))
            }
            _ => park(answered),
        };
        answer.unwrap_or_else(|_| Err(closed()))
    }

    /// Waits for `future` on the calling thread, which runs no futures.
    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        match &self.runtime {
            Some(runtime) => runtime.block_on(future),
            None => self.handle.block_on(future),
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take().and_then(Arc::into_inner) {
            runtime.shutdown_background();
        }
    }
}

fn threads() -> Result<Arc<Runtime>> {
    let worker_count = std::thread::available_parallelism().map_or(2, |count| count.get());
    let runtime = Builder::new_multi_thread()
        .worker_threads(worker_count.clamp(2, WORKERS_MAX))
        .thread_name("forerun")
        .enable_all()
        .build();
    runtime.map(Arc::new).map_err(|error| {
        let message = format!("cannot start threads: {error}; raise the limit on threads");
        Error::new(ErrorKind::Permanent, message).with_source(error)
    })
}

/// Waits for `future` on this thread, whatever that runs: the executors of libraries refuse a thread
/// that runs futures already. `future` must not be one of tokio's, which yield to the tasks of such a
/// thread.
fn park<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Unpark>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => std::thread::park(),
        }
    }
}
