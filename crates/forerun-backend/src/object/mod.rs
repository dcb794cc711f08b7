//! An object store: S3, Google Cloud Storage, Azure Blob Storage.

mod connector;
mod failure;
mod keys;
mod pages;
mod version;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::list::PaginatedListStore;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt};

pub(crate) use connector::{Connector, element};
pub(crate) use failure::{NoCredentials, of_party};

use crate::{Backend, ByteStream, Entry, Error, ErrorKind, Result, Version, path};
use version::{describes, file};

/// The objects below a prefix of an object store. Directories are the prefixes that keys share up
/// to a `/`.
///
/// * Keys that end in `/`, by which some programs mark directories, are not shown.
/// * Keys with an empty, `.` or `..` component or a control character are not shown.
/// * A key that is both an object and the prefix of others is shown as a directory.
///
/// A version is the ETag, or the generation, or the modification time and size.
pub struct ObjectBackend {
    store: Arc<dyn ObjectStore>,
    /// The same store, for lists.
    pages: Arc<dyn PaginatedListStore>,
    prefix: String,
    url: String,
    /// Whether something was found below the prefix: then the root need not be asked for again.
    root_seen: AtomicBool,
    /// Whether each path is an object, even if other keys lie below it.
    only_objects: bool,
}

impl ObjectBackend {
    /// The objects of `store` whose keys start with `prefix` and a `/`; all objects if `prefix` is
    /// empty. `pages` lists the same store. Messages call it `url`.
    ///
    /// `store` should not retry by itself: [`Retry`](crate::layer::Retry) does, and can resume
    /// within an object.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for a prefix with an empty, `.` or `..` component.
    pub fn new(
        store: Arc<dyn ObjectStore>,
        pages: Arc<dyn PaginatedListStore>,
        prefix: &str,
        url: impl Into<String>,
    ) -> Result<ObjectBackend> {
        path::components(prefix)?;
        Ok(ObjectBackend {
            store,
            pages,
            prefix: prefix.to_owned(),
            url: url.into(),
            root_seen: AtomicBool::new(false),
            only_objects: false,
        })
    }

    /// Ignores directories below the prefix; for [`Only`](crate::layer::Only).
    pub(crate) fn only_objects(self) -> ObjectBackend {
        ObjectBackend { only_objects: true, ..self }
    }

    /// The key of `path`, verbatim: `Path::parse` encodes nothing.
    fn key(&self, path: &str) -> Result<Path> {
        path::components(path)?;
        let key = if path.is_empty() { self.prefix.clone() } else { path::join(&self.prefix, path) };
        Path::parse(&key)
            .map_err(|error| Error::new(ErrorKind::NotFound, format!("{key:?} cannot be a key: {error}")))
    }

    fn error(&self, key: &Path, error: &object_store::Error) -> Error {
        failure::classify(error, &self.shown(key))
    }

    /// The name of `key` for messages.
    fn shown(&self, key: &Path) -> String {
        if key.as_ref().is_empty() { self.url.clone() } else { format!("{} ({key})", self.url) }
    }

    fn not_found(&self, key: &Path) -> Error {
        Error::new(
            ErrorKind::NotFound,
            format!("{}: there is no object or prefix {:?}", self.url, key.as_ref()),
        )
    }

    /// The object `key`, which is at `path`.
    async fn object(&self, path: &str, key: &Path) -> Result<Entry> {
        match self.store.head(key).await {
            Ok(meta) => file(path, &meta),
            Err(error) => match self.error(key, &error) {
                error if error.kind == ErrorKind::NotFound => Err(self.not_found(key)),
                error => Err(error),
            },
        }
    }

    async fn stat_root(&self) -> Result<Entry> {
        if !self.root_seen.load(Ordering::Relaxed) {
            let key = self.key("")?;
            // A bucket may be empty; an empty prefix does not exist.
            if !self.is_prefix(&key).await? && !self.prefix.is_empty() {
                return Err(self.not_found(&key));
            }
            self.root_seen.store(true, Ordering::Relaxed);
        }
        Ok(Entry::directory(""))
    }
}

#[async_trait]
impl Backend for ObjectBackend {
    fn url(&self) -> String {
        self.url.clone()
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        if path.is_empty() {
            return self.stat_root().await;
        }
        let key = self.key(path)?;
        if self.only_objects {
            return self.object(path, &key).await;
        }
        // Concurrently, so that a lookup takes no longer.
        match futures::join!(self.object(path, &key), self.is_prefix(&key)) {
            (object, Ok(true)) => {
                if object.is_ok() {
                    self.warn_of_hidden(path);
                }
                Ok(Entry::directory(path))
            }
            (object, Ok(false)) => object,
            // A directory that may not be listed is not shown.
            (Ok(object), Err(error)) if error.kind == ErrorKind::Denied => Ok(object),
            (Err(error), Err(_)) if error.kind != ErrorKind::NotFound => Err(error),
            (_, Err(error)) => Err(error),
        }
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        // No list is longer than `usize::MAX`.
        Ok(self.list_within(path, usize::MAX).await?.unwrap_or_default())
    }

    async fn list_within(&self, path: &str, entries_max: usize) -> Result<Option<Vec<Entry>>> {
        self.list_pages(path, entries_max).await
    }

    fn has_whole_lists(&self) -> bool {
        true
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        Err(Error::not_a_link(path))
    }

    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        let key = self.key(path)?;
        let etag = version.0.strip_prefix("etag ").map(str::to_owned);
        let options = GetOptions {
            range: Some(GetRange::Bounded(extent.clone())),
            if_match: etag,
            ..GetOptions::default()
        };
        let got = self.store.get_opts(&key, options).await.map_err(|error| self.error(&key, &error))?;
        // Some servers ignore If-Match.
        if !describes(version, &got.meta) {
            let message = format!("{} has changed; open it again", self.shown(&key));
            return Err(Error::new(ErrorKind::Changed, message));
        }
        let name = self.shown(&key);
        if got.range != extent {
            let message = format!("{name}: the store sent the bytes {:?} instead of {extent:?}", got.range);
            return Err(Error::new(ErrorKind::Permanent, message));
        }
        Ok(measured(got.into_stream(), name, extent.end - extent.start))
    }
}

impl fmt::Debug for ObjectBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectBackend").field("url", &self.url).field("prefix", &self.prefix).finish()
    }
}

/// Streams `body`; fails if it has fewer or more than `left` bytes.
fn measured(body: BoxStream<'static, object_store::Result<Bytes>>, name: String, left: u64) -> ByteStream {
    let pieces = futures::stream::try_unfold((body, name, left), |(mut body, name, left)| async move {
        match body.try_next().await.map_err(|error| failure::of_body(&error, &name))? {
            Some(piece) if piece.len() as u64 > left => Err(Error::new(
                ErrorKind::Permanent,
                format!("{name}: the body is longer than the store announced"),
            )),
            Some(piece) => {
                let left = left - piece.len() as u64;
                Ok(Some((piece, (body, name, left))))
            }
            None if left == 0 => Ok(None),
            None => {
                Err(Error::new(ErrorKind::Transient, format!("{name}: the body ended {left} bytes early")))
            }
        }
    });
    pieces.boxed()
}

#[cfg(test)]
mod tests;
