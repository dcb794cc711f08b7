//! A part of an engine's memory for clients.

use std::sync::Arc;

use forerun::{Error, ErrorKind, Forerun, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::PIECE_BYTES_MAX;

/// This part of an engine's memory may be lent to the clients of a front end at once. Fetches and readahead
/// need the rest.
const LENT_PART: u64 = 4;

/// Bytes that may be lent to all clients of a front end together. They become fewer with the memory.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    forerun: Forerun,
    bytes: usize,
    left: Arc<Semaphore>,
}

impl Pool {
    /// The part of the memory of `forerun`.
    pub(crate) fn new(forerun: &Forerun) -> Pool {
        let bytes = part_of(forerun);
        Pool { forerun: forerun.clone(), bytes, left: Arc::new(Semaphore::new(bytes)) }
    }

    /// Room for `len` bytes, at most [`PIECE_BYTES_MAX`], once there is some.
    ///
    /// # Errors
    /// [`ErrorKind::Ended`] if the server is about to end.
    pub(crate) async fn take(&self, len: u32) -> Result<OwnedSemaphorePermit> {
        let permit = Arc::clone(&self.left).acquire_many_owned(len).await;
        permit.map_err(|_| Error::new(ErrorKind::Ended, "the server is about to end"))
    }

    /// Room for `len` bytes, if there is some now.
    pub(crate) fn try_take(&self, len: u32) -> Option<OwnedSemaphorePermit> {
        let lent = self.bytes - self.left.available_permits().min(self.bytes);
        let is_within = lent + len as usize <= part_of(&self.forerun);
        is_within.then(|| Arc::clone(&self.left).try_acquire_many_owned(len).ok()).flatten()
    }
}

fn part_of(forerun: &Forerun) -> usize {
    let bytes = (forerun.memory_bytes_max() / LENT_PART).max(u64::from(PIECE_BYTES_MAX));
    usize::try_from(bytes).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use forerun::Options;
    use forerun_backend::MemoryBackend;

    #[test]
    fn less_is_lent_of_less_memory() {
        let options = Options::default().with_memory_bytes(64 << 20);
        let forerun = Forerun::over(Arc::new(MemoryBackend::new()), options).unwrap();
        let pool = Pool::new(&forerun);
        let kept: Vec<_> = (0..15).map(|_| pool.try_take(1 << 20).unwrap()).collect();
        forerun.set_memory_bytes(32 << 20);
        assert!(pool.try_take(1 << 20).is_none());
        drop(kept);
        let kept: Vec<_> = (0..8).map(|_| pool.try_take(1 << 20).unwrap()).collect();
        assert!(pool.try_take(1).is_none());
        forerun.set_memory_bytes(64 << 20);
        assert!(pool.try_take(1).is_some());
        drop(kept);
    }
}
