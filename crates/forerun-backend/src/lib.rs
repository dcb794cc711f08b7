//! Where Forerun's bytes come from.
//!
//! A [`Backend`] is a read-only tree of objects that can say what an object is
//! and stream any extent of one *version* of it. Layers ([`layer`]) are backends
//! around a backend: retry, delay, bandwidth, faults. [`connect`] turns a URL
//! into a backend with the layers everybody wants.

mod apart;
mod bounds;
pub mod conformance;
mod connect;
mod entry;
mod error;
mod file;
mod http;
pub mod layer;
pub mod memory;
mod object;
mod outage;
mod path;
mod secrets;
mod tls;
mod tries;

use std::fmt::Debug;
use std::fs::File;
use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;

pub use connect::{ConnectOptions, Connected, Environment, RetryOptions, connect};
pub use entry::{Entry, Kind, Version};
pub use error::{Error, ErrorKind, Result};
pub use file::FileBackend;
pub use http::HttpBackend;
pub use memory::MemoryBackend;
pub use object::ObjectBackend;
pub use secrets::without_secrets;

/// The terms in which HTTP requests are sent and answered, for [`ConnectOptions::http`].
pub use object_store::client::{
    HttpClient, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};

/// The bytes of an extent, in order, as they arrive.
pub type ByteStream = BoxStream<'static, Result<Bytes>>;

/// A tree of objects to read from. Paths are relative to the tree's root, use
/// `/`, have no empty, `.` or `..` component and no leading or trailing `/`; the
/// root is the empty path.
#[async_trait]
pub trait Backend: Debug + Send + Sync + 'static {
    /// Where this is, for messages: a URL without credentials.
    fn url(&self) -> String;

    /// What is at `path`, symbolic links not followed.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where nothing is.
    async fn stat(&self, path: &str) -> Result<Entry>;

    /// What the directory `path` holds, in the backend's own order; the entries'
    /// paths are full paths from the root.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] or [`ErrorKind::NotADirectory`].
    async fn list(&self, path: &str) -> Result<Vec<Entry>>;

    /// As [`Backend::list`], or none if the directory holds more than `entries_max`
    /// entries: then no more was asked for than it took to find out.
    ///
    /// # Errors
    /// As [`Backend::list`].
    async fn list_within(&self, path: &str, entries_max: usize) -> Result<Option<Vec<Entry>>> {
        let entries = self.list(path).await?;
        Ok((entries.len() <= entries_max).then_some(entries))
    }

    /// Whether a list shows everything that [`Backend::stat`] finds, and costs one request
    /// for each thousand entries or so. Then a list is the cheaper way to ask about many
    /// files of a directory.
    fn has_whole_lists(&self) -> bool {
        false
    }

    /// How often the store has asked for fewer requests so far: a front end then keeps
    /// fewer in flight.
    fn busy_count(&self) -> u64 {
        0
    }

    /// Where the symbolic link `path` points, verbatim.
    async fn read_link(&self, path: &str) -> Result<Vec<u8>>;

    /// Streams the bytes `extent` (not empty, within the object's size) of
    /// `version` of the object `path`. The stream yields exactly `extent`'s
    /// bytes or ends in an error; it never mixes versions.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if the object has another version by now,
    /// [`ErrorKind::NoRange`] if the server cannot serve part of an object.
    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream>;

    /// The object `path` as an open file of this system, which was `version` when it
    /// was opened, for who can do without this backend from then on; none where
    /// there is no such file, or where reading it would pass by what a layer does to
    /// fetches. What writes to that file later is seen through it.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if the object has another version by now,
    /// [`ErrorKind::NotFound`] where nothing is any more.
    async fn open_local(&self, _path: &str, _version: &Version) -> Result<Option<File>> {
        Ok(None)
    }
}
