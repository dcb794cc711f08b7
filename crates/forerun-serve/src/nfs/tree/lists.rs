//! Directories that clients are in the midst of listing.
//!
//! A client lists a directory in pages, and a list of the storage is believed for a second only. So a page goes on
//! in the list of the page before. Where that is not kept any more, it goes on behind the same name in a new list.

use std::sync::Arc;

use forerun::{Entry, Result};
use parking_lot::Mutex;

use super::handles::{ExportId, digest};
use crate::served::Bucket;

/// Lists that are kept at most.
const LISTS_MAX: usize = 16;
/// Entries of all lists but the last. One has some 200 bytes.
const ENTRIES_MAX: usize = 1 << 16;

/// The place of `.`, of `..` and of the first entry. No place is 0, which asks for a new list.
const DOT: u64 = 1;
const DOT_DOT: u64 = 2;
const FIRST: u64 = 3;

/// The line of a list that a client has last, as the protocol keeps it: its place, and a hash of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListCookie(pub(super) u64);

/// A line of a listing that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextLine {
    Dot,
    DotDot,
    /// The entry of this index.
    Entry(usize),
}

/// Lists that pages go on in, the latest last.
#[derive(Debug, Default)]
pub(super) struct RecentLists {
    kept: Mutex<Vec<RecentList>>,
}

#[derive(Debug)]
struct RecentList {
    export: ExportId,
    path: String,
    entries: Arc<[Entry]>,
}

impl ListCookie {
    pub(super) const DOT: ListCookie = ListCookie(DOT << 32);
    pub(super) const DOT_DOT: ListCookie = ListCookie(DOT_DOT << 32);

    pub(super) fn of(index: usize, name: &str) -> ListCookie {
        ListCookie((FIRST + index as u64) << 32 | u64::from(hash(name)))
    }

    fn is_start(self) -> bool {
        self.0 >> 32 == 0
    }

    /// The line behind this one in `list`.
    pub(super) fn next(self, list: &[Entry]) -> NextLine {
        let index = match self.0 >> 32 {
            0 => return NextLine::Dot,
            DOT => return NextLine::DotDot,
            DOT_DOT => return NextLine::Entry(0),
            place => usize::try_from(place - FIRST).unwrap_or(usize::MAX),
        };
        let is_same = |entry: &Entry| u64::from(hash(entry.name())) == self.0 & u64::from(u32::MAX);
        if list.get(index).is_some_and(is_same) {
            return NextLine::Entry(index + 1);
        }
        // Entries came or went before it. If it went itself, the next one has its place.
        let moved = list.iter().position(is_same).map(|index| index + 1);
        NextLine::Entry(moved.unwrap_or(index))
    }
}

fn hash(name: &str) -> u32 {
    u32::from_be_bytes(digest(&[name.as_bytes()]))
}

impl RecentLists {
    /// The list of the directory `path` that goes on behind `cookie`; a new one for the first page.
    pub(super) async fn get(
        &self,
        export: ExportId,
        bucket: &Bucket,
        path: &str,
        cookie: ListCookie,
    ) -> Result<Arc<[Entry]>> {
        let kept = self.take(export, path).filter(|_| !cookie.is_start());
        let entries = match kept {
            Some(entries) => entries,
            None => bucket.entries(path).await?,
        };
        self.keep(RecentList { export, path: path.to_owned(), entries: Arc::clone(&entries) });
        Ok(entries)
    }

    /// A client has all of the list.
    pub(super) fn forget(&self, export: ExportId, path: &str) {
        self.take(export, path);
    }

    fn take(&self, export: ExportId, path: &str) -> Option<Arc<[Entry]>> {
        let mut kept = self.kept.lock();
        let index = kept.iter().position(|list| list.export == export && list.path == path)?;
        Some(kept.remove(index).entries)
    }

    fn keep(&self, list: RecentList) {
        let mut kept = self.kept.lock();
        let count: usize = kept.iter().map(|list| list.entries.len()).sum();
        let mut excess = count.saturating_sub(ENTRIES_MAX);
        while !kept.is_empty() && (excess > 0 || kept.len() >= LISTS_MAX) {
            excess = excess.saturating_sub(kept.remove(0).entries.len());
        }
        kept.push(list);
    }
}

#[cfg(test)]
mod tests {
    use forerun::Version;

    use super::*;

    fn list(names: &[&str]) -> Vec<Entry> {
        names.iter().map(|name| Entry::file(format!("d/{name}"), 0, Version("1".into()))).collect()
    }

    #[test]
    fn a_page_goes_on_behind_the_same_name_in_another_list() {
        let behind_b = ListCookie::of(1, "b");
        for (names, next) in [
            (&["a", "b", "c"][..], 2),
            (&["0", "a", "b", "c"], 3),
            (&["b", "c"], 1),
            (&["a", "c"], 1),
            (&["a"], 1),
        ] {
            assert_eq!(behind_b.next(&list(names)), NextLine::Entry(next), "{names:?}");
        }
        let start = [ListCookie(0), ListCookie::DOT, ListCookie::DOT_DOT];
        let lines = [NextLine::Dot, NextLine::DotDot, NextLine::Entry(0)];
        assert_eq!(start.map(|cookie| cookie.next(&[])), lines);
        assert_eq!(ListCookie(u64::MAX).next(&list(&["a"])), NextLine::Entry((u32::MAX - 3) as usize));
    }

    #[test]
    fn few_lists_are_kept() {
        let lists = RecentLists::default();
        let keep = |path: &str, count| {
            let entries = list(&vec!["a"; count]).into();
            lists.keep(RecentList { export: ExportId([0; 8]), path: path.to_owned(), entries });
        };
        (0..100).for_each(|number| keep(&number.to_string(), 10));
        assert_eq!(lists.kept.lock().len(), LISTS_MAX);
        keep("large", ENTRIES_MAX + 1);
        assert!(lists.take(ExportId([0; 8]), "99").is_some());
        keep("next", 1);
        assert_eq!(lists.kept.lock().len(), 1);
    }
}
