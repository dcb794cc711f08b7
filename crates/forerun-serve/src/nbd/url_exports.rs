//! The objects of one URL, as exports.

use std::sync::{Arc, Weak};

use forerun::{ClientId, Entry, ErrorKind, Forerun, Kind, Result};

use super::changes::Changes;
use super::direct::WritableObject;
use super::exports::LISTED_MAX;
use super::image::{Image, Images};
use super::open::{OpenExport, Shares};
use super::overlay::Overlay;
use crate::sending::Pool;

/// A URL, and what its exports are called.
#[derive(Debug)]
pub struct Source {
    pub(super) forerun: Forerun,
    /// The name that was given.
    name: Option<String>,
    /// The path of the only object that is served.
    only: Option<String>,
    shares: Shares,
    pub(super) changes: Changes,
    /// None if each object is a disk as it is.
    images: Option<Images>,
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

    /// Only `object`, which clients may write.
    #[must_use]
    pub fn with_writable(self, object: Arc<WritableObject>) -> Source {
        Source { only: Some(object.name().to_owned()), changes: Changes::Direct(object), ..self }
    }

    /// The name of the only export; none if it is a tree.
    pub fn single(&self) -> Option<&str> {
        self.only.as_deref().map(|object| self.name.as_deref().unwrap_or(object))
    }

    /// The path of the object that would be called `name`.
    pub(super) fn path_of<'a>(&'a self, name: &'a str) -> Option<&'a str> {
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

    /// The export of this version of the object, which is the one in `slot` if that has it.
    pub(super) async fn open(
        &self,
        name: &str,
        entry: &Entry,
        slot: &mut Weak<OpenExport>,
    ) -> Result<Arc<OpenExport>> {
        if let Some(export) = slot.upgrade() {
            // A reader may have found meanwhile that a file has changed.
            if export.has_current_backing().await? && export.is(entry) {
                return Ok(export);
            }
            export.retire();
        }
        let Source { forerun, shares, changes, images, .. } = self;
        let export = OpenExport::new(name.to_owned(), entry, forerun, images.as_ref(), shares, changes).await;
        if export.as_ref().is_err_and(|error| error.kind == ErrorKind::Changed) {
            // The next client asks the storage again.
            forerun.invalidate_metadata(&entry.path);
        }
        let export = Arc::new(export?);
        *slot = Arc::downgrade(&export);
        Ok(export)
    }

    /// The names of the files at the top.
    pub(super) async fn names(&self) -> Result<Vec<String>> {
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
