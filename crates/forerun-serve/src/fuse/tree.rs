//! Answers to the kernel's requests, taken from the engine.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Weak};
use std::time::Duration;

use forerun::{Entry, ErrorKind, Extent, Forerun, Kind, Reader};
use fuser::{
    Errno, FileAttr, FileHandle, FopenFlags, Generation, INodeNo, ReplyAttr, ReplyData, ReplyDirectory,
    ReplyDirectoryPlus, ReplyEntry, ReplyOpen,
};
use parking_lot::Mutex;

use super::advice::Advised;
use super::asked::Tally;
use super::attr::{Defaults, file_type};
use super::errno::{report, report_read};
use super::governor::{Runs, Step, Way};
use super::handles::Handles;
use super::inode::{Inodes, same_inode};
use super::listing::OpenDirectory;
use super::passthrough::Passthrough;
use super::push::{Answer, Push, Pusher};

/// An inode number is never used for something else, so it needs no generation.
const GENERATION: Generation = Generation(0);

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
    pub(crate) fn new(forerun: Forerun, root: Entry, defaults: Defaults, ttl: Duration, hints: bool) -> Tree {
        Tree {
            forerun,
            inodes: Inodes::new(root),
            files: Handles::new(),
            directories: Handles::new(),
            advised: Advised::new(hints),
            defaults,
            ttl,
            tally: Arc::default(),
            pusher: None,
            runs: Mutex::default(),
            passthrough: None,
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

    fn attributes(&self, ino: u64, entry: &Entry) -> FileAttr {
        self.defaults.attributes(ino, entry)
    }

    pub(crate) async fn lookup(&self, parent: &Entry, path: &str, reply: ReplyEntry) {
        match self.forerun.stat(path).await {
            Ok(entry) => {
                let ino = self.inodes.remember(&entry);
                reply.entry(&self.ttl, &self.attributes(ino, &entry), GENERATION);
            }
            // Inode 0 lets the kernel remember for a while that nothing is there;
            // it does not look at the attributes.
            Err(error) if error.kind == ErrorKind::NotFound => {
                reply.entry(&self.ttl, &self.attributes(0, parent), GENERATION);
            }
            Err(error) => reply.error(report(&error)),
        }
    }

    pub(crate) async fn getattr(&self, ino: u64, known: &Entry, reply: ReplyAttr) {
        match self.forerun.stat(&known.path).await {
            Ok(now) if same_inode(&now, known) => reply.attr(&self.ttl, &self.attributes(ino, &now)),
            Ok(_) if known.kind == Kind::Directory => reply.error(Errno::ESTALE),
            // This inode is a version that is no more: whoever still has it open
            // sees what it was.
            Ok(_) => reply.attr(&self.ttl, &self.attributes(ino, known)),
            Err(error) if error.kind == ErrorKind::NotFound && known.kind != Kind::Directory => {
                reply.attr(&self.ttl, &self.attributes(ino, known));
            }
            Err(error) => reply.error(report(&error)),
        }
    }

    pub(crate) async fn open(&self, ino: u64, known: &Entry, is_direct: bool, reply: ReplyOpen) {
        let now = match self.forerun.stat(&known.path).await {
            Ok(now) if same_inode(&now, known) => now,
            // The kernel then looks the name up again, and opens what is there now.
            Ok(_) => return reply.error(Errno::ESTALE),
            Err(error) => return reply.error(report(&error)),
        };
        if let Some(passthrough) = &self.passthrough {
            match passthrough.open(&self.forerun, ino, &now, &reply).await {
                Ok(Some(file)) => {
                    let handle = self.files.insert(OpenFile { ino, route: Route::Passed });
                    return reply.opened_passthrough(handle, FopenFlags::empty(), &file);
                }
                Ok(None) => {}
                // As above, and it must not meet the old version again.
                Err(error) if matches!(error.kind, ErrorKind::Changed | ErrorKind::NotFound) => {
                    self.forerun.invalidate_metadata(&now.path);
                    return reply.error(Errno::ESTALE);
                }
                Err(error) => return reply.error(report(&error)),
            }
        }
        let reader = self.forerun.reader_of(&now);
        self.advised.tell(ino, &reader);
        let runs = (self.pusher.is_some() && !is_direct).then(|| self.runs_of(ino));
        let handle = self.files.insert(OpenFile { ino, route: Route::Engine { reader, runs } });
        // What is cached of an inode is of this version, whoever read it.
        reply.opened(handle, FopenFlags::FOPEN_KEEP_CACHE);
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
    pub(crate) fn release(&self, handle: FileHandle) {
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

    pub(crate) fn read(self: &Arc<Tree>, handle: FileHandle, offset: u64, len: usize, reply: ReplyData) {
        let Some(file) = self.files.get(handle) else { return reply.error(Errno::EBADF) };
        // Of a file that it reads itself, the kernel asks only for what a program would have
        // it read ahead. It would keep that where nobody looks.
        let Route::Engine { reader, runs } = &file.route else { return reply.error(Errno::EIO) };
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
        reader.submit(offset, len, move |result| match result {
            Ok(lease) => reply.data(&lease.to_contiguous()),
            Err(error) => {
                if matches!(error.kind, ErrorKind::Changed | ErrorKind::NotFound) {
                    // So that the next open does not meet the old version again.
                    tree.forerun.invalidate_metadata(&path);
                }
                reply.error(report_read(&error));
            }
        });
    }

    pub(crate) async fn read_link(&self, path: &str, reply: ReplyData) {
        match self.forerun.read_link(path).await {
            Ok(target) => reply.data(&target),
            Err(error) => reply.error(report(&error)),
        }
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

    pub(crate) async fn readdir(&self, directory: &OpenDirectory, offset: u64, mut reply: ReplyDirectory) {
        let list = match self.list(directory, offset).await {
            Ok(list) => list,
            Err(errno) => return reply.error(errno),
        };
        directory.fill(&list, offset, |line| {
            let ino = INodeNo(self.inodes.number_of(line.entry));
            reply.add(ino, line.next_offset, file_type(line.entry.kind), line.name)
        });
        reply.ok();
    }

    pub(crate) async fn readdirplus(
        &self,
        directory: &OpenDirectory,
        offset: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        let list = match self.list(directory, offset).await {
            Ok(list) => list,
            Err(errno) => return reply.error(errno),
        };
        directory.fill(&list, offset, |line| {
            let ino = if line.is_dot {
                self.inodes.number_of(line.entry)
            } else {
                self.inodes.remember(line.entry)
            };
            let attr = self.attributes(ino, line.entry);
            let full = reply.add(INodeNo(ino), line.next_offset, line.name, &self.ttl, &attr, GENERATION);
            if full && !line.is_dot {
                self.inodes.forget(ino, 1);
            }
            full
        });
        reply.ok();
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
        reply.data(&bytes);
    }
}
