//! The buckets of a server. Each has the objects of one URL.

use std::sync::Arc;
use std::time::Instant;

use forerun::{ClientId, Entry, Error, ErrorKind, Forerun, Kind, Reader, Result};

use super::kept::{KEPT_TIME, KeptReaders};
use super::names::{is_name, is_path};
use crate::sending::{Lent, Pool};

/// The longest name of a bucket, which is also a directory of NFS.
const NAME_BYTES_MAX: usize = 255;

/// The buckets by name. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Buckets {
    buckets: Vec<Arc<Bucket>>,
}

/// The objects of one URL.
#[derive(Debug)]
pub(crate) struct Bucket {
    pub(crate) name: String,
    pub(crate) forerun: Forerun,
    /// Memory for answers of HTTP, which a client may hold for long.
    pub(crate) answers: Pool,
    /// Memory for replies of NFS, which give it back soon.
    replies: Pool,
    /// It reads nothing.
    kept: KeptReaders,
}

impl Buckets {
    /// Adds the objects of `forerun` as the bucket `name`.
    ///
    /// # Errors
    /// If a bucket is called so already, or if no directory can be.
    pub fn add(&mut self, name: &str, forerun: Forerun) -> std::result::Result<(), String> {
        if !is_name(name, NAME_BYTES_MAX) {
            return Err(format!(
                "no bucket can be called {name:?}: give one that a directory can have, as in NAME=URL"
            ));
        }
        if self.get(name).is_some() {
            return Err(format!("two buckets are called {name:?}: give one another name, as in NAME=URL"));
        }
        let [answers, replies] = [0; 2].map(|_| Pool::new(&forerun));
        let (name, kept) = (name.to_owned(), KeptReaders::default());
        self.buckets.push(Arc::new(Bucket { name, forerun, answers, replies, kept }));
        Ok(())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Bucket>> {
        self.buckets.iter().find(|bucket| bucket.name == name)
    }

    /// All of them, in the order in which they were added.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Bucket>> {
        self.buckets.iter()
    }

    /// Closes objects that are idle, for ever.
    pub(crate) async fn close_idle(self) {
        loop {
            tokio::time::sleep(KEPT_TIME).await;
            self.buckets.iter().for_each(|bucket| bucket.kept.close_idle(Instant::now()));
        }
    }
}

impl Bucket {
    /// The entry at `path`; the empty path is the top.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none, and errors of the storage.
    pub(crate) async fn entry(&self, path: &str) -> Result<Entry> {
        let not_found = || Error::new(ErrorKind::NotFound, format!("there is nothing at {path:?}"));
        if !is_path(path) {
            return Err(not_found());
        }
        match self.forerun.stat(path).await {
            Err(error) if error.kind == ErrorKind::NotADirectory => Err(not_found()),
            entry => entry,
        }
    }

    /// The file at `path`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none, and errors of the storage.
    pub(crate) async fn file(&self, path: &str) -> Result<Entry> {
        match self.entry(path).await {
            Ok(entry) if entry.kind != Kind::File => {
                Err(Error::new(ErrorKind::NotFound, format!("there is no object {path:?}")))
            }
            entry => entry,
        }
    }

    /// The entries of the directory at `path`; the empty path is the top.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none, and errors of the storage.
    pub(crate) async fn entries(&self, path: &str) -> Result<Arc<[Entry]>> {
        let not_found = || Error::new(ErrorKind::NotFound, format!("there is no directory {path:?}"));
        if !is_path(path) {
            return Err(not_found());
        }
        match self.forerun.list(path).await {
            Err(error) if error.kind == ErrorKind::NotADirectory => Err(not_found()),
            entries => entries,
        }
    }

    /// A reader of the version that `entry` describes, for one request of `client`. The object stays open for a while
    /// when it is over.
    pub(crate) fn reader(&self, entry: &Entry, client: ClientId) -> Reader {
        self.shared_reader(entry, ClientId::default());
        self.forerun.for_client(client).reader_of(entry)
    }

    /// The reader of the version that `entry` describes, for all requests of `client`. The object stays open for a while
    /// when they are over.
    pub(crate) fn shared_reader(&self, entry: &Entry, client: ClientId) -> Reader {
        self.kept.get_or_keep(entry, client, || self.forerun.for_client(client).reader_of(entry))
    }

    /// The reader for all requests of `client` of the object at `path`, if it is open in a version that `is_wanted`.
    pub(crate) fn open_reader(
        &self,
        path: &str,
        client: ClientId,
        is_wanted: impl FnOnce(&Entry) -> bool,
    ) -> Option<Reader> {
        self.kept.get(path, client, is_wanted)
    }

    /// Lends `len` bytes to a reply, at most as many as the engine lends at once.
    ///
    /// # Errors
    /// As [`Reader::lease`], and [`ErrorKind::Ended`] if the server is about to end.
    pub(crate) async fn lend(&self, reader: &Reader, offset: u64, len: u32) -> Result<Lent> {
        let permit = self.replies.take(len).await?;
        Ok(Lent::leased(reader.lease(offset, len as usize).await?, permit))
    }

    /// Forgets what was kept of the version that `entry` describes, since the storage has another.
    pub(crate) fn forget(&self, entry: &Entry) {
        self.kept.forget(&entry.path);
        self.forerun.invalidate_metadata(&entry.path);
    }
}
