//! An object store: S3, Google Cloud Storage, Azure Blob Storage.

mod connector;
mod failure;
mod keys;

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::{DELIMITER, Path};
use object_store::{GetOptions, GetRange, ListResult, ObjectMeta, ObjectStore, ObjectStoreExt};

pub(crate) use connector::{Connector, element};
pub(crate) use failure::{NoCredentials, of_party};

use crate::bounds::{ENTRIES_MAX, PAGES_MAX};
use crate::{Backend, ByteStream, Entry, Error, ErrorKind, Kind, Result, Version, path};

/// The objects below a prefix of an object store. Directories are the prefixes
/// that keys share up to a `/`.
///
/// Keys that end in `/`, which some programs write to mark a directory, are not
/// shown. Where a key is both an object and the prefix of others, the object is
/// shown. A version is the ETag; for want of one the generation; for want of
/// that the modification time and size. Keys with an empty, `.` or `..` component
/// or a control character are not shown.
pub struct ObjectBackend {
    store: Arc<dyn ObjectStore>,
    /// The same store, asked for lists.
    pages: Arc<dyn PaginatedListStore>,
    prefix: String,
    url: String,
    /// Whether something was once found below the prefix, so that the root need
    /// not be asked for again.
    root_seen: AtomicBool,
}

impl ObjectBackend {
    /// The objects of `store` whose keys start with `prefix` and a `/`; all of
    /// them if it is empty. `pages` lists the same store. Messages call it `url`.
    ///
    /// `store` should not retry by itself: [`Retry`](crate::layer::Retry) does,
    /// and knows how to go on within an object.
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
        })
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

    /// What messages call `key`.
    fn shown(&self, key: &Path) -> String {
        if key.as_ref().is_empty() { self.url.clone() } else { format!("{} ({key})", self.url) }
    }

    fn not_found(&self, key: &Path) -> Error {
        Error::new(
            ErrorKind::NotFound,
            format!("{}: there is no object or prefix {:?}", self.url, key.as_ref()),
        )
    }

    /// Whether any key lies below `key` as a directory.
    async fn is_prefix(&self, key: &Path) -> Result<bool> {
        let listed = self.pages(key, None, 1).await?;
        Ok(listed.is_none_or(|listed| !listed.objects.is_empty() || !listed.common_prefixes.is_empty()))
    }

    async fn stat_root(&self) -> Result<Entry> {
        if !self.root_seen.load(Ordering::Relaxed) {
            let key = self.key("")?;
            // A whole bucket may be empty; an empty prefix does not exist.
            if !self.is_prefix(&key).await? && !self.prefix.is_empty() {
                return Err(self.not_found(&key));
            }
            self.root_seen.store(true, Ordering::Relaxed);
        }
        Ok(Entry::directory(""))
    }

    /// The keys below `directory` up to a `delimiter`, or none if there are more than `entries_max`.
    async fn pages(
        &self,
        directory: &Path,
        delimiter: Option<&'static str>,
        entries_max: usize,
    ) -> Result<Option<ListResult>> {
        // Without the slash it would be the prefix of its neighbours, too.
        let prefix = (!directory.is_root()).then(|| format!("{directory}/"));
        let (objects, common_prefixes) = Default::default();
        let mut listed = ListResult { objects, common_prefixes, extensions: Default::default() };
        let mut page_token: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let before = page_token.clone();
            let delimiter = delimiter.map(Into::into);
            let options = PaginatedListOptions { delimiter, page_token, ..PaginatedListOptions::default() };
            let page = self.pages.list_paginated(prefix.as_deref(), options).await;
            let page = page.map_err(|error| self.error(directory, &error))?;
            listed.objects.extend(page.result.objects);
            listed.common_prefixes.extend(page.result.common_prefixes);
            page_token = page.page_token;
            if page_token.is_none() {
                return Ok(Some(listed));
            }
            if page_token == before {
                return Err(self.endless(directory, "sends the same page of its listing again and again"));
            }
            let count = listed.objects.len() + listed.common_prefixes.len();
            if count >= entries_max {
                return Ok(None);
            }
            if count > ENTRIES_MAX {
                let what = format!("lists more than {ENTRIES_MAX} entries; read a directory below it");
                return Err(self.endless(directory, &what));
            }
        }
        Err(self.endless(directory, &format!("sends more than {PAGES_MAX} pages for one listing")))
    }

    fn endless(&self, directory: &Path, what: &str) -> Error {
        Error::new(ErrorKind::Permanent, format!("{}: the store {what}", self.shown(directory)))
    }

    /// The entries of the directory `path`, whose key is `directory`, each once.
    fn entries(&self, path: &str, directory: &Path, listed: &ListResult) -> Vec<Entry> {
        // The marker of the directory itself has the directory's own key.
        let objects = listed.objects.iter().filter(|meta| meta.location != *directory);
        let files = objects.filter_map(|meta| {
            let name = self.name(directory, &meta.location)?;
            file(&path::join(path, name), meta)
                .inspect_err(|error| {
                    tracing::warn!(target: "forerun::store", url = %self.url, %error, "skipped an object")
                })
                .ok()
        });
        let prefixes = listed.common_prefixes.iter().filter(|key| *key != directory);
        let directories =
            prefixes.filter_map(|key| Some(Entry::directory(path::join(path, self.name(directory, key)?))));
        let mut seen = HashSet::new();
        files.chain(directories).filter(|entry| self.is_new(&mut seen, entry)).collect()
    }

    /// Whether `entry` is the first of its path.
    fn is_new(&self, seen: &mut HashSet<String>, entry: &Entry) -> bool {
        let is_new = seen.insert(entry.path.clone());
        if !is_new && entry.kind == Kind::Directory {
            tracing::warn!(
                target: "forerun::store",
                url = %self.url, key = %entry.path,
                "an object hides the directory of the same name: mount its URL with a slash at the end"
            );
        }
        is_new
    }

    /// The last component of `key` if it lies directly in `directory`.
    fn name<'k>(&self, directory: &Path, key: &'k Path) -> Option<&'k str> {
        let below = key.as_ref().strip_prefix(directory.as_ref())?;
        let name = if directory.is_root() { below } else { below.strip_prefix('/')? };
        if path::is_name(name) {
            return Some(name);
        }
        tracing::warn!(
            target: "forerun::store",
            url = %self.url, key = %key, "skipped: the key cannot be a file name"
        );
        None
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
        match self.store.head(&key).await {
            Ok(meta) => file(path, &meta),
            Err(error) => match self.error(&key, &error) {
                error if error.kind != ErrorKind::NotFound => Err(error),
                _ if self.is_prefix(&key).await? => Ok(Entry::directory(path)),
                _ => Err(self.not_found(&key)),
            },
        }
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        // Nothing is more than that.
        Ok(self.list_within(path, usize::MAX).await?.unwrap_or_default())
    }

    async fn list_within(&self, path: &str, entries_max: usize) -> Result<Option<Vec<Entry>>> {
        let directory = self.key(path)?;
        let Some(listed) = self.pages(&directory, Some(DELIMITER), entries_max).await? else {
            return Ok(None);
        };
        if listed.objects.is_empty() && listed.common_prefixes.is_empty() && !path.is_empty() {
            return match self.store.head(&directory).await {
                Ok(_) => Err(Error::not_a_directory(format!("{} ({directory})", self.url))),
                Err(error) => Err(self.error(&directory, &error)),
            };
        }
        let entries = self.entries(path, &directory, &listed);
        Ok((entries.len() <= entries_max).then_some(entries))
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
        // Not every server minds If-Match.
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

/// The bytes of `body`; an error if they are fewer or more than `left`.
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

fn file(path: &str, meta: &ObjectMeta) -> Result<Entry> {
    let file = Entry::described(path, meta.size, version_of(meta))?;
    Ok(Entry { modified: Some(meta.last_modified.into()), ..file })
}

fn version_of(meta: &ObjectMeta) -> Version {
    let text = match (&meta.e_tag, &meta.version) {
        (Some(etag), _) if etag.ends_with('"') => format!("etag {etag}"),
        // Azure's lists leave out the quotes that its other answers have.
        (Some(etag), _) => format!("etag \"{etag}\""),
        (None, Some(generation)) => format!("generation {generation}"),
        (None, None) => dated(meta),
    };
    Version(text.into())
}

/// Listings tell milliseconds where other answers tell seconds.
fn dated(meta: &ObjectMeta) -> String {
    format!("modified {} {}", meta.last_modified.timestamp(), meta.size)
}

/// Whether `meta` is of `version`. Some stores list without the ETags that their
/// other answers have, so what the version was made of decides.
fn describes(version: &Version, meta: &ObjectMeta) -> bool {
    *version == version_of(meta) || *version.0 == *dated(meta)
}

#[cfg(test)]
mod tests;
