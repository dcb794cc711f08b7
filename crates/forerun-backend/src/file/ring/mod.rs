//! Reads past the page cache, through an io_uring of the kernel that a thread of its own serves.
//!
//! A blocking thread for each read costs twice the processor time, and many small reads at once take longer. Bytes that
//! lie in the page cache are another matter: the kernel copies them on the ring's thread, one read after the other.
//!
//! * `job.rs`: one piece, from the open to the bytes;
//! * `turns.rs`: the thread;
//! * `kernel.rs`: the operations that the kernel does.
//!
//! A ring only ever gives bytes. If anything is wrong, a blocking thread tries the same, and reports the error.
//!
//! The ring's thread asks for the versions of files. Where other machines or programs have those, an answer may take
//! long, and would hold up the reads of all other files. So only files on a block device are read through a ring.

mod job;
mod kernel;
mod turns;

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};

use bytes::Bytes;
use rustix::event::EventfdFlags;
use tokio::sync::oneshot;

pub(super) use self::job::ClosedFile;
use self::job::{FileState, Job};
use self::kernel::Kernel;
use super::read::VersionedFile;

/// The ring of a backend, from its first direct read on.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedRing(Arc<OnceLock<Option<Ring>>>);

impl SharedRing {
    /// The ring, unless the kernel gives none. `path` is for the log.
    pub(super) fn get(&self, path: &Path) -> Option<&Ring> {
        self.0.get_or_init(|| Ring::or_log(Ring::start(Kernel::new), path)).as_ref()
    }

    /// None for all reads.
    pub(super) fn none() -> SharedRing {
        SharedRing(Arc::new(OnceLock::from(None)))
    }
}

/// A ring whose thread ends some time after this is dropped, when the kernel has done what it began.
#[derive(Debug)]
pub(super) struct Ring {
    queue: Arc<Queue>,
}

impl Ring {
    /// Starts the thread of a ring that `kernel` makes.
    fn start(kernel: impl FnOnce(&File) -> io::Result<Kernel<Job>>) -> io::Result<(Ring, JoinHandle<()>)> {
        let queue = Arc::new(Queue::new()?);
        let kernel = kernel(&queue.bell)?;
        let end = ClosedAtEnd(queue.clone());
        let thread = Builder::new().name("forerun-files".into()).spawn(move || turns::run(kernel, &end.0))?;
        Ok((Ring { queue }, thread))
    }

    fn or_log(started: io::Result<(Ring, JoinHandle<()>)>, path: &Path) -> Option<Ring> {
        match started {
            Ok((ring, _thread)) => Some(ring),
            Err(error) => {
                tracing::info!(
                    target: "forerun::store", path = %path.display(), %error,
                    "the kernel gives no io_uring: threads read the files"
                );
                None
            }
        }
    }

    /// Opens `file`, and reads the first piece of `extent`. None if anything is wrong.
    pub(super) async fn begin(
        &self,
        file: ClosedFile,
        extent: &Range<u64>,
    ) -> Option<(Arc<VersionedFile>, Bytes)> {
        self.piece(FileState::Closed(Box::new(file)), extent.start, extent.end).await
    }

    /// The bytes of `file` from `offset` to `end`, or fewer. None if anything is wrong.
    pub(super) async fn read(&self, file: Arc<VersionedFile>, offset: u64, end: u64) -> Option<Bytes> {
        Some(self.piece(FileState::Open(file), offset, end).await?.1)
    }

    async fn piece(&self, state: FileState, offset: u64, end: u64) -> Option<(Arc<VersionedFile>, Bytes)> {
        let (answer, answered) = oneshot::channel();
        self.queue.push(Job { state, offset, end, answer });
        answered.await.ok()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// Jobs on their way to the thread.
#[derive(Debug)]
struct Queue {
    /// None if no more are taken.
    waiting: Mutex<Option<VecDeque<Job>>>,
    /// An eventfd. A job that comes alone rings it, and so do the kernel and the end.
    bell: File,
}

impl Queue {
    fn new() -> io::Result<Queue> {
        let bell = rustix::event::eventfd(0, EventfdFlags::CLOEXEC)?;
        Ok(Queue { waiting: Mutex::new(Some(VecDeque::new())), bell: bell.into() })
    }

    fn waiting(&self) -> MutexGuard<'_, Option<VecDeque<Job>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, job: Job) {
        let mut waiting = self.waiting();
        let Some(jobs) = waiting.as_mut() else { return };
        jobs.push_back(job);
        if jobs.len() == 1 {
            self.ring_bell();
        }
    }

    fn close(&self) {
        *self.waiting() = None;
        self.ring_bell();
    }

    fn ring_bell(&self) {
        // An eventfd refuses only when it has been rung 2^64 times.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }

    /// All jobs that wait. None if no more will come.
    fn take(&self) -> Option<VecDeque<Job>> {
        self.waiting().as_mut().map(std::mem::take)
    }

    /// Waits until jobs wait, the kernel has done something, or no more jobs will come. Or for less.
    fn wait(&self) {
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
    }
}

/// Closes a queue when its thread ends, for whatever reason: nobody waits for it in vain.
struct ClosedAtEnd(Arc<Queue>);

impl Drop for ClosedAtEnd {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests;
