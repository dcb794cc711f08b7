//! When to list a directory instead of asking about one of its files after the other: a
//! list costs a request for each thousand entries. Pure: time is an argument.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::cache::ENTRIES_MAX;
use super::parent_of;

/// Entries in one answer of most stores.
const PAGE_ENTRIES: usize = 1000;
/// Files asked about that are worth a request of a list. A reader of fewer files pays
/// nothing for those who read many, and lists are what stores charge most for.
const FILES_PER_PAGE: usize = 4;
/// Directories watched. Then all are dropped, and lists only come later.
const DIRECTORIES_MAX: usize = 1024;
/// Lists under way at one time: a page takes some 300 KB while it is read.
const LISTS_MAX: usize = 8;

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Bulk {
    directories: HashMap<Arc<str>, Directory>,
    /// The directories that are being listed.
    under_way: HashSet<Arc<str>>,
    hasher: RandomState,
}

#[derive(Debug)]
struct Directory {
    /// Hashes of the names that were asked about since then; no more than matter.
    names: HashSet<u64>,
    since: Instant,
    /// The last list is new enough until then.
    due: Instant,
    /// Pages that the next list may have.
    page_count: usize,
}

impl Bulk {
    /// Somebody asks what is at `path`, and answers are believed for `ttl`. The directory
    /// that should be listed because of that, with so many entries at most. It is then
    /// under way until [`Bulk::ended`].
    pub(super) fn asked(&mut self, path: &str, now: Instant, ttl: Duration) -> Option<(Arc<str>, usize)> {
        let parent = parent_of(path);
        if path.is_empty() || ttl.is_zero() {
            return None;
        }
        let hash = self.hasher.hash_one(path);
        let directory = match self.directories.get_mut(parent) {
            Some(directory) => directory,
            None => self.watch(parent, Directory::new(now)),
        };
        if now.saturating_duration_since(directory.since) >= ttl {
            directory.names.clear();
            directory.since = now;
        }
        let is_known_too_large = directory.page_count > ENTRIES_MAX / PAGE_ENTRIES;
        if is_known_too_large || !directory.is_worth_a_list(hash) || now < directory.due {
            return None;
        }
        let entries_max = directory.page_count * PAGE_ENTRIES;
        if self.under_way.len() >= LISTS_MAX || self.under_way.contains(parent) {
            return None;
        }
        let parent = Arc::<str>::from(parent);
        self.under_way.insert(Arc::clone(&parent));
        Some((parent, entries_max))
    }

    /// `path` was listed, which is believed for `ttl`.
    pub(super) fn listed(&mut self, path: &str, entry_count: usize, now: Instant, ttl: Duration) {
        // While the answer to the next is on its way, this one is still believed.
        let Some(due) = now.checked_add(ttl / 4 * 3) else { return };
        let page_count = entry_count / PAGE_ENTRIES + 1;
        self.watch(path, Directory { due, page_count, ..Directory::new(now) });
    }

    /// The list of `path` is not under way any more. If it `has_failed`, because there is
    /// too much in it or for another reason, the next one takes twice as many files. So
    /// all lists that fail cost less than the files did that were asked about meanwhile.
    pub(super) fn ended(&mut self, path: &str, has_failed: bool) {
        self.under_way.remove(path);
        if has_failed && let Some(directory) = self.directories.get_mut(path) {
            directory.page_count *= 2;
        }
    }

    fn watch(&mut self, path: &str, directory: Directory) -> &mut Directory {
        if self.directories.len() >= DIRECTORIES_MAX && !self.directories.contains_key(path) {
            self.directories.clear();
        }
        let watched = self.directories.entry(path.into());
        watched.insert_entry(directory).into_mut()
    }
}

impl Directory {
    fn new(now: Instant) -> Directory {
        Directory { names: HashSet::new(), since: now, due: now, page_count: 1 }
    }

    /// Counts a name. Whether so many were asked about that a list is cheaper.
    fn is_worth_a_list(&mut self, name: u64) -> bool {
        let enough = FILES_PER_PAGE * self.page_count;
        if self.names.len() < enough {
            self.names.insert(name);
        }
        self.names.len() >= enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(4);

    /// Asks about `count` files, beginning with number `first`. The first that has its
    /// directory listed, and with how many entries.
    fn ask(bulk: &mut Bulk, first: usize, count: usize, now: Instant) -> Option<(usize, usize)> {
        (0..count).find_map(|index| {
            let (directory, entries_max) = bulk.asked(&format!("d/{}", first + index), now, TTL)?;
            assert_eq!(&*directory, "d");
            Some((index, entries_max))
        })
    }

    #[test]
    fn the_fourth_file_within_the_time_has_the_directory_listed_once() {
        let (mut bulk, now) = (Bulk::default(), Instant::now());
        assert_eq!(ask(&mut bulk, 0, 3, now), None);
        assert_eq!(ask(&mut bulk, 0, 3, now), None, "the same three files");
        assert_eq!(bulk.asked("e/4", now, TTL), None, "a file elsewhere");
        assert_eq!(ask(&mut bulk, 3, 9, now), Some((0, 1000)));
        assert_eq!(ask(&mut bulk, 4, 9, now), None, "it is under way");
        bulk.ended("d", false);
        let later = now + TTL;
        assert_eq!(ask(&mut bulk, 20, 3, later), None, "what was asked about before has been forgotten");
        assert_eq!(ask(&mut bulk, 23, 1, later), Some((0, 1000)));
    }

    #[test]
    fn readers_of_many_files_have_it_listed_again_before_the_list_is_too_old() {
        let (mut bulk, now) = (Bulk::default(), Instant::now());
        bulk.listed("d", 2000, now, TTL);
        assert_eq!(ask(&mut bulk, 0, 100, now + TTL / 2), None, "it is believed");
        assert_eq!(ask(&mut bulk, 0, 1, now + TTL / 4 * 3), Some((0, 3000)));
        bulk.listed("d", 2000, now + TTL / 4 * 3, TTL);
        bulk.ended("d", false);
        assert_eq!(ask(&mut bulk, 0, 100, now + TTL * 9), Some((11, 3000)));
    }

    #[test]
    fn lists_that_fail_take_twice_as_many_files_each_until_they_could_not_be_kept() {
        let (mut bulk, now) = (Bulk::default(), Instant::now());
        let (mut asked, mut pages) = (0, 0);
        while let Some((index, entries_max)) = ask(&mut bulk, 0, 10_000, now) {
            asked = asked.max(index + 1);
            pages += entries_max / PAGE_ENTRIES;
            bulk.ended("d", true);
        }
        assert_eq!((asked, pages), (256, 127));
        bulk.listed("d", 10, now, TTL);
        assert_eq!(ask(&mut bulk, 0, 100, now + TTL), Some((3, 1000)), "it has become small");
    }

    #[test]
    fn lists_at_one_time_and_what_is_remembered_are_bounded() {
        let (mut bulk, now) = (Bulk::default(), Instant::now());
        let begun =
            (0..5000).filter(|index| bulk.asked(&format!("{}/{index}", index / 4), now, TTL).is_some());
        assert_eq!(begun.count(), LISTS_MAX);
        assert!(bulk.directories.len() <= DIRECTORIES_MAX);
        assert!((0..5000).all(|index| bulk.asked(&format!("huge/{index}"), now, TTL).is_none()));
        assert!(bulk.directories["huge"].names.len() <= FILES_PER_PAGE);
    }

    #[test]
    fn without_time_to_live_nothing_is_listed() {
        let (mut bulk, now) = (Bulk::default(), Instant::now());
        assert!((0..9).all(|index| bulk.asked(&format!("d/{index}"), now, Duration::ZERO).is_none()));
        assert!(bulk.directories.is_empty());
    }
}
