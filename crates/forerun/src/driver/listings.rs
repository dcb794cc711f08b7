//! Which entry of which listing an object is, so that the engine can follow whoever
//! walks through a directory.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use forerun_backend::{Entry, Kind};
use forerun_engine::{DirectoryId, ListedFile};

/// Entries of all listings together; they are shared with the catalog while it
/// believes them.
const ENTRIES_MAX: usize = 65_536;
/// A longer ending is most likely no kind of file.
const ENDING_BYTES_MAX: usize = 8;

/// One directory's entries as they were listed last.
#[derive(Debug)]
pub(crate) struct Listing {
    path: Arc<str>,
    entries: Arc<[Entry]>,
    /// Their indices, in order of path.
    order: Vec<u32>,
}

impl Listing {
    /// The listing of the directory at `path`.
    pub(crate) fn new(path: &str, entries: Arc<[Entry]>) -> Listing {
        let mut order: Vec<u32> = (0..entries.len().min(ENTRIES_MAX) as u32).collect();
        order.sort_unstable_by(|a, b| entries[*a as usize].path.cmp(&entries[*b as usize].path));
        Listing { path: path.into(), entries, order }
    }

    /// The facts about each entry that the engine uses.
    pub(crate) fn files(&self) -> impl Iterator<Item = ListedFile> + '_ {
        self.entries.iter().take(self.order.len()).map(|entry| ListedFile {
            size: if entry.kind == Kind::File { entry.size } else { 0 },
            class: class_of(entry.name()),
        })
    }

    fn index_of(&self, path: &str) -> Option<u32> {
        let found =
            self.order.binary_search_by(|index| self.entries[*index as usize].path.as_str().cmp(path));
        found.ok().map(|at| self.order[at])
    }
}

/// The listings of late.
#[derive(Debug, Default)]
pub(crate) struct Listings {
    numbers: HashMap<Arc<str>, DirectoryId>,
    /// By number, hence the oldest first.
    listings: BTreeMap<DirectoryId, Listing>,
    entry_count: usize,
    next: u64,
}

impl Listings {
    /// `listing` is what its directory holds. A directory that was known keeps its
    /// number.
    pub(crate) fn put(&mut self, listing: Listing) -> DirectoryId {
        let known = self.numbers.get(&listing.path).copied();
        if let Some(before) = known.and_then(|directory| self.listings.remove(&directory)) {
            self.entry_count -= before.order.len();
        }
        while self.entry_count + listing.order.len() > ENTRIES_MAX
            && let Some((_, oldest)) = self.listings.pop_first()
        {
            self.entry_count -= oldest.order.len();
            self.numbers.remove(&oldest.path);
        }
        let directory = known.unwrap_or(DirectoryId(self.next));
        self.next = self.next.max(directory.0 + 1);
        self.entry_count += listing.order.len();
        self.numbers.insert(Arc::clone(&listing.path), directory);
        self.listings.insert(directory, listing);
        directory
    }

    /// The listing of `directory`, if it is known.
    pub(crate) fn get(&self, directory: DirectoryId) -> Option<&Listing> {
        self.listings.get(&directory)
    }

    /// Where the object at `path` was listed.
    pub(crate) fn find(&self, path: &str) -> Option<(DirectoryId, u32)> {
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        let directory = *self.numbers.get(parent)?;
        Some((directory, self.listings.get(&directory)?.index_of(path)?))
    }

    /// The file at `index` of `directory`.
    pub(crate) fn file(&self, directory: DirectoryId, index: u32) -> Option<&Entry> {
        let entry = self.listings.get(&directory)?.entries.get(index as usize)?;
        (entry.kind == Kind::File).then_some(entry)
    }
}

/// A small number for the name's ending: 0 if it has none, and 1 if that is a number. Most others have one
/// of their own.
fn class_of(name: &str) -> u8 {
    let Some((stem, ending)) = name.rsplit_once('.') else { return 0 };
    match ending.as_bytes() {
        _ if stem.is_empty() => 0,
        bytes if bytes.is_empty() || bytes.len() > ENDING_BYTES_MAX => 0,
        bytes if bytes.iter().all(u8::is_ascii_digit) => 1,
        bytes => {
            let mixed = bytes.iter().fold(0x811c_9dc5_u32, |sum, byte| {
                (sum ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0193)
            });
            ((mixed >> 16 ^ mixed) % 254) as u8 + 2
        }
    }
}

#[cfg(test)]
mod tests {
    use forerun_backend::Version;

    use super::*;

    fn listing(path: &str, names: &[&str]) -> Listing {
        let entry = |name: &&str| Entry::file(format!("{path}/{name}"), 7, Version("1".into()));
        Listing::new(path, names.iter().map(entry).collect())
    }

    #[test]
    fn entries_are_found_in_whatever_order_they_were_listed() {
        let mut listings = Listings::default();
        let directory = listings.put(listing("d", &["c.txt", "a.txt", "b.txt"]));
        assert_eq!(listings.find("d/a.txt"), Some((directory, 1)));
        assert_eq!(listings.file(directory, 2).unwrap().path, "d/b.txt");
        assert_eq!(listings.find("d/x.txt"), None);
        assert_eq!(listings.find("e/a.txt"), None);
        assert_eq!(listings.put(listing("d", &["b.txt"])), directory);
        assert_eq!((listings.find("d/a.txt"), listings.find("d/b.txt")), (None, Some((directory, 0))));
    }

    #[test]
    fn the_oldest_listings_go() {
        let mut listings = Listings::default();
        let names = vec!["x"; ENTRIES_MAX / 2];
        listings.put(listing("a", &names));
        listings.put(listing("b", &names));
        listings.put(listing("c", &["x"]));
        assert!(listings.find("a/x").is_none() && listings.find("b/x").is_some());
        assert_eq!((listings.entry_count, listings.numbers.len()), (ENTRIES_MAX / 2 + 1, 2));
    }

    #[test]
    fn classes_are_by_ending() {
        assert_eq!(class_of("a.TXT"), class_of("b.txt"));
        assert_ne!(class_of("a.txt"), class_of("b.c"));
        assert_eq!(class_of("part.0001"), class_of("part.0002"));
        assert_eq!([class_of("README"), class_of(".profile"), class_of("a.verylongending")], [0, 0, 0]);
    }
}
