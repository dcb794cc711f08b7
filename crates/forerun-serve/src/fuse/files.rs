//! Opening and closing files.

use std::sync::{Arc, Weak};

use forerun::{ClientId, Entry, ErrorKind};
use parking_lot::Mutex;
use rustix::io::Errno;

use super::errno::report;
use super::governor::Runs;
use super::inodes::same_inode;
use super::open_file::{OpenFile, Route};
use super::protocol::{self, open_flags};
use super::tree::Tree;

impl Tree {
    pub(crate) async fn open(
        &self,
        ino: u64,
        known: &Entry,
        client: ClientId,
        is_direct: bool,
    ) -> Result<Vec<u8>, Errno> {
        let now = match self.forerun.stat(&known.path).await {
            Ok(now) if same_inode(&now, known) => now,
            // The kernel then looks the name up again, and opens the new version.
            Ok(_) => return Err(Errno::STALE),
            Err(error) => return Err(report(&error)),
        };
        if let Some(passthrough) = &self.passthrough {
            match passthrough.open(&self.forerun, ino, &now).await {
                Ok(Some(file)) => {
                    let handle = self.files.insert(OpenFile { ino, route: Route::Passed });
                    return Ok(protocol::opened(handle, open_flags::PASSTHROUGH, file.number));
                }
                Ok(None) => {}
                // As above. The kernel's next lookup must not find the old version again.
                Err(error) if matches!(error.kind, ErrorKind::Changed | ErrorKind::NotFound) => {
                    self.forerun.invalidate_metadata(&now.path);
                    return Err(Errno::STALE);
                }
                Err(error) => return Err(report(&error)),
            }
        }
        let reader = self.forerun.for_client(client).reader_of(&now);
        self.advised.apply(ino, &reader);
        let runs = (self.pusher.is_some() && !is_direct).then(|| self.runs_of(ino));
        let handle = self.files.insert(OpenFile { ino, route: Route::Engine { reader, runs } });
        // An inode is one version, so pages cached for other readers stay valid.
        Ok(protocol::opened(handle, open_flags::KEEP_CACHE, 0))
    }

    fn runs_of(&self, ino: u64) -> Arc<Mutex<Runs>> {
        let all = &mut *self.runs.lock();
        if let Some(runs) = all.get(&ino).and_then(Weak::upgrade) {
            return runs;
        }
        let runs = Arc::default();
        all.insert(ino, Arc::downgrade(&runs));
        runs
    }

    /// Forgets a file that a program has closed.
    pub(crate) fn release(&self, handle: u64) {
        let Some(file) = self.files.remove(handle) else { return };
        if let Some(passthrough) = &self.passthrough {
            passthrough.close(file.ino);
        }
        let ino = file.ino;
        drop(file);
        let all = &mut *self.runs.lock();
        if all.get(&ino).is_some_and(|runs| runs.strong_count() == 0) {
            all.remove(&ino);
        }
    }
}
