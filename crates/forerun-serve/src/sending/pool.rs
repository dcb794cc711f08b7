//! A part of an engine's memory for clients.

use std::sync::Arc;

use forerun::{Error, ErrorKind, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::PIECE_BYTES_MAX;

/// This part of an engine's memory may be lent to the clients of a front end at once. Fetches and readahead
/// need the rest.
const LENT_PART: u64 = 4;

/// Bytes that may be lent to all clients of a front end together.
#[derive(Clone, Debug)]
pub(crate) struct Pool(Arc<Semaphore>);

impl Pool {
    /// The part of an engine's memory of `memory_bytes`.
    pub(crate) fn new(memory_bytes: u64) -> Pool {
        let bytes = (memory_bytes / LENT_PART).max(u64::from(PIECE_BYTES_MAX));
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        Pool(Arc::new(Semaphore::new(bytes)))
    }

    /// Room for `len` bytes, at most [`PIECE_BYTES_MAX`], once there is some.
    ///
    /// # Errors
    /// [`ErrorKind::Ended`] if the server is about to end.
    pub(crate) async fn take(&self, len: u32) -> Result<OwnedSemaphorePermit> {
        let permit = Arc::clone(&self.0).acquire_many_owned(len).await;
        permit.map_err(|_| Error::new(ErrorKind::Ended, "the server is about to end"))
    }

    /// Room for `len` bytes, if there is some now.
    pub(crate) fn try_take(&self, len: u32) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).try_acquire_many_owned(len).ok()
    }
}
