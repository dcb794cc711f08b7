//! Flushes: one at a time, each for all writes that have ended before it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use forerun::{Error, ErrorKind, Result};
use tokio::sync::Mutex;

use super::{ChangedFile, file_error, to_its_end};

/// The order of writes and flushes of one file.
#[derive(Debug)]
pub(in super::super) struct Flushes {
    path: PathBuf,
    /// Writes that have ended, and how many of these last.
    written: AtomicU64,
    flushed: AtomicU64,
    turn: Arc<Mutex<()>>,
    /// Bytes that were written are lost.
    lost: OnceLock<Error>,
}

impl Flushes {
    /// Of the file `path`.
    pub(in super::super) fn new(path: PathBuf) -> Arc<Flushes> {
        let (written, flushed) = (AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Flushes { path, written, flushed, turn: Arc::default(), lost: OnceLock::new() })
    }

    /// Counts a write that has ended, before it is answered.
    pub(in super::super) fn count_write(&self) {
        self.written.fetch_add(1, Ordering::SeqCst);
    }

    /// Fails once bytes are lost.
    pub(in super::super) fn check(&self) -> Result<()> {
        self.lost.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Makes all writes last that were counted, by `work`, unless they do already. Flushes that wait for
    /// another share the next one.
    pub(in super::super) async fn flush(
        self: &Arc<Flushes>,
        work: impl Future<Output = Result<()>> + Send + 'static,
    ) -> Result<()> {
        let wanted = self.written.load(Ordering::SeqCst);
        let turn = Arc::clone(&self.turn).lock_owned().await;
        self.check()?;
        if self.flushed.load(Ordering::SeqCst) >= wanted {
            return Ok(());
        }
        let flushes = Arc::clone(self);
        to_its_end(async move {
            // A flush that nobody waits for any more keeps its turn to its end.
            let _turn = turn;
            let covered = flushes.written.load(Ordering::SeqCst);
            work.await?;
            flushes.flushed.store(covered, Ordering::SeqCst);
            Ok(())
        })
        .await
    }

    /// Waits until the bytes of `file` last. If that fails, the system may have dropped some of them, and
    /// would not tell again: all later writes and flushes fail.
    pub(in super::super) fn sync(&self, file: &ChangedFile) -> Result<()> {
        file.sync_data().map_err(|error| {
            let failed = "the disk did not take bytes that were written, and no more are written until \
                          this server is started again";
            let error = file_error(&self.path, failed, error);
            let lost = Error::new(ErrorKind::Permanent, error.message.clone());
            let _ = self.lost.set(lost);
            error
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex as Counter;

    use super::*;

    #[tokio::test]
    async fn a_flush_without_writes_does_nothing_and_one_serves_all_that_wait() {
        let flushes = Flushes::new("a".into());
        let runs = Arc::new(Counter::new(0));
        let run = || {
            let runs = Arc::clone(&runs);
            async move {
                *runs.lock().unwrap() += 1;
                Ok(())
            }
        };
        flushes.flush(run()).await.unwrap();
        assert_eq!(*runs.lock().unwrap(), 0);
        flushes.count_write();
        let turn = Arc::clone(&flushes.turn).lock_owned().await;
        let waiting = futures::future::join_all((0..9).map(|_| flushes.flush(run())));
        let release = async { drop(turn) };
        let (done, ()) = futures::join!(waiting, release);
        assert!(done.iter().all(Result::is_ok));
        assert_eq!(*runs.lock().unwrap(), 1);
    }

    #[tokio::test]
    async fn a_write_during_a_flush_waits_for_the_next() {
        let flushes = Flushes::new("a".into());
        flushes.count_write();
        let during = Arc::clone(&flushes);
        flushes
            .flush(async move {
                during.count_write();
                Ok(())
            })
            .await
            .unwrap();
        let done = flushes.flush(async { Err(Error::new(ErrorKind::Permanent, "it ran")) }).await;
        assert_eq!(done.unwrap_err().message, "it ran", "the write came after the flush began");
        assert!(flushes.check().is_ok(), "nothing is lost: the next flush may succeed");
    }
}
