//! One engine over one backend.

use std::fmt;
use std::fs::File;
use std::future::Future;
use std::sync::Arc;

use forerun_backend::{Entry, Error, ErrorKind, Kind, Result, Writable, without_secrets};
use forerun_engine::{ClientId, Counters, Usage};

use crate::Reader;
use crate::catalog::Catalog;
use crate::driver::Driver;
use crate::profile::Learner;
use crate::runtime::Background;

/// One engine over one backend, with a runtime of its own unless
/// [`Options::runtime`](crate::Options::runtime) is given. Clones share it.
///
/// It ends when the last clone and the last [`Reader`] are dropped. That may happen on any thread and blocks
/// none. Reads that are still submitted then fail.
#[derive(Clone, Debug)]
pub struct Forerun {
    pub(crate) shared: Arc<Shared>,
    /// That of the readers that are opened with this.
    pub(crate) client: ClientId,
}

/// The part that readers keep alive.
pub(crate) struct Shared {
    pub(crate) driver: Arc<Driver>,
    pub(crate) object: Option<String>,
    pub(crate) runtime: Background,
}

impl Forerun {
    /// Where the bytes come from, without credentials.
    pub fn url(&self) -> String {
        self.shared.driver.backend.url()
    }

    /// The path of the one object that the URL given to [`Forerun::connect`]
    /// named; nothing if it named a tree of them.
    pub fn object(&self) -> Option<&str> {
        self.shared.object.as_deref()
    }

    /// The entry at `path`. Answers are believed for [`Options::metadata_ttl`](crate::Options::metadata_ttl),
    /// also the answer that nothing is there.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`], or what kept the backend from answering.
    pub async fn stat(&self, path: &str) -> Result<Entry> {
        self.catalog().stat(path).await
    }

    /// The entries of the directory `path`. A stat of any of them is then answered from memory.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`], [`ErrorKind::NotADirectory`], or what kept the
    /// backend from answering.
    pub async fn list(&self, path: &str) -> Result<Arc<[Entry]>> {
        let entries = self.catalog().list(path).await?;
        self.shared.driver.list(path, &entries);
        Ok(entries)
    }

    /// Where the symbolic link `path` points, verbatim.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`], or what kept the backend from answering.
    pub async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        self.catalog().read_link(path).await
    }

    /// A reader of the object at `path`, as it is now or was within
    /// [`Options::metadata_ttl`](crate::Options::metadata_ttl).
    ///
    /// # Errors
    /// As [`Forerun::stat`]; [`ErrorKind::Invalid`] if it is not a file.
    pub async fn open(&self, path: &str) -> Result<Reader> {
        let entry = self.stat(path).await?;
        let advice = match entry.kind {
            Kind::File => return Ok(self.reader_of(&entry)),
            Kind::Directory => "a directory; open a file in it",
            Kind::Symlink => "a symbolic link; open what it points to",
        };
        Err(Error::new(ErrorKind::Invalid, format!("{path:?} in {} is {advice}", self.url())))
    }

    /// A reader of exactly `entry.version`, without asking the backend.
    pub fn reader_of(&self, entry: &Entry) -> Reader {
        Reader::new(&self.shared, entry, self.client)
    }

    /// The same for `client`: what is opened with it belongs to that client.
    ///
    /// When clients want more than the storage gives, each gets a share by its weight
    /// ([`Forerun::set_weight`]). The readers of one client share equally. A client leaves the rest to the others. All readers
    /// belong to one client unless this says otherwise.
    #[must_use]
    pub fn for_client(&self, client: ClientId) -> Forerun {
        Forerun { shared: Arc::clone(&self.shared), client }
    }

    /// From now on `client` has this weight. It gets so many times as much as a client with a weight of 1, which is the weight of
    /// each at first. 0 counts as 1.
    pub fn set_weight(&self, client: ClientId, weight: u32) {
        self.shared.driver.set_weight(client, weight);
    }

    /// From now on no more than `bytes_per_s` are fetched for `client`, or for all clients together if that is `None`. No
    /// rate is a limit at first. Reads of bytes that are in memory do not count.
    pub fn set_rate(&self, client: Option<ClientId>, bytes_per_s: Option<u64>) {
        self.shared.driver.set_rate(client, bytes_per_s);
    }

    /// The object that `entry` describes, as an open file of this system. Forerun does not read ahead in it,
    /// and its readers see later writes to the file. None if it is not a file of a local directory.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if the object has another version by now, or
    /// [`ErrorKind::NotFound`].
    pub async fn open_local(&self, entry: &Entry) -> Result<Option<File>> {
        let (backend, entry) = (Arc::clone(&self.shared.driver.backend), entry.clone());
        let opened = async move { backend.open_local(&entry.path, &entry.version).await };
        self.shared.runtime.run(opened).await
    }

    /// The object that `entry` describes, for a caller that changes it. None if its storage can only be read, or if
    /// it is a local file, which [`Forerun::open_local`] opens.
    ///
    /// This instance does not learn of the changes: its readers may still have older bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if the object has another version by now, [`ErrorKind::Denied`] if it may not be changed,
    /// or [`ErrorKind::Invalid`] if nobody can change it.
    pub async fn open_writable(&self, entry: &Entry) -> Result<Option<Arc<dyn Writable>>> {
        let (backend, entry) = (Arc::clone(&self.shared.driver.backend), entry.clone());
        let opened = async move { backend.open_writable(&entry.path, &entry.version).await };
        self.shared.runtime.run(opened).await
    }

    /// Asks the backend again when `path`, or the list it is in, is next wanted.
    pub fn invalidate_metadata(&self, path: &str) {
        self.catalog().invalidate(path);
    }

    /// Runs `future` on this instance's runtime. It ends with the instance, which
    /// it must not keep alive for ever.
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.shared.driver.spawn(future);
    }

    /// Sums since the start.
    pub fn counters(&self) -> Counters {
        self.shared.driver.counters()
    }

    /// Memory charged now: cached and in flight, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.shared.driver.memory_bytes()
    }

    /// Memory and fetches now.
    pub fn usage(&self) -> Usage {
        self.shared.driver.usage()
    }

    /// From now on all data shall fit into so many bytes: at least 4 MiB, and at most the
    /// [`Options::memory_bytes`](crate::Options::memory_bytes) that this began with.
    ///
    /// Data that may go is dropped at once, and its memory goes back to the system. Bytes that are in flight, or that
    /// leases hold, go later. Call it again, with the same size, to give back what has become free meanwhile.
    /// Readahead that is dropped counts as wasted.
    pub fn set_memory_bytes(&self, bytes: u64) {
        self.shared.driver.set_memory_bytes(bytes);
    }

    /// The memory for data, in bytes: that of [`Forerun::set_memory_bytes`], or at first that of the options.
    pub fn memory_bytes_max(&self) -> u64 {
        self.shared.driver.memory_bytes_max()
    }

    /// How often the engine's lock was taken, for tests.
    #[doc(hidden)]
    #[cfg(debug_assertions)]
    pub fn lock_count(&self) -> u64 {
        self.shared.driver.lock_count()
    }

    /// Writes what was learned until now to [`Options::learn`](crate::Options::learn), which also happens every
    /// minute and when the last clone of this is dropped.
    ///
    /// # Errors
    /// [`ErrorKind::Permanent`] if it cannot be written.
    pub fn save_learned(&self) -> Result<()> {
        self.shared.driver.learner.as_ref().map_or(Ok(()), Learner::save)
    }

    /// The one object that `url` names.
    pub(crate) fn single(&self, url: &str) -> Result<&str> {
        self.object().ok_or_else(|| {
            let message = format!("{} is a directory; name one object in it", without_secrets(url));
            Error::new(ErrorKind::Invalid, message)
        })
    }

    pub(crate) fn driver(&self) -> &Arc<Driver> {
        &self.shared.driver
    }

    fn catalog(&self) -> &Arc<Catalog> {
        &self.shared.driver.catalog
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.driver.shut_down();
        if let Some(learner) = &self.driver.learner {
            learner.save_or_warn();
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("driver", &self.driver).field("object", &self.object).finish()
    }
}
