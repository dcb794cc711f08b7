//! Listings, in a compact form and in the order they were given: five bytes an entry.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::types::{DirectoryId, ListedFile};

/// Entries remembered at most, of all directories together: 5 MiB.
const ENTRIES_MAX: usize = 1 << 20;
/// The most directories that are remembered; the one that was listed longest ago goes first.
const DIRECTORIES_MAX: usize = 1024;

/// The order in which objects are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OrderId {
    Directory(DirectoryId),
    Trail,
}

/// The properties by which walkers choose files: class and magnitude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileKind(u16);

/// The listing of one directory.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// In bytes, as far as 32 bits count.
    sizes: Vec<u32>,
    classes: Vec<u8>,
}

impl Listing {
    /// Keeps as many of `files` as the limit allows.
    pub(super) fn new(files: impl Iterator<Item = ListedFile>) -> Listing {
        let mut listing = Listing::default();
        for file in files.take(ENTRIES_MAX) {
            listing.sizes.push(u32::try_from(file.size).unwrap_or(u32::MAX));
            listing.classes.push(file.class);
        }
        listing.sizes.shrink_to_fit();
        listing.classes.shrink_to_fit();
        listing
    }

    pub(super) fn len(&self) -> u32 {
        self.sizes.len() as u32
    }

    /// The bytes of the file at `index`; 0 if it is no file.
    pub(super) fn size(&self, index: u32) -> u64 {
        self.sizes.get(index as usize).map_or(0, |size| u64::from(*size))
    }

    pub(super) fn kind(&self, index: u32) -> FileKind {
        let class = self.classes.get(index as usize).copied().unwrap_or(0);
        let magnitude = match self.size(index) {
            0..0x1_0000 => 0,
            0x1_0000..0x10_0000 => 1,
            0x10_0000..0x100_0000 => 2,
            _ => 3,
        };
        FileKind(u16::from(class) << 2 | magnitude)
    }
}

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Directories {
    listings: BTreeMap<DirectoryId, (u64, Listing)>,
    /// Directories by the time of their listing.
    order: BTreeMap<u64, DirectoryId>,
    entry_count: usize,
    told_count: u64,
}

impl Directories {
    pub(super) fn get(&self, directory: DirectoryId) -> Option<&Listing> {
        self.listings.get(&directory).map(|(_, listing)| listing)
    }

    /// Sets the listing of `directory`. False if it is the same as before.
    pub(super) fn tell(&mut self, directory: DirectoryId, listing: Listing) -> bool {
        let before = self.remove(directory);
        let is_new = before.as_ref() != Some(&listing);
        while self.listings.len() >= DIRECTORIES_MAX || self.entry_count + listing.sizes.len() > ENTRIES_MAX {
            let Some((_, oldest)) = self.order.pop_first() else { break };
            self.remove(oldest);
        }
        self.told_count += 1;
        self.entry_count += listing.sizes.len();
        self.order.insert(self.told_count, directory);
        self.listings.insert(directory, (self.told_count, listing));
        is_new
    }

    fn remove(&mut self, directory: DirectoryId) -> Option<Listing> {
        let (told, listing) = self.listings.remove(&directory)?;
        self.order.remove(&told);
        self.entry_count -= listing.sizes.len();
        Some(listing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(count: usize) -> Listing {
        Listing::new((0..count).map(|index| ListedFile { size: index as u64, class: 0 }))
    }

    #[test]
    fn the_oldest_listings_go_and_none_is_too_large() {
        let mut directories = Directories::default();
        assert!(directories.tell(DirectoryId(0), listing(ENTRIES_MAX / 2)));
        assert!(directories.tell(DirectoryId(1), listing(ENTRIES_MAX / 2)));
        assert!(!directories.tell(DirectoryId(0), listing(ENTRIES_MAX / 2)), "it is known");
        assert!(directories.tell(DirectoryId(2), listing(3)));
        assert!(directories.get(DirectoryId(1)).is_none() && directories.get(DirectoryId(0)).is_some());
        assert!(directories.tell(DirectoryId(3), listing(ENTRIES_MAX + 1)));
        assert_eq!(directories.get(DirectoryId(3)).unwrap().len() as usize, ENTRIES_MAX);
        assert_eq!((directories.entry_count, directories.order.len()), (ENTRIES_MAX, 1));
    }

    #[test]
    fn a_kind_is_class_and_magnitude() {
        let file = |size, class| ListedFile { size, class };
        let files = [file(10, 1), file(60_000, 1), file(100_000, 1), file(10, 2), file(1 << 40, 2)];
        let listing = Listing::new(files.into_iter());
        assert_eq!(listing.kind(0), listing.kind(1));
        assert_ne!(listing.kind(1), listing.kind(2));
        assert_ne!(listing.kind(0), listing.kind(3));
        assert_eq!(listing.size(4), u64::from(u32::MAX));
    }
}
