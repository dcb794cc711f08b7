//! Readahead for any store of the [`object_store`] crate.
//!
//! [`ForerunStore`] is an [`ObjectStore`] around another one. Its reads go through Forerun, which detects
//! how a program reads each object, and fetches the next bytes before the program asks for them. All other
//! calls go to the store inside.
//!
//! ```
//! # use std::sync::Arc;
//! # use forerun::Options;
//! # use forerun_object_store::ForerunStore;
//! # use object_store::memory::InMemory;
//! # use object_store::path::Path;
//! # use object_store::{ObjectStore, ObjectStoreExt};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let slow: Arc<dyn ObjectStore> = Arc::new(InMemory::new()); // or S3, Azure, …
//! let store = ForerunStore::new(slow, Options::default())?;
//!
//! let path = Path::from("data/part-0001");
//! store.put(&path, "hello, world".into()).await?;
//! assert_eq!(store.get_range(&path, 7..12).await?, "world");
//! # Ok(())
//! # }
//! ```
//!
//! # What to rely on
//! * **One version.** A get returns bytes of one version of an object. Forerun compares the ETag (or the
//!   generation, or the time and size) of each answer. A stream fails with [`Error::Precondition`] if the
//!   object is replaced before it ends.
//! * **Freshness.** A get describes an object as it was at most [`Options::metadata_ttl`] ago. A write
//!   through this store is seen at once. A get with a condition (`if_match` …) always asks the store
//!   inside, and so does a head.
//! * **Errors** have the variants that the store inside would give.
//! * **Chunks** are lent out of the memory of Forerun, without a copy. At most a quarter of
//!   [`Options::memory_bytes`] is lent at a time; further chunks are copies.
//!
//! # What goes to the store inside
//! Heads, lists and writes; gets of an old `version`; gets with `extensions`, which mean something to that
//! store alone. The results of other gets have no extensions, since they come from several requests or none.
//!
//! # What it costs
//! The first get of an object asks for a head first. Later gets do not, within [`Options::metadata_ttl`].
//! Raise that time if objects are never replaced.
//!
//! Fetches run on threads of Forerun unless [`Options::runtime`] is given. They go on while a program's own
//! threads decode.
//!
//! [`Error::Precondition`]: object_store::Error::Precondition
//! [`Options::metadata_ttl`]: forerun::Options::metadata_ttl
//! [`Options::memory_bytes`]: forerun::Options::memory_bytes
//! [`Options::runtime`]: forerun::Options::runtime

mod backend;
mod error;
mod get;
mod known;
mod lending;
mod store;
mod upload;
mod version;

use std::fmt;
use std::sync::Arc;

use forerun::{Forerun, Options};
use object_store::ObjectStore;

use backend::StoreBackend;
use known::KnownObjects;
use lending::Lending;

/// A store whose objects are read ahead; see the [crate's page](crate). Clones share their memory.
#[derive(Clone, Debug)]
pub struct ForerunStore {
    inner: Arc<dyn ObjectStore>,
    forerun: Forerun,
    known: Arc<KnownObjects>,
    lending: Arc<Lending>,
}

impl ForerunStore {
    /// Reads the objects of `inner` ahead, with an engine of its own.
    ///
    /// `inner` should retry by itself, as the stores of `object_store` do: Forerun passes their errors on.
    /// [`Options::connect`] does not matter here.
    ///
    /// # Errors
    /// As [`Forerun::over`].
    pub fn new(inner: Arc<dyn ObjectStore>, options: Options) -> forerun::Result<ForerunStore> {
        let known = Arc::new(KnownObjects::new(options.metadata_ttl));
        let lending = Arc::new(Lending::new(options.memory_bytes));
        let forerun = Forerun::over(Arc::new(StoreBackend::new(Arc::clone(&inner))), options)?;
        Ok(ForerunStore { inner, forerun, known, lending })
    }

    /// The store inside.
    pub fn inner(&self) -> &Arc<dyn ObjectStore> {
        &self.inner
    }

    /// The engine that reads ahead: for its counters, for [`explain`](Forerun::explain), and to announce
    /// reads with
    /// [`prefetch`](Forerun::prefetch). Paths are those of the store inside.
    pub fn forerun(&self) -> &Forerun {
        &self.forerun
    }
}

/// Compiles the examples of the page about the library.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
mod library {}

impl fmt::Display for ForerunStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Forerun({})", self.inner)
    }
}
