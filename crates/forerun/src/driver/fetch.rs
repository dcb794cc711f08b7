//! One fetch, from the backend's stream to the engine's memory.

use std::sync::Arc;
use std::task::Poll;

use forerun_backend::{Backend, Error, ErrorKind, Result};
use forerun_engine::{BLOCK_BYTES, Extent, Fetch, FetchId};
use futures::StreamExt;
use futures::future::{AbortRegistration, Abortable};

use super::Driver;
use super::objects::Object;
use crate::mapping::Filling;

/// Bytes of the first report of a fetch whose bytes come without a pause. Later reports follow each time
/// that they have doubled. So a report costs little beside copying the bytes, and a long fetch takes the
/// lock seldom.
const PROGRESS_BYTES_MIN: u64 = 256 << 10;

/// A fetch to start.
pub(crate) struct Start {
    pub(crate) fetch: Fetch,
    pub(crate) object: Arc<Object>,
    pub(crate) registration: AbortRegistration,
}

impl Start {
    pub(crate) fn spawn(self, driver: &Arc<Driver>) {
        let Fetch { id, extent, memory, cause, .. } = self.fetch;
        tracing::trace!(
            target: "forerun::read",
            path = &*self.object.name.path, offset = extent.offset, bytes = extent.len, ?cause, "a fetch"
        );
        let filling = driver.memory.filling(memory);
        let busy_count = driver.backend.try_counts().busy;
        let ending =
            Ending { driver: Arc::clone(driver), fetch: id, object: self.object, busy_count, ended: false };
        driver.spawn(async move {
            // Cancelled means that the backend's answer is dropped, not awaited.
            let _ = Abortable::new(run(ending, extent, filling), self.registration).await;
        });
    }
}

async fn run(mut ending: Ending, extent: Extent, mut filling: Filling) {
    let result = stream(&ending, extent, &mut filling).await;
    drop(filling);
    ending.end(result);
}

async fn stream(ending: &Ending, extent: Extent, filling: &mut Filling) -> Result<()> {
    let Ending { driver, object, .. } = ending;
    let range = extent.offset..extent.end();
    let mut pieces = driver.backend.fetch(&object.name.path, &object.name.version, range).await?;
    let mut reported_bytes = 0;
    loop {
        // Before any pause the engine knows of every byte there is.
        let next = match futures::poll!(pieces.next()) {
            Poll::Ready(next) => next,
            Poll::Pending => {
                ending.progress(filling, &mut reported_bytes, BLOCK_BYTES);
                pieces.next().await
            }
        };
        let Some(piece) = next else { break };
        if filling.append(&piece?) > 0 {
            let kind = ErrorKind::Permanent;
            return Err(wrong_length(&*driver.backend, object, extent, "more", kind));
        }
        // How the fetch ends is said at once where all of it is here.
        if filling.filled_bytes() < extent.len {
            let least = reported_bytes.max(PROGRESS_BYTES_MIN);
            ending.progress(filling, &mut reported_bytes, least);
        }
    }
    if filling.filled_bytes() < extent.len {
        return Err(wrong_length(&*driver.backend, object, extent, "fewer", ErrorKind::Transient));
    }
    Ok(())
}

fn wrong_length(
    backend: &dyn Backend,
    object: &Object,
    extent: Extent,
    what: &str,
    kind: ErrorKind,
) -> Error {
    let Extent { offset, len } = extent;
    let message = format!(
        "{} sent {what} bytes of {:?} than the {len} requested at offset {offset}; read again, and check the \
         server if this repeats",
        backend.url(),
        object.name.path,
    );
    Error::new(kind, message)
}

/// Tells the engine how the fetch ended, come what may: dropped without a
/// result, because it was cancelled or panicked, it failed.
struct Ending {
    driver: Arc<Driver>,
    fetch: FetchId,
    object: Arc<Object>,
    /// How often the backend had asked for fewer requests when the fetch began.
    busy_count: u64,
    ended: bool,
}

impl Ending {
    /// Reports what was filled since the last report, if that is `least` bytes
    /// at least.
    fn progress(&self, filling: &Filling, reported_bytes: &mut u64, least: u64) {
        let filled_bytes = filling.filled_bytes();
        if filled_bytes - *reported_bytes >= least {
            *reported_bytes = filled_bytes;
            self.driver.progress(self.fetch, filled_bytes);
        }
    }

    fn end(&mut self, result: Result<()>) {
        self.ended = true;
        let is_busy = self.driver.backend.try_counts().busy != self.busy_count;
        self.driver.end(self.fetch, &self.object, result, is_busy);
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        if !self.ended {
            let message = format!("a fetch of {:?} was stopped; read again", self.object.name.path);
            self.end(Err(Error::new(ErrorKind::Transient, message)));
        }
    }
}
