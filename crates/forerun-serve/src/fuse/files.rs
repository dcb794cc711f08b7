//! Open files: how each is read, and the answers to its reads.

use std::ops::Range;
use std::sync::{Arc, Weak};

use forerun::{Entry, ErrorKind, Extent, Reader};
use parking_lot::Mutex;
use rustix::io::Errno;

use super::errno::{report, report_read};
use super::governor::{Runs, Step, Way};
use super::inodes::same_inode;
use super::protocol::{self, open_flags};
use super::push::{Answer, Push, Pusher};
use super::session::Reply;
use super::tree::Tree;
use super::waits::Asker;

/// A file that is open.
#[derive(Debug)]
pub(crate) struct OpenFile {
    ino: u64,
    route: Route,
}

/// How an open file is read.
#[derive(Debug)]
enum Route {
    /// Through the engine.
    Engine {
        reader: Reader,
        /// The runs of its inode, unless it passes the page cache by.
        runs: Option<Arc<Mutex<Runs>>>,
    },
    /// By the kernel itself.
    Passed,
}

impl OpenFile {
    /// Who reads it through the engine, if it is read that way.
    pub(crate) fn reader(&self) -> Option<&Reader> {
        match &self.route {
            Route::Engine { reader, .. } => Some(reader),
            Route::Passed => None,
        }
    }
}

impl Tree {
    pub(crate) async fn open(&self, ino: u64, known: &Entry, is_direct: bool) -> Result<Vec<u8>, Errno> {
        let now = match self.forerun.stat(&known.path).await {
            Ok(now) if same_inode(&now, known) => now,
            // The kernel then looks the name up again, and opens what is there now.
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
                // As above, and it must not meet the old version again.
                Err(error) if matches!(error.kind, ErrorKind::Changed | ErrorKind::NotFound) => {
                    self.forerun.invalidate_metadata(&now.path);
                    return Err(Errno::STALE);
                }
                Err(error) => return Err(report(&error)),
            }
        }
        let reader = self.forerun.reader_of(&now);
        self.advised.tell(ino, &reader);
        let runs = (self.pusher.is_some() && !is_direct).then(|| self.runs_of(ino));
        let handle = self.files.insert(OpenFile { ino, route: Route::Engine { reader, runs } });
        // What is cached of an inode is of this version, whoever read it.
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

    /// A program has closed a file.
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
        // Of a file that it reads itself, the kernel asks only for what a program would have
        // it read ahead. It would keep that where nobody looks.
        let Route::Engine { reader, runs } = &file.route else { return reply.error(Errno::IO) };
        self.tally.add_read(len as u64);
        let step = runs.as_ref().map(|runs| runs.lock().read(&(offset..offset + len as u64), reader.size()));
        let Step { passed, room } = step.unwrap_or_default();
        let mut passed: Vec<_> = passed.iter().map(|range| Extent::between(range.start, range.end)).collect();
        if let (Some(pusher), Some(room)) = (&self.pusher, room) {
            let read = Extent::new(offset, len as u64);
            if let Some(bytes) = reader.peek(read, |lease| lease.to_contiguous().into_owned()) {
                passed.push(read);
                reader.consume(&passed);
                let extent = offset..offset + len as u64;
                return push_ahead(pusher, &file, &room, Answer { ino: file.ino, extent, reply, bytes });
            }
        }
        if !passed.is_empty() {
            reader.consume(&passed);
        }
        let tree = self.clone();
        let path = reader.entry().path.clone();
        let pending = reader.submit(offset, len, move |result| {
            tree.waits.remove(asker.unique);
            match result {
                Ok(lease) => reply.bytes(&lease.to_contiguous()),
                Err(error) => {
                    if matches!(error.kind, ErrorKind::Changed | ErrorKind::NotFound) {
                        // So that the next open does not meet the old version again.
                        tree.forerun.invalidate_metadata(&path);
                    }
                    reply.error(report_read(&error));
                }
            }
        });
        if let Some(pending) = pending {
            self.waits.add_read(asker, pending);
        }
    }
}

/// Has the readahead in `room` put into the page cache of `ino`, as far as it is in memory. The
/// READ beside it is answered after the first push.
fn push_ahead(pusher: &Pusher, file: &OpenFile, room: &(Range<u64>, Way), answer: Answer) {
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
    if let Some(Answer { reply, bytes, .. }) = answer {
        reply.bytes(&bytes);
    }
}
