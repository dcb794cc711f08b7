//! Backends: the sources of Forerun's bytes.
//!
//! A [`Backend`] is a tree of objects to read. It describes objects, and streams extents of one
//! *version* of an object. Some can also open one object for writes ([`Writable`]). Layers ([`layer`]) are backends around a backend: retry, delay,
//! bandwidth, faults. [`connect`] turns a URL into a backend with the usual layers.

mod apart;
mod bounds;
pub mod conformance;
mod connect;
mod durations;
mod entry;
mod error;
mod file;
mod http;
pub mod layer;
pub mod memory;
mod meter;
mod object;
mod outage;
mod path;
#[cfg(feature = "rbd")]
mod rbd;
mod secrets;
mod tls;
mod tries;
mod writable;

use std::fmt::Debug;
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;

pub use connect::{ConnectOptions, Connected, Environment, RetryOptions, connect};
pub use durations::Durations;
pub use entry::{Entry, Kind, Version};
pub use error::{Error, ErrorKind, Result};
pub use file::FileBackend;
pub use http::HttpBackend;
pub use memory::MemoryBackend;
pub use meter::Meter;
pub use object::ObjectBackend;
pub use secrets::{warn_if_others_read, without_secrets};
pub use tries::TryCounts;
pub use writable::{Writable, Zeroing};

/// The types of HTTP requests and answers, for [`ConnectOptions::http`].
pub use object_store::client::{
    HttpClient, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};

/// The bytes of an extent, in order, as they arrive.
pub type ByteStream = BoxStream<'static, Result<Bytes>>;

/// A tree of objects to read from.
///
/// Paths are relative to the tree's root, which is the empty path. They use `/`, have no empty, `.`
/// or `..` component, and no leading or trailing `/`.
#[async_trait]
pub trait Backend: Debug + Send + Sync + 'static {
    /// The backend's URL for messages, without credentials.
    fn url(&self) -> String;

    /// The entry at `path`. Symbolic links are not followed.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if nothing is there.
    async fn stat(&self, path: &str) -> Result<Entry>;

    /// The entries of the directory `path`, in the backend's own order. Their paths are full paths
    /// from the root.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] or [`ErrorKind::NotADirectory`].
    async fn list(&self, path: &str) -> Result<Vec<Entry>>;

    /// As [`Backend::list`], or none if the directory holds more than `entries_max` entries. Then
    /// it asks for no more pages than it takes to find that out.
    ///
    /// # Errors
    /// As [`Backend::list`].
    async fn list_within(&self, path: &str, entries_max: usize) -> Result<Option<Vec<Entry>>> {
        let entries = self.list(path).await?;
        Ok((entries.len() <= entries_max).then_some(entries))
    }

    /// Whether a list shows everything that [`Backend::stat`] finds, at about one request for each
    /// thousand entries. Then a list is the cheaper way to ask about many files of a directory.
    fn has_whole_lists(&self) -> bool {
        false
    }

    /// How often the store has asked for fewer requests, and how often requests were tried again.
    fn try_counts(&self) -> TryCounts {
        TryCounts::default()
    }

    /// The target of the symbolic link `path`, verbatim.
    async fn read_link(&self, path: &str) -> Result<Vec<u8>>;

    /// Streams the bytes `extent` (not empty, within the object's size) of `version` of the object
    /// `path`. The stream yields exactly `extent`'s bytes or ends in an error. It never mixes
    /// versions.
    ///
    /// # Errors
    /// * [`ErrorKind::Changed`] if the object has another version now.
    /// * [`ErrorKind::NoRange`] if the server cannot serve part of an object.
    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream>;

    /// The object `path` as an open file of this system, which had `version` when it was opened. A
    /// caller can read it without this backend from then on, and sees later writes to it. None if
    /// there is no such file, or if a layer changes fetches, which reading the file would bypass.
    ///
    /// # Errors
    /// * [`ErrorKind::Changed`] if the object has another version now.
    /// * [`ErrorKind::NotFound`] if it is gone.
    async fn open_local(&self, _path: &str, _version: &Version) -> Result<Option<File>> {
        Ok(None)
    }

    /// The object `path`, which had `version` when it was opened, for a caller that changes it. None if the
    /// backend changes no objects itself.
    ///
    /// # Errors
    /// * [`ErrorKind::Changed`] if the object has another version now.
    /// * [`ErrorKind::Denied`] if the caller may not change it, or if somebody else does.
    /// * [`ErrorKind::Invalid`] if nobody can change it.
    async fn open_writable(&self, _path: &str, _version: &Version) -> Result<Option<Arc<dyn Writable>>> {
        Ok(None)
    }
}
