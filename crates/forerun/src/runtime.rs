//! The threads that fetch.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use forerun_backend::{Error, ErrorKind, Result};
use futures::channel::oneshot;
use nix::sys::signal::{SigSet, Signal};
use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};

use crate::driver::closed;

/// More threads than this do not make network or disk faster.
const WORKERS_MAX: usize = 8;

/// A runtime of our own, or one that was given. It may be dropped on any thread, also on one that runs
/// futures. Tasks of our own then end at their next wait, and nobody waits for them.
#[derive(Debug)]
pub(crate) struct Background {
    own: Option<Runtime>,
    handle: Handle,
}

impl Background {
    /// On `given`, or on threads of its own.
    pub(crate) fn new(given: Option<Handle>) -> Result<Background> {
        match given {
            Some(handle) => Ok(Background { own: None, handle }),
            None => threads().map(|own| Background { handle: own.handle().clone(), own: Some(own) }),
        }
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs `future` on the runtime. Any executor may await what it brings.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        self.handle.spawn(async move {
            // Nobody listens any more if the caller was dropped.
            let _ = answer.send(future.await);
        });
        answered.await.unwrap_or_else(|_| Err(closed()))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(own) = self.own.take() {
            own.shutdown_background();
        }
    }
}

/// Blocks the calling thread until `future` is ready, if it is not at once; tasks on `runtime` bring that.
/// On one of the runtime's own threads its other work moves elsewhere meanwhile, these tasks included.
/// `future` must not be one of tokio's, which yield to the tasks of such a thread.
///
/// # Errors
/// [`ErrorKind::Invalid`] where nobody else would make it ready.
pub(crate) fn wait<T>(runtime: Option<&Handle>, future: impl Future<Output = Result<T>>) -> Result<T> {
    let mut future = pin!(future);
    if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return result;
    }
    let current = Handle::try_current().ok();
    let ours = runtime.filter(|runtime| current.is_some_and(|current| current.id() == runtime.id()));
    match ours.map(Handle::runtime_flavor) {
        Some(RuntimeFlavor::CurrentThread) => Err(waits_for_itself()),
        Some(_) => tokio::task::block_in_place(|| park(future)),
        None => park(future),
    }
}

fn waits_for_itself() -> Error {
    let message = "the only thread of a runtime cannot block for what that runtime brings; await the call \
                   of the same name without `_blocking`";
    Error::new(ErrorKind::Invalid, message)
}

fn threads() -> Result<Runtime> {
    let worker_count = std::thread::available_parallelism().map_or(2, |count| count.get());
    let runtime = Builder::new_multi_thread()
        .worker_threads(worker_count.clamp(2, WORKERS_MAX))
        .thread_name("forerun")
        .on_thread_start(block_sigpipe)
        .enable_all()
        .build();
    runtime.map_err(|error| {
        let message = format!("cannot start threads: {error}; raise the limit on threads");
        Error::new(ErrorKind::Permanent, message).with_source(error)
    })
}

/// Lets a write to a connection that the peer has closed fail, and kill nobody. A program in Rust ignores
/// the signal from its start. One in C does not, and that choice is not ours to change.
fn block_sigpipe() {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGPIPE);
    // The kernel refuses no set.
    let _ = signals.thread_block();
}

/// Waits for `future` on this thread, whatever that runs: the executors of libraries refuse a thread
/// that runs futures already.
fn park<F: Future>(mut future: Pin<&mut F>) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Unpark>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::threads;

    /// The bit of SIGPIPE in the masks of `/proc`.
    const SIGPIPE_BIT: u64 = 1 << 12;

    fn blocks_sigpipe() -> bool {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap();
        u64::from_str_radix(mask.trim(), 16).unwrap() & SIGPIPE_BIT != 0
    }

    #[test]
    fn no_thread_of_ours_is_told_of_a_broken_pipe() {
        let runtime = threads().unwrap();
        assert!(!blocks_sigpipe());
        let own = runtime.spawn(async { blocks_sigpipe() });
        assert!(runtime.block_on(own).unwrap());
        let blocking = runtime.spawn_blocking(blocks_sigpipe);
        assert!(runtime.block_on(blocking).unwrap());
    }
}
