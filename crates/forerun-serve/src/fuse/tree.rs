//! Answers to the kernel's requests, taken from the engine.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Weak};
use std::time::Duration;

use forerun::{Entry, ErrorKind, Extent, Forerun, Kind, Reader};
use parking_lot::Mutex;
use rustix::io::Errno;

use super::advice::Advised;
use super::asked::Tally;
use super::attr::{Defaults, file_type};
use super::errno::{report, report_read};
use super::governor::{Runs, Step, Way};
use super::handles::Handles;
use super::inodes::{Inodes, same_inode};
use super::listing::OpenDirectory;
use super::passthrough::Passthrough;
use super::protocol::{self, Attributes, Directory, open_flags};
use super::push::{Answer, Push, Pusher};
use super::session::Reply;
use super::waits::{Asker, Waits};

/// What requests are answered from; shared with those that are answered later.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) forerun: Forerun,
    pub(crate) inodes: Inodes,
    pub(crate) files: Handles<OpenFile>,
    pub(crate) directories: Handles<OpenDirectory>,
    pub(crate) advised: Advised,
    defaults: Defaults,
    /// How long the kernel may keep what it is told.
    ttl: Duration,
    tally: Arc<Tally>,
    pusher: Option<Arc<Pusher>>,
    /// The runs of each inode that is open: handles share them as they share its pages.
    runs: Mutex<HashMap<u64, Weak<Mutex<Runs>>>>,
    /// Nothing if all is to be read through the engine.
    pub(crate) passthrough: Option<Arc<Passthrough>>,
    pub(crate) waits: Arc<Waits>,
}

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
    /// `hints` says whether attributes are answered.
    pub(crate) fn new(
        forerun: Forerun,
        root: Entry,
        defaults: Defaults,
        ttl: Duration,
        hints: bool,
        waits: Arc<Waits>,
    ) -> Tree {
        Tree {
            forerun,
            inodes: Inodes::new(&root),
            files: Handles::new(),
            directories: Handles::new(),
            advised: Advised::new(hints),
            defaults,
            ttl,
            tally: Arc::default(),
            pusher: None,
            runs: Mutex::default(),
            passthrough: None,
            waits,
        }
    }

    /// The same, counting what the kernel asks for and pushing what it will ask for.
    pub(crate) fn with_governor(self, tally: Arc<Tally>, pusher: Option<Arc<Pusher>>) -> Tree {
        Tree { tally, pusher, ..self }
    }

    /// The same, with files that the kernel reads itself where that is possible.
    pub(crate) fn with_passthrough(self, passthrough: Option<Arc<Passthrough>>) -> Tree {
        Tree { passthrough, ..self }
    }

    fn attributes(&self, ino: u64, entry: &Entry) -> Attributes {
        self.defaults.attributes(ino, entry)
    }

    pub(crate) async fn lookup(&self, parent: &Entry, path: &str) -> Result<Vec<u8>, Errno> {
        match self.forerun.stat(path).await {
            Ok(entry) => {
                let ino = self.inodes.remember(&entry);
                Ok(protocol::entry(&self.attributes(ino, &entry), self.ttl))
            }
            // Inode 0 lets the kernel remember for a while that nothing is there;
            // it does not look at the attributes.
            Err(error) if error.kind == ErrorKind::NotFound => {
                Ok(protocol::entry(&self.attributes(0, parent), self.ttl))
            }
            Err(error) => Err(report(&error)),
        }
    }

    pub(crate) async fn getattr(&self, ino: u64, known: &Entry) -> Result<Vec<u8>, Errno> {
        let shown = match self.forerun.stat(&known.path).await {
            Ok(now) if same_inode(&now, known) => self.attributes(ino, &now),
            Ok(_) if known.kind == Kind::Directory => return Err(Errno::STALE),
            // This inode is a version that is no more: whoever still has it open
            // sees what it was.
            Ok(_) => self.attributes(ino, known),
            Err(error) if error.kind == ErrorKind::NotFound && known.kind != Kind::Directory => {
                self.attributes(ino, known)
            }
            Err(error) => return Err(report(&error)),
        };
        Ok(protocol::attributes(&shown, self.ttl))
    }

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

    pub(crate) async fn read_link(&self, path: &str) -> Result<Vec<u8>, Errno> {
        self.forerun.read_link(path).await.map_err(|error| report(&error))
    }

    /// The list of `directory` that `offset` refers to: a new one from the start.
    async fn list(&self, directory: &OpenDirectory, offset: u64) -> Result<Arc<[Entry]>, Errno> {
        if offset > 0
            && let Some(list) = directory.list()
        {
            return Ok(list);
        }
        let list = self.forerun.list(directory.path()).await.map_err(|error| report(&error))?;
        directory.set_list(list.clone());
        Ok(list)
    }

    pub(crate) async fn readdir(
        &self,
        directory: &OpenDirectory,
        offset: u64,
        size: u32,
    ) -> Result<Vec<u8>, Errno> {
        let list = self.list(directory, offset).await?;
        let mut lines = Directory::new(size);
        directory.fill(&list, offset, |line| {
            let ino = self.inodes.number_of(line.entry);
            lines.add(ino, line.next_offset, file_type(line.entry.kind), line.name)
        });
        Ok(lines.into_bytes())
    }

    pub(crate) async fn readdirplus(
        &self,
        directory: &OpenDirectory,
        offset: u64,
        size: u32,
    ) -> Result<Vec<u8>, Errno> {
        let list = self.list(directory, offset).await?;
        let mut lines = Directory::new(size);
        directory.fill(&list, offset, |line| {
            let ino = if line.is_dot {
                self.inodes.number_of(line.entry)
            } else {
                self.inodes.remember(line.entry)
            };
            let attributes = self.attributes(ino, line.entry);
            let has_room = lines.add_with_attributes(&attributes, self.ttl, line.next_offset, line.name);
            if !has_room && !line.is_dot {
                self.inodes.forget(ino, 1);
            }
            has_room
        });
        Ok(lines.into_bytes())
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
