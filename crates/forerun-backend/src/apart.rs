//! Work that takes long, away from the threads that serve others.

use tokio::runtime::{Handle, RuntimeFlavor};

/// The result of `work`. A runtime of one thread does it there: it promises nobody else to be served
/// meanwhile, and its tasks run in the same order each time.
///
/// # Panics
/// Where `work` does.
pub(crate) async fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    if Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread {
        return work();
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(stopped) => match stopped.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down: this task ends as well, at this wait.
            Err(_) => std::future::pending().await,
        },
    }
}
