//! Lists: what a program will read of many files, in this order.

use std::collections::HashMap;

use forerun_backend::{Entry, Error, ErrorKind, Kind, Result};
use forerun_engine::{Config, Extent, List, ListReport};
use futures::{StreamExt, TryStreamExt, stream};

use crate::driver::Name;
use crate::{Forerun, Part};

/// Files that are looked up at once: enough for any store, and no storm.
const LOOKUPS_MAX: usize = 64;
/// Symbolic links that lead to one file, at most; as many as Linux follows.
const LINKS_MAX: usize = 40;

/// A list that was told, and what became of it; see [`Forerun::lists`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListProgress {
    /// How many files it names.
    pub file_count: usize,
    /// The engine's report.
    pub report: ListReport,
}

impl Forerun {
    /// Parts of one list, at most: 65,536.
    pub const LIST_PARTS_MAX: usize = Config::PLAN_EXTENTS_MAX;

    /// Says that `parts` will be read, in this order, each byte once, by any readers. They are read
    /// ahead in this order. The storage's speed and the memory bound the lead before the readers. Files that nobody has opened yet are read ahead, too. Readers may be at
    /// several places of the list at once.
    ///
    /// Nothing more is read ahead when readers read something else in these files again and again, or
    /// leave much out, until they come back. A list is dropped when it was read to its end, and the one
    /// that rested longest when there are more than 16.
    ///
    /// Returns how many parts were left out, because there is no such file or it ends before them.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for more than [`Forerun::LIST_PARTS_MAX`] parts, for none, for a path that
    /// names nothing, or if the policy follows no lists. [`ErrorKind::NotFound`] if no part is there. Else
    /// the backend's own error.
    pub async fn prefetch(&self, parts: &[Part]) -> Result<usize> {
        self.check(parts)?;
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut paths: Vec<String> = Vec::new();
        for part in parts {
            numbers.entry(&part.path).or_insert_with(|| {
                paths.push(part.path.clone());
                paths.len() - 1
            });
        }
        let lookups = paths.into_iter().map(|path| self.find_file(path));
        let found: Vec<Option<Entry>> = stream::iter(lookups).buffered(LOOKUPS_MAX).try_collect().await?;
        let files = Files::of(&found);
        let extents: Vec<(u32, Extent)> = parts
            .iter()
            .filter_map(|part| {
                let place = numbers[part.path.as_str()];
                let size = found[place].as_ref()?.size;
                let extent = Extent::new(part.offset, part.len.unwrap_or(u64::MAX));
                let is_there = part.offset < size || (part.offset, size) == (0, 0);
                is_there.then_some((files.numbers[place]?, extent.intersection(&Extent::new(0, size))))
            })
            .collect();
        if extents.is_empty() {
            let Part { path, .. } = &parts[0];
            let message = format!(
                "nothing of the list is in {}, {path:?} for one; its paths are relative to that",
                self.url()
            );
            return Err(Error::new(ErrorKind::NotFound, message));
        }
        let left_out = parts.len() - extents.len();
        // Made before the engine's lock is taken: it sorts.
        let list = List::new(extents);
        self.driver().start_list(files.names, list);
        Ok(left_out)
    }

    /// Each list that is not read to its end yet, in the order in which they were told.
    pub fn lists(&self) -> Vec<ListProgress> {
        let lists = self.driver().lists().into_iter();
        lists.map(|(report, file_count)| ListProgress { file_count, report }).collect()
    }

    fn check(&self, parts: &[Part]) -> Result<()> {
        let invalid = |message: String| Err(Error::new(ErrorKind::Invalid, message));
        if !self.driver().follows_lists() {
            return invalid("the policy follows no lists; choose `adaptive`".to_owned());
        }
        if parts.is_empty() {
            return invalid("the list has no parts; name at least one file".to_owned());
        }
        if parts.len() > Forerun::LIST_PARTS_MAX {
            let (count, max) = (parts.len(), Forerun::LIST_PARTS_MAX);
            return invalid(format!("the list has {count} parts, and {max} is the most; give it in pieces"));
        }
        match parts.iter().find(|part| !is_path(&part.path)) {
            Some(part) => {
                let advice = "give the path of a file, relative to the root, without `.` and `..`";
                invalid(format!("{:?} in the list is no path; {advice}", part.path))
            }
            None => Ok(()),
        }
    }

    /// The file at `path`, or that symbolic links there lead to; nothing if there is none.
    async fn find_file(&self, mut path: String) -> Result<Option<Entry>> {
        for _ in 0..LINKS_MAX {
            match self.stat(&path).await {
                Ok(entry) if entry.kind == Kind::File => return Ok(Some(entry)),
                Ok(entry) if entry.kind == Kind::Symlink => {
                    let target = self.read_link(&path).await?;
                    let target = str::from_utf8(&target).ok().and_then(|target| follow(&path, target));
                    let Some(target) = target else { return Ok(None) };
                    path = target;
                }
                Ok(_) => return Ok(None),
                Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

/// The files of a list; several paths may lead to one.
struct Files {
    names: Vec<Name>,
    /// The number of what was found for each path.
    numbers: Vec<Option<u32>>,
}

impl Files {
    fn of(found: &[Option<Entry>]) -> Files {
        let mut by_path: HashMap<&str, u32> = HashMap::new();
        let mut names: Vec<Name> = Vec::new();
        let mut number = |entry: &Entry| {
            names.push(Name {
                path: entry.path.as_str().into(),
                version: entry.version.clone(),
                size: entry.size,
            });
            names.len() as u32 - 1
        };
        let mut numbers = Vec::with_capacity(found.len());
        for entry in found {
            let known = entry
                .as_ref()
                .map(|entry| *by_path.entry(entry.path.as_str()).or_insert_with(|| number(entry)));
            numbers.push(known);
        }
        Files { names, numbers }
    }
}

fn is_path(path: &str) -> bool {
    path.split('/').all(|name| !matches!(name, "" | "." | ".."))
}

/// Where the link at `path` leads with `target`, if that is within the tree.
fn follow(path: &str, target: &str) -> Option<String> {
    if target.starts_with('/') {
        return None;
    }
    let mut names: Vec<&str> = path.split('/').collect();
    names.pop();
    for name in target.split('/') {
        match name {
            "" | "." => {}
            ".." => _ = names.pop()?,
            name => names.push(name),
        }
    }
    (!names.is_empty()).then(|| names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_within_the_tree() {
        let leads = |path: &str, target: &str| follow(path, target);
        assert_eq!(leads("snapshots/1/model", "../../blobs/abc").as_deref(), Some("blobs/abc"));
        assert_eq!(leads("a", "./b//c").as_deref(), Some("b/c"));
        assert_eq!(leads("d/a", "../.."), None);
        assert_eq!(leads("a", "/etc/passwd"), None);
        assert_eq!(leads("d/a", ".."), None);
    }

    #[test]
    fn paths_are_relative_and_plain() {
        assert!(is_path("a") && is_path("a b/c\t"));
        for path in ["", "/a", "a/", "a//b", "./a", "a/../b"] {
            assert!(!is_path(path), "{path}");
        }
    }
}
