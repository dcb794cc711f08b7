//! Opening and closing files, and the answers to their reads.

use std::ops::Range;
use std::sync::{Arc, Weak};

use forerun::{ClientId, Entry, Error, ErrorKind, Extent, Lease};
use parking_lot::Mutex;
use rustix::io::Errno;

use super::errno::{report, report_read};
use super::governor::{Runs, Step, Way};
use super::inodes::same_inode;
use super::open_file::{OpenFile, Route};
use super::protocol::{self, open_flags};
use super::push::{Push, Pusher, ReadyRead};
use super::session::Reply;
use super::tree::Tree;
use super::waits::Asker;

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

    pub(crate) fn read(self: &Arc<Tree>, asker: Asker, handle: u64, offset: u64, len: usize, reply: Reply) {
        let Some(file) = self.files.get(handle) else { return reply.error(Errno::BADF) };
        // The kernel reads this file itself. It sends a READ only for `readahead` calls of a
        // program, and would keep the bytes in pages that nobody reads.
        let Route::Engine { reader, runs } = &file.route else { return reply.error(Errno::IO) };
        self.tally.add_read(len as u64);
        tracing::trace!(target: "forerun::mount", path = &*reader.entry().path, offset, bytes = len, "a read");
        let step = runs.as_ref().map(|runs| runs.lock().read(&(offset..offset + len as u64), reader.size()));
        let Step { passed, room } = step.unwrap_or_default();
        let mut passed: Vec<_> = passed.iter().map(|range| Extent::between(range.start, range.end)).collect();
        if let (Some(pusher), Some(room)) = (&self.pusher, room) {
            let read = Extent::new(offset, len as u64);
            if let Some(bytes) = reader.peek(read, |lease| lease.to_contiguous().into_owned()) {
                passed.push(read);
                reader.consume(&passed);
                let extent = offset..offset + len as u64;
                return push_ahead(pusher, &file, &room, ReadyRead { ino: file.ino, extent, reply, bytes });
            }
        }
        if !passed.is_empty() {
            reader.consume(&passed);
        }
        let unique = asker.unique;
        let pending = reader.submit_for(
            offset,
            len,
            reply,
            |reply, result| self.answer_read(&reader.entry().path, reply, result),
            |reply| {
                let (tree, path) = (self.clone(), reader.entry().path.clone());
                move |result| {
                    tree.waits.remove(unique);
                    tree.answer_read(&path, reply, result);
                }
            },
        );
        if let Some(pending) = pending {
            self.waits.add_read(asker, pending);
        }
    }

    fn answer_read(&self, path: &str, reply: Reply, result: Result<Lease<'_>, Error>) {
        match result {
            Ok(lease) => reply.pieces(lease.slices()),
            Err(error) => {
                if matches!(error.kind, ErrorKind::Changed | ErrorKind::NotFound) {
                    // So that the next open does not meet the old version again.
                    self.forerun.invalidate_metadata(path);
                }
                reply.error(report_read(&error));
            }
        }
    }
}

/// Pushes the readahead in `room` that is in memory into the page cache of `ino`. The READ beside
/// it is answered after the first push.
fn push_ahead(pusher: &Pusher, file: &OpenFile, room: &(Range<u64>, Way), answer: ReadyRead) {
    let mut answer = Some(answer);
    if let Route::Engine { reader, runs: Some(runs) } = &file.route {
        let (room, way) = room;
        let unread_bytes = reader.unread_bytes(Extent::between(room.start, room.end), *way == Way::Down);
        let extents = runs.lock().push(room, *way, unread_bytes);
        for extent in extents {
            pusher.push(Push { ino: file.ino, reader: reader.clone(), extent });
            answer.take().into_iter().for_each(|answer| pusher.answer(answer));
        }
    }
    // Nothing was pushed.
    if let Some(ReadyRead { reply, bytes, .. }) = answer {
        reply.bytes(&bytes);
    }
}

#[cfg(test)]
mod tests;
