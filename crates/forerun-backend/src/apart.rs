//! Long computations, away from the threads that serve other tasks.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Runs `work` on another thread and returns its result. A runtime of one thread runs it in place. Such a
/// runtime serves no other task meanwhile, and its tasks keep the same order in each run.
///
/// # Panics
/// If `work` panics.
pub(crate) async fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    if Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread {
        return work();
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(stopped) => match stopped.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down, and drops this task at this wait.
            Err(_) => std::future::pending().await,
        },
    }
}
