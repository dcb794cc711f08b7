//! Read slow storage fast.
//!
//! Forerun stands between a program and slow storage: a disk, an HTTP server, an
//! object store. It detects how each object is read: forward, backward, strided, in
//! several streams at once, or at random. It fetches the next bytes just before a
//! program asks for them, and keeps the bytes that were read. All that happens within
//! one memory budget, which it never exceeds.
//!
//! ```
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("data.bin");
//! # std::fs::write(&path, b"hello, world")?;
//! # let url = path.to_str().expect("a UTF-8 path");
//! // A path here; `https://…`, `s3://…` and others work the same.
//! let reader = forerun::open_blocking(url)?;
//! let mut buf = [0; 5];
//! let len = reader.read_at_blocking(&mut buf, 7)?;
//! assert_eq!(&buf[..len], b"world");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Several objects share one [`Forerun`], and with it one budget:
//!
//! ```
//! use forerun::{Forerun, Options};
//! # let directory = tempfile::tempdir()?;
//! # std::fs::write(directory.path().join("a.bin"), b"a")?;
//! # std::fs::write(directory.path().join("b.bin"), b"b")?;
//! # let url = directory.path().to_str().expect("a UTF-8 path");
//! let options = Options::default().with_memory_bytes(64 << 20);
//! let forerun = Forerun::connect_blocking(url, options)?;
//! for entry in forerun.list_blocking("")?.iter() {
//!     let reader = forerun.reader_of(entry);
//!     let mut bytes = vec![0; reader.size() as usize];
//!     reader.read_at_blocking(&mut bytes, 0)?;
//!     assert_eq!(bytes, entry.name()[..1].as_bytes());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Async and blocking
//! A call that waits is async: [`open`], [`Forerun::stat`], [`Reader::read_at`]. Any executor may await
//! it. The call with the suffix `_blocking` does the same for threads ([`open_blocking`],
//! [`Reader::read_at_blocking`]). Calls that never wait have neither form.
//!
//! ```
//! # use forerun::{Forerun, Options};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # std::fs::write(directory.path().join("a.bin"), b"hello, world")?;
//! # let url = directory.path().to_str().expect("a UTF-8 path");
//! let forerun = Forerun::connect(url, Options::default()).await?;
//! let reader = forerun.open("a.bin").await?;
//! let lease = reader.lease(7, 5).await?; // lent out of the budget, not copied
//! assert_eq!(lease.to_contiguous(), &b"world"[..]);
//! # Ok(())
//! # }
//! ```
//!
//! # What to rely on
//! * A read answers with the bytes of the version that was opened, or with an
//!   error. When the object is replaced meanwhile, that is
//!   [`ErrorKind::Changed`], on this [`Reader`] for ever; opening it again reads
//!   the new version.
//! * Bytes that several readers want at once are fetched once.
//! * An error of the backend reaches only the reads that wait for those bytes. A
//!   later read tries again.
//! * Forerun remembers an object after it is closed. With [`Options::learn`] it
//!   remembers the order of reads beyond the end of the program.
//! * Advice ([`Reader::advise`], [`Forerun::prefetch`]) never changes the bytes of a
//!   read, nor the budget.
//!
//! # From C
//! The crate `forerun-c` has the same for C and for languages that call C. `docs/c.md` describes it.
//!
//! # You may not need this
//! A local disk that is read from front to back is read ahead by the kernel
//! already. Forerun is read-only, and it is worth its memory where a request
//! costs milliseconds and reads are many, small, or not simply sequential.

mod blocking;
mod catalog;
mod cursor;
mod driver;
mod instance;
mod lease;
mod mapping;
mod options;
mod part;
mod prefetch;
mod profile;
mod reader;
mod report;
mod runtime;
mod start;
mod submit;

pub use blocking::open_blocking;
pub use cursor::Cursor;

pub use forerun_backend::{
    Backend, ByteStream, ConnectOptions, Durations, Entry, Error, ErrorKind, Kind, Meter, Result,
    RetryOptions, TryCounts, Version, Writable, Zeroing, without_secrets,
};
pub use forerun_engine::{
    AccountReport, Advice, ByClass, Class, ClassCounters, ClientId, Counters, CustomPolicy, DeviceEstimate,
    Extent, ListId, ListReport, ObjectId, ObjectReport, PolicyRead, PolicyRules, PolicyView, ReaderId,
    StreamReport, Time, Usage, Why, Wishes,
};
pub use forerun_policies::{PolicyKind, UnknownPolicy};
pub use instance::Forerun;
pub use lease::Lease;
pub use options::Options;
pub use part::Part;
pub use prefetch::ListProgress;
pub use profile::{Profile, ProfileMerge, ProfiledObject};
pub use reader::Reader;
pub use report::{Explained, Snapshot};
pub use start::open;
pub use submit::Pending;
