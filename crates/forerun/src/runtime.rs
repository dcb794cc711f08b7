//! The threads that fetch.

use std::future::Future;
use std::sync::mpsc;

use forerun_backend::{Error, ErrorKind, Result};
use tokio::runtime::{Builder, Handle, Runtime};

use crate::driver::closed;

/// More threads than this do not make network or disk faster.
const WORKERS_MAX: usize = 8;

/// A runtime that may be dropped on any thread, one that runs futures included:
/// its tasks end at their next wait, and nobody waits for them.
#[derive(Debug)]
pub(crate) struct Background {
    runtime: Option<Runtime>,
    handle: Handle,
}

impl Background {
    pub(crate) fn new() -> Result<Background> {
        let worker_count = std::thread::available_parallelism().map_or(2, |count| count.get());
        let runtime = Builder::new_multi_thread()
            .worker_threads(worker_count.clamp(2, WORKERS_MAX))
            .thread_name("forerun")
            .enable_all()
            .build()
            .map_err(|error| {
                let message = format!("cannot start threads: {error}; raise the limit on threads");
                Error::new(ErrorKind::Permanent, message)
            })?;
        Ok(Background { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs `future` here and blocks for what it brings; unlike `block_on` on any
    /// thread.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = mpsc::sync_channel(1);
        self.handle.spawn(async move {
            // Nobody listens any more only if the thread that waits has gone.
            let _ = answer.send(future.await);
        });
        answered.recv().unwrap_or_else(|_| Err(closed()))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
