//! Answers to the kernel's requests, taken from the engine.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use forerun::{Entry, ErrorKind, Forerun, Kind};
use parking_lot::Mutex;
use rustix::io::Errno;

use super::advice::Advised;
use super::asked::Tally;
use super::errno::report;
use super::governor::Runs;
use super::handles::Handles;
use super::inodes::{Inodes, same_inode};
use super::listing::OpenDirectory;
use super::open_file::OpenFile;
use super::passthrough::Passthrough;
use super::protocol::{self, Attributes, Directory};
use super::push::Pusher;
use super::waits::Waits;
use crate::served::{Defaults, file_type};

/// The state behind all answers. Requests that are answered later share it.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) forerun: Forerun,
    pub(crate) inodes: Inodes,
    pub(crate) files: Handles<OpenFile>,
    pub(crate) directories: Handles<OpenDirectory>,
    pub(crate) advised: Advised,
    defaults: Defaults,
    /// How long the kernel may keep names and attributes.
    ttl: Duration,
    pub(super) tally: Arc<Tally>,
    pub(super) pusher: Option<Arc<Pusher>>,
    /// The runs of each open inode: handles share them, as they share its pages.
    pub(super) runs: Mutex<HashMap<u64, Weak<Mutex<Runs>>>>,
    /// None if the engine reads all files.
    pub(crate) passthrough: Option<Arc<Passthrough>>,
    pub(crate) waits: Arc<Waits>,
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

    /// Adds the counters of the kernel's requests, and the pusher.
    pub(crate) fn with_governor(self, tally: Arc<Tally>, pusher: Option<Arc<Pusher>>) -> Tree {
        Tree { tally, pusher, ..self }
    }

    /// Adds passthrough.
    pub(crate) fn with_passthrough(self, passthrough: Option<Arc<Passthrough>>) -> Tree {
        Tree { passthrough, ..self }
    }

    fn attributes(&self, ino: u64, entry: &Entry) -> Attributes {
        let shown = self.defaults.shown(entry);
        Attributes {
            inode: ino,
            size: entry.size,
            modified: shown.modified,
            mode: file_type(entry.kind) | shown.permissions,
            owner: shown.owner,
            // `cat` and `cp` read this many bytes at a time: fewer, larger requests.
            block_bytes: 128 << 10,
        }
    }

    pub(crate) async fn lookup(&self, parent: &Entry, path: &str) -> Result<Vec<u8>, Errno> {
        match self.forerun.stat(path).await {
            Ok(entry) => {
                let ino = self.inodes.remember(&entry);
                Ok(protocol::entry(&self.attributes(ino, &entry), self.ttl))
            }
            // Inode 0 lets the kernel remember for `ttl` that nothing is there; it ignores the
            // attributes.
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
            // The inode is an old version: programs that have it open see its old attributes.
            Ok(_) => self.attributes(ino, known),
            Err(error) if error.kind == ErrorKind::NotFound && known.kind != Kind::Directory => {
                self.attributes(ino, known)
            }
            Err(error) => return Err(report(&error)),
        };
        Ok(protocol::attributes(&shown, self.ttl))
    }

    pub(crate) async fn read_link(&self, path: &str) -> Result<Vec<u8>, Errno> {
        self.forerun.read_link(path).await.map_err(|error| report(&error))
    }

    /// The list of `directory` that `offset` refers to; a new one for offset 0.
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
