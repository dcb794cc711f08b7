//! Listing a directory of an object store.

use std::collections::HashMap;

use object_store::list::PaginatedListOptions;
use object_store::path::{DELIMITER, Path};
use object_store::{ListResult, ObjectStoreExt};

use super::ObjectBackend;
use super::connector::LeftOut;
use super::version::file;
use crate::bounds::{ENTRIES_MAX, PAGES_MAX};
use crate::{Entry, Error, ErrorKind, Kind, Result, path};

impl ObjectBackend {
    /// The entries of the directory `path`, or none if there are more than `entries_max`.
    pub(super) async fn list_pages(&self, path: &str, entries_max: usize) -> Result<Option<Vec<Entry>>> {
        let directory = self.key(path)?;
        let Some(listed) = self.pages(&directory, Some(DELIMITER), entries_max).await? else {
            return Ok(None);
        };
        if entry_count(&listed) == 0 && !path.is_empty() {
            return match self.store.head(&directory).await {
                Ok(_) => Err(Error::not_a_directory(format!("{} ({directory})", self.url))),
                Err(error) => Err(self.error(&directory, &error)),
            };
        }
        let entries = self.entries(path, &directory, &listed);
        Ok((entries.len() <= entries_max).then_some(entries))
    }

    /// Whether any key lies below `key` as a directory.
    pub(super) async fn is_prefix(&self, key: &Path) -> Result<bool> {
        let listed = self.pages(key, None, 1).await?;
        Ok(listed.is_none_or(|listed| entry_count(&listed) > 0))
    }

    /// The keys below `directory` up to a `delimiter`, or none if there are more than
    /// `entries_max`.
    async fn pages(
        &self,
        directory: &Path,
        delimiter: Option<&'static str>,
        entries_max: usize,
    ) -> Result<Option<ListResult>> {
        // Without the slash it would match neighbours, too.
        let prefix = (!directory.is_root()).then(|| format!("{directory}/"));
        let (objects, common_prefixes) = Default::default();
        let mut listed = ListResult { objects, common_prefixes, extensions: Default::default() };
        let mut page_token: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let before = page_token.clone();
            let delimiter = delimiter.map(Into::into);
            // One entry is enough to know whether there is any.
            let max_keys = (entries_max == 1).then_some(1);
            let options =
                PaginatedListOptions { delimiter, page_token, max_keys, ..PaginatedListOptions::default() };
            let page = self.pages.list_paginated(prefix.as_deref(), options).await;
            let page = page.map_err(|error| self.error(directory, &error))?;
            listed.objects.extend(page.result.objects);
            listed.common_prefixes.extend(page.result.common_prefixes);
            listed.extensions.extend(page.result.extensions);
            page_token = page.page_token;
            if page_token.is_none() {
                return Ok(Some(listed));
            }
            if page_token == before {
                return Err(self.endless(directory, "sends the same page of its listing again and again"));
            }
            let count = entry_count(&listed);
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
        let mut seen = HashMap::new();
        let prefixes = listed.common_prefixes.iter().filter(|key| *key != directory);
        let directories = prefixes
            .filter_map(|key| Some(Entry::directory(path::join(path, self.name(directory, key)?))))
            .filter(|entry| self.is_new(&mut seen, entry))
            .collect::<Vec<_>>();
        // The directory's own marker has the directory's key.
        let objects = listed.objects.iter().filter(|meta| meta.location != *directory);
        let files = objects.filter_map(|meta| {
            let name = self.name(directory, &meta.location)?;
            file(&path::join(path, name), meta)
                .inspect_err(|error| {
                    tracing::warn!(target: "forerun::store", url = %self.url, %error, "skipped an object")
                })
                .ok()
        });
        files.filter(|entry| self.is_new(&mut seen, entry)).chain(directories).collect()
    }

    /// Whether `entry` is the first with its path. Directories come first.
    fn is_new(&self, seen: &mut HashMap<String, Kind>, entry: &Entry) -> bool {
        let before = seen.insert(entry.path.clone(), entry.kind);
        if before == Some(Kind::Directory) && entry.kind == Kind::File {
            self.warn_of_hidden(&entry.path);
        }
        before.is_none()
    }

    /// Warns that the object at `path` is hidden by keys that begin with its key and a slash.
    pub(super) fn warn_of_hidden(&self, path: &str) {
        tracing::warn!(
            target: "forerun::store",
            url = %self.url, key = %path,
            "a directory hides the object of the same name: mount the URL of the object to read it"
        );
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

/// The number of entries. Removed entries count as one: the directory is not empty.
fn entry_count(listed: &ListResult) -> usize {
    let left_out = listed.extensions.get::<LeftOut>().map_or(0, |_| 1);
    listed.objects.len() + listed.common_prefixes.len() + left_out
}
