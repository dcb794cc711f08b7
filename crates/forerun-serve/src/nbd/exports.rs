//! The exports by name.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use forerun::{ClientId, Entry, ErrorKind, Forerun, Kind, Result};
use parking_lot::Mutex;

use super::changes::Changes;
use super::direct::WritableFile;
use super::image::{Image, Images};
use super::open::{OpenExport, Shares};
use super::overlay::Overlay;
use crate::sending::Pool;

/// Names that a client gets at most.
const LISTED_MAX: usize = 10_000;

/// A URL, and what its exports are called.
#[derive(Debug)]
pub struct Source {
    forerun: Forerun,
    /// The name that was given.
    name: Option<String>,
    /// The path of the only object that is served.
    only: Option<String>,
    shares: Shares,
    changes: Changes,
    /// None if each object is a disk as it is.
    images: Option<Images>,
}

/// All that is served. Connections to one version of an object share it.
#[derive(Debug)]
pub struct Exports {
    sources: Vec<Source>,
    open: Mutex<HashMap<String, Weak<OpenExport>>>,
}

impl Source {
    /// The objects of `forerun`. One object is called `name`, or as its path. The objects of a tree are called as
    /// their paths, below `name` if it is given.
    pub fn new(forerun: Forerun, name: Option<String>) -> Source {
        let [lending, taking] = [0; 2].map(|_| Pool::new(&forerun));
        let only = forerun.object().map(str::to_owned);
        Source {
            forerun,
            name,
            only,
            shares: Shares { lending, taking },
            changes: Changes::Refused,
            images: None,
        }
    }

    /// The same objects, each an image in the format qcow2. Its backing file is in the tree of `backing`. Without that
    /// no image may have one.
    #[must_use]
    pub fn with_qcow2(self, backing: Option<Forerun>) -> Source {
        Source { images: Some(Images::new(&self.forerun, backing)), ..self }
    }

    /// The disk in `object`. Of an image it has the size that clients see, and the versions of all files.
    ///
    /// # Errors
    /// If there is none.
    pub async fn disk(&self, object: &str) -> Result<Entry> {
        let entry = self.forerun.stat(object).await?;
        let Some(images) = &self.images else { return Ok(entry) };
        Ok(Image::open(&entry, &self.forerun, ClientId::default(), images).await?.disk_entry())
    }

    /// Only `object`, the base of `overlay`, which keeps what clients write.
    #[must_use]
    pub fn with_overlay(self, object: &str, overlay: Overlay) -> Source {
        Source { only: Some(object.to_owned()), changes: Changes::Overlay(Arc::new(overlay)), ..self }
    }

    /// Only `file`, which clients may write.
    #[must_use]
    pub fn with_file(self, file: Arc<WritableFile>) -> Source {
        Source { only: Some(file.name().to_owned()), changes: Changes::Direct(file), ..self }
    }

    /// The name of the only export; none if it is a tree.
    pub fn single(&self) -> Option<&str> {
        self.only.as_deref().map(|object| self.name.as_deref().unwrap_or(object))
    }

    /// The path of the object that would be called `name`.
    fn path_of<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        if let Some(single) = self.single() {
            return self.only.as_deref().filter(|_| name == single);
        }
        let path = match &self.name {
            Some(own) => name.strip_prefix(own.as_str())?.strip_prefix('/')?,
            None => name,
        };
        path.split('/').all(|part| !matches!(part, "" | "." | "..")).then_some(path)
    }

    /// The export name of the object at `path`.
    fn name_of(&self, path: &str) -> String {
        match &self.name {
            Some(own) => format!("{own}/{path}"),
            None => path.to_owned(),
        }
    }

    /// The names of the files at the top.
    async fn names(&self) -> Result<Vec<String>> {
        if let Some(single) = self.single() {
            return Ok(vec![single.to_owned()]);
        }
        let entries = self.forerun.list("").await?;
        let files = entries.iter().filter(|entry| entry.kind == Kind::File);
        let mut names: Vec<String> = files.take(LISTED_MAX).map(|entry| self.name_of(&entry.path)).collect();
        names.sort_unstable();
        Ok(names)
    }
}

impl Exports {
    /// The exports of `sources`. If two have an export of one name, the first is meant.
    pub fn new(sources: Vec<Source>) -> Exports {
        Exports { sources, open: Mutex::default() }
    }

    /// The names that a list has.
    ///
    /// # Errors
    /// If a directory cannot be listed.
    pub async fn names(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for source in &self.sources {
            names.extend(source.names().await?);
        }
        names.truncate(LISTED_MAX);
        Ok(names)
    }

    /// Makes all writes last that have ended.
    ///
    /// # Errors
    /// If the disk does not take them.
    pub async fn flush(&self) -> Result<()> {
        for source in &self.sources {
            source.changes.flush().await?;
        }
        Ok(())
    }

    /// The first name of the list.
    async fn first(&self) -> Result<Option<String>> {
        for source in &self.sources {
            if let Some(name) = source.names().await?.into_iter().next() {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// The export called `name`, or the first of the list if that is empty; none if there is none.
    ///
    /// # Errors
    /// If the storage cannot tell.
    pub(super) async fn find(&self, name: &str) -> Result<Option<Arc<OpenExport>>> {
        let first;
        let name = if name.is_empty() {
            let Some(found) = self.first().await? else { return Ok(None) };
            first = found;
            &first
        } else {
            name
        };
        for source in &self.sources {
            let Some(path) = source.path_of(name) else { continue };
            match source.forerun.stat(path).await {
                Ok(entry) if entry.kind == Kind::File => {
                    return self.open(name, &entry, source).await.map(Some);
                }
                Ok(_) => {}
                Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// The export of this version of the object, shared with those that have it open.
    async fn open(&self, name: &str, entry: &Entry, source: &Source) -> Result<Arc<OpenExport>> {
        let found = self.open.lock().get(name).and_then(Weak::upgrade);
        if let Some(export) = found {
            if export.is(entry) && export.has_current_backing().await? {
                return Ok(export);
            }
            export.retire();
        }
        let Source { forerun, shares, changes, images, .. } = source;
        let export = OpenExport::new(name.to_owned(), entry, forerun, images.as_ref(), shares, changes).await;
        if export.as_ref().is_err_and(|error| error.kind == ErrorKind::Changed) {
            // The next client asks the storage again.
            source.forerun.invalidate_metadata(&entry.path);
        }
        let export = Arc::new(export?);
        let mut open = self.open.lock();
        open.retain(|_, export| export.strong_count() > 0);
        // Another client may have opened it meanwhile.
        if let Some(other) = open.get(name).and_then(Weak::upgrade) {
            if other.is(entry) {
                return Ok(other);
            }
            other.retire();
        }
        open.insert(name.to_owned(), Arc::downgrade(&export));
        Ok(export)
    }
}
