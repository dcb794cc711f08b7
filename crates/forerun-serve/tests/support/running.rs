//! A server on a runtime of its own, until the test ends.

use std::sync::{Mutex, mpsc};
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::oneshot;

/// A running server. It ends with this value at the latest.
pub(crate) struct Running {
    pub(crate) runtime: Option<Runtime>,
    stop: Option<oneshot::Sender<()>>,
    ended: Mutex<mpsc::Receiver<()>>,
}

impl Running {
    /// Runs the future of `serve` on `runtime`. The channel tells it when the test asks the server to end.
    pub(crate) fn start<F>(runtime: Runtime, serve: impl FnOnce(oneshot::Receiver<()>) -> F) -> Running
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = mpsc::channel();
        let serving = serve(stopped);
        runtime.spawn(async move {
            serving.await;
            let _ = end.send(());
        });
        Running { runtime: Some(runtime), stop: Some(stop), ended: Mutex::new(ended) }
    }

    /// Asks the server to end.
    pub(crate) fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Whether the server ends within `time`.
    pub(crate) fn ends_within(&self, time: Duration) -> bool {
        self.ended.lock().unwrap().recv_timeout(time).is_ok()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        // Its tasks end at their next wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
