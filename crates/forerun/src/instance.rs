//! One engine over one backend.

use std::fmt;
use std::fs::File;
use std::future::Future;
use std::sync::{Arc, Weak};
use std::time::Duration;

use forerun_backend::{Backend, Connected, Entry, Error, ErrorKind, Kind, Result, without_secrets};
use forerun_engine::{Config, ConfigError, Counters, Engine};

use crate::catalog::Catalog;
use crate::driver::Driver;
use crate::mapping::Memory;
use crate::profile::Learner;
use crate::runtime::Background;
use crate::{Options, Reader};

/// How much of what was learned a program that is killed loses at most.
const SAVE_INTERVAL: Duration = Duration::from_secs(60);

/// One engine over one backend, with a runtime of its own unless [`Options::runtime`] is given. Clones share it. It
/// ends when the last clone and the last [`Reader`] are dropped, which may happen
/// on any thread and blocks none; reads that are still submitted then fail.
#[derive(Clone, Debug)]
pub struct Forerun {
    pub(crate) shared: Arc<Shared>,
}

/// What readers keep alive.
pub(crate) struct Shared {
    pub(crate) driver: Arc<Driver>,
    object: Option<String>,
    pub(crate) runtime: Background,
}

impl Forerun {
    /// Over the backend that `url` names, which is asked whether it answers. See
    /// [`forerun_backend::connect`] for the URLs there are.
    ///
    /// # Errors
    /// As [`forerun_backend::connect`], and [`ErrorKind::Invalid`] for options
    /// that cannot be kept.
    pub async fn connect(url: &str, options: Options) -> Result<Forerun> {
        let runtime = Background::new(options.runtime.clone())?;
        let (url, connect) = (url.to_owned(), options.connect.clone());
        let connected = runtime.run(async move { forerun_backend::connect(&url, &connect).await }).await?;
        Forerun::new(connected, &options, runtime)
    }

    /// Over a backend that the caller made.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for options that cannot be kept.
    pub fn over(backend: Arc<dyn Backend>, options: Options) -> Result<Forerun> {
        let runtime = Background::new(options.runtime.clone())?;
        Forerun::new(Connected { backend, object: None, credentials: None }, &options, runtime)
    }

    fn new(connected: Connected, options: &Options, runtime: Background) -> Result<Forerun> {
        let Connected { backend, object, credentials: _ } = connected;
        let config = Config { policy: options.policy, ..Config::new(options.memory_bytes) };
        let invalid =
            |error: ConfigError| Error::new(ErrorKind::Invalid, format!("{error}")).with_source(error);
        let engine = Engine::new(config).map_err(invalid)?;
        let memory = usize::try_from(options.memory_bytes)
            .map_err(std::io::Error::other)
            .and_then(Memory::new)
            .map_err(|error| no_memory(options.memory_bytes, error))?;
        let learner = options.learn.as_deref().map(Learner::load).transpose()?;
        let handle = runtime.handle().clone();
        let catalog = Catalog::new(Arc::clone(&backend), handle.clone(), options.metadata_ttl);
        let driver = Arc::new(Driver::new(engine, memory, Arc::new(catalog), backend, learner, handle));
        if driver.learner.is_some() {
            runtime.handle().spawn(save_regularly(Arc::downgrade(&driver)));
        }
        Ok(Forerun { shared: Arc::new(Shared { driver, object, runtime }) })
    }

    /// Where the bytes come from, without credentials.
    pub fn url(&self) -> String {
        self.shared.driver.backend.url()
    }

    /// The path of the one object that the URL given to [`Forerun::connect`]
    /// named; nothing if it named a tree of them.
    pub fn object(&self) -> Option<&str> {
        self.shared.object.as_deref()
    }

    /// What is at `path`. Answers are believed for [`Options::metadata_ttl`], that
    /// nothing is there included.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`], or what kept the backend from answering.
    pub async fn stat(&self, path: &str) -> Result<Entry> {
        self.catalog().stat(path).await
    }

    /// What the directory `path` holds; a stat of any of it is then answered from
    /// memory.
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
    /// [`Options::metadata_ttl`].
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
        Reader::new(&self.shared, entry)
    }

    /// The object that `entry` describes as an open file of this system, to be read without
    /// this: nothing is read ahead of who does, and what writes to the file is seen by them.
    /// None if it is not a file of a local directory.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if the object has another version by now, or
    /// [`ErrorKind::NotFound`].
    pub async fn open_local(&self, entry: &Entry) -> Result<Option<File>> {
        let (backend, entry) = (Arc::clone(&self.shared.driver.backend), entry.clone());
        let opened = async move { backend.open_local(&entry.path, &entry.version).await };
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

    /// Writes what was learned until now to [`Options::learn`], which also happens every
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

/// A reader of the one object that `url` names, with default options and an
/// engine of its own. To read several objects, or a tree, use
/// [`Forerun::connect`].
///
/// # Errors
/// As [`Forerun::connect`]; [`ErrorKind::Invalid`] if `url` names a tree.
pub async fn open(url: &str) -> Result<Reader> {
    let forerun = Forerun::connect(url, Options::default()).await?;
    forerun.open(forerun.single(url)?).await
}

/// Keeps what was learned even if the program is killed.
async fn save_regularly(driver: Weak<Driver>) {
    loop {
        tokio::time::sleep(SAVE_INTERVAL).await;
        let Some(driver) = driver.upgrade() else { return };
        let saved = tokio::task::spawn_blocking(move || driver.learner.as_ref().map(Learner::save_or_warn));
        let _ = saved.await;
    }
}

fn no_memory(bytes: u64, error: std::io::Error) -> Error {
    let message = format!("cannot reserve {bytes} bytes of memory: {error}; choose a smaller budget");
    Error::new(ErrorKind::Invalid, message).with_source(error)
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
