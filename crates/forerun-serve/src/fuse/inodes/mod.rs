//! Inodes: one for each version of an object, for as long as the kernel remembers it.

mod numbers;
mod record;
mod table;

use std::sync::Arc;

use forerun::Entry;
use parking_lot::Mutex;

use numbers::Numbers;
use record::identity;
use table::Table;

/// The root directory's inode, by the protocol.
pub(crate) const ROOT: u64 = 1;

/// The inodes that the kernel knows.
///
/// The table holds exactly those: the kernel says with every `forget` which it dropped. [`Numbers`]
/// lasts longer, so that a listing can show numbers without making inodes.
#[derive(Debug)]
pub(crate) struct Inodes {
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Known {
    table: Table,
    numbers: Numbers,
}

impl Inodes {
    /// A table of the root directory alone, which is never forgotten.
    pub(crate) fn new(root: &Entry) -> Inodes {
        let mut table = Table::default();
        table.remember(ROOT, root);
        Inodes { known: Mutex::new(Known { table, numbers: Numbers::new(ROOT + 1) }) }
    }

    /// The entry of inode `ino`.
    pub(crate) fn get(&self, ino: u64) -> Option<Arc<Entry>> {
        self.known.lock().table.get(ino).map(Arc::new)
    }

    /// The number of `entry`, which the kernel is told and will have to forget.
    pub(crate) fn remember(&self, entry: &Entry) -> u64 {
        let Known { table, numbers } = &mut *self.known.lock();
        let ino = table.number_of(entry).unwrap_or_else(|| numbers.hold(numbers.key(identity(entry))));
        table.remember(ino, entry);
        ino
    }

    /// The number of `entry` for a listing, which does not make an inode.
    pub(crate) fn number_of(&self, entry: &Entry) -> u64 {
        let Known { table, numbers } = &mut *self.known.lock();
        table.number_of(entry).unwrap_or_else(|| numbers.show(numbers.key(identity(entry))))
    }

    /// Counts `count` forgets of `ino`.
    pub(crate) fn forget(&self, ino: u64, count: u64) {
        if ino == ROOT {
            return;
        }
        let Known { table, numbers } = &mut *self.known.lock();
        if let Some(entry) = table.forget(ino, count) {
            numbers.release(numbers.key(identity(&entry)), ino);
        }
    }
}

/// Whether `a` and `b` are of the same inode.
pub(crate) fn same_inode(a: &Entry, b: &Entry) -> bool {
    identity(a) == identity(b)
}

#[cfg(test)]
mod tests {
    use forerun::{Kind, Version};

    use super::*;

    fn entry(path: &str, kind: Kind, version: &str) -> Entry {
        Entry::file(path, 0, Version(version.into())).with_kind(kind)
    }

    fn table() -> Inodes {
        Inodes::new(&entry("", Kind::Directory, ""))
    }

    #[test]
    fn another_version_is_another_inode_and_the_same_one_the_same() {
        let inodes = table();
        let first = inodes.remember(&entry("a", Kind::File, "1"));
        assert_ne!(first, inodes.remember(&entry("a", Kind::File, "2")));
        assert_eq!(first, inodes.remember(&entry("a", Kind::File, "1")));
        assert_ne!(first, inodes.remember(&entry("b", Kind::File, "1")));
        assert_ne!(first, inodes.remember(&entry("a", Kind::Symlink, "1")));
    }

    #[test]
    fn a_directory_keeps_its_inode_and_shows_its_latest_state() {
        let inodes = table();
        let ino = inodes.remember(&entry("d", Kind::Directory, "1"));
        assert_eq!(ino, inodes.remember(&entry("d", Kind::Directory, "2")));
        assert_eq!(&*inodes.get(ino).unwrap().version.0, "2");
        assert_eq!(inodes.number_of(&entry("", Kind::Directory, "9")), ROOT);
    }

    #[test]
    fn an_inode_goes_with_its_last_lookup_and_comes_back_with_its_number() {
        let inodes = table();
        let a = entry("a", Kind::File, "1");
        let ino = inodes.remember(&a);
        inodes.remember(&a);
        inodes.forget(ino, 1);
        assert!(inodes.get(ino).is_some());
        inodes.forget(ino, 1);
        assert!(inodes.get(ino).is_none());
        assert_eq!(inodes.number_of(&a), ino);
        assert_eq!(inodes.remember(&a), ino);
    }

    #[test]
    fn the_root_is_never_forgotten() {
        let inodes = table();
        inodes.forget(ROOT, 1000);
        assert!(inodes.get(ROOT).is_some());
    }

    #[test]
    fn a_listing_is_in_order_of_its_numbers_whatever_is_looked_up_first_of_it() {
        let inodes = table();
        let names = ["d/9", "d/1", "d/5"].map(|path| entry(path, Kind::File, "1"));
        let listed = names.each_ref().map(|entry| inodes.number_of(entry));
        assert!(listed.is_sorted());
        let looked_up = [&names[2], &names[1], &names[0]].map(|entry| inodes.remember(entry));
        assert_eq!(looked_up, [listed[2], listed[1], listed[0]]);
    }
}
