//! Inodes: one per version of an object, for as long as the kernel remembers it.

use std::collections::HashMap;
use std::sync::Arc;

use forerun::{Entry, Kind};
use parking_lot::Mutex;

use super::numbers::Numbers;

/// A table with less room is not worth the time that it takes to make it smaller.
const ROOM_MIN: usize = 4096;

/// The root directory's inode, by the protocol.
pub(crate) const ROOT: u64 = 1;

/// The inodes the kernel knows.
///
/// The table holds what the kernel holds and nothing else: it says with every
/// `forget` what may go. Their [`Numbers`] are known for longer, so that a listing can
/// name numbers without making inodes.
#[derive(Debug)]
pub(crate) struct Inodes {
    table: Mutex<Table>,
}

#[derive(Debug)]
struct Table {
    nodes: HashMap<u64, Node>,
    numbers: Numbers,
}

#[derive(Debug)]
struct Node {
    entry: Arc<Entry>,
    /// How often the kernel was told this number and has not forgotten it.
    lookups: u64,
}

impl Inodes {
    /// The table with nothing but the root directory, which is never forgotten.
    pub(crate) fn new(root: Entry) -> Inodes {
        let numbers = Numbers::new(identity(&root));
        let root = Node { entry: Arc::new(root), lookups: 1 };
        Inodes { table: Mutex::new(Table { nodes: HashMap::from([(ROOT, root)]), numbers }) }
    }

    /// What `ino` stands for.
    pub(crate) fn get(&self, ino: u64) -> Option<Arc<Entry>> {
        self.table.lock().nodes.get(&ino).map(|node| node.entry.clone())
    }

    /// The number of `entry`, which the kernel is told and will have to forget.
    pub(crate) fn remember(&self, entry: &Entry) -> u64 {
        let table = &mut *self.table.lock();
        let ino = table.numbers.hold(table.numbers.key(identity(entry)));
        let node =
            table.nodes.entry(ino).or_insert_with(|| Node { entry: Arc::new(entry.clone()), lookups: 0 });
        node.lookups += 1;
        if *node.entry != *entry {
            node.entry = Arc::new(entry.clone());
        }
        ino
    }

    /// The number of `entry` for a listing, which is no promise to keep it.
    pub(crate) fn number_of(&self, entry: &Entry) -> u64 {
        let numbers = &mut self.table.lock().numbers;
        numbers.show(numbers.key(identity(entry)))
    }

    /// The kernel has forgotten `ino` `count` times.
    pub(crate) fn forget(&self, ino: u64, count: u64) {
        if ino != ROOT && self.table.lock().forget(ino, count) {
            give_back();
        }
    }
}

impl Table {
    /// True once most of what there was is forgotten.
    fn forget(&mut self, ino: u64, count: u64) -> bool {
        let Some(node) = self.nodes.get_mut(&ino) else { return false };
        node.lookups = node.lookups.saturating_sub(count);
        if node.lookups > 0 {
            return false;
        }
        let key = self.numbers.key(identity(&node.entry));
        self.numbers.release(key);
        self.nodes.remove(&ino);
        let is_sparse = is_sparse(&self.nodes);
        if is_sparse {
            self.nodes.shrink_to(2 * self.nodes.len());
        }
        is_sparse
    }
}

/// Whether `table` holds an eighth of what it has room for: the kernel has forgotten the rest.
pub(super) fn is_sparse<K, V>(table: &HashMap<K, V>) -> bool {
    table.capacity() > ROOM_MIN && table.len() < table.capacity() / 8
}

/// Gives free memory back to the system. The allocator keeps what lies between other objects, which
/// is nearly all of it: hundreds of megabytes after a million files were listed.
fn give_back() {
    // SAFETY: it looks at nothing but the allocator's own state, and may be called at any time.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Whether two descriptions are of the same inode.
pub(crate) fn same_inode(a: &Entry, b: &Entry) -> bool {
    identity(a) == identity(b)
}

/// What makes an inode: a directory stays the same whatever is put into it.
fn identity(entry: &Entry) -> (u8, &str, Option<&str>) {
    match entry.kind {
        Kind::Directory => (0, &entry.path, None),
        Kind::File => (1, &entry.path, Some(&entry.version.0)),
        Kind::Symlink => (2, &entry.path, Some(&entry.version.0)),
    }
}

#[cfg(test)]
mod tests {
    use forerun::Version;

    use super::*;

    fn entry(path: &str, kind: Kind, version: &str) -> Entry {
        Entry { kind, ..Entry::file(path, 0, Version(version.into())) }
    }

    fn table() -> Inodes {
        Inodes::new(entry("", Kind::Directory, ""))
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
    fn the_table_becomes_small_again_once_the_kernel_has_forgotten() {
        let inodes = table();
        let entries = (0..100_000).map(|index| entry(&format!("d/{index}"), Kind::File, "1"));
        let remembered: Vec<u64> = entries.map(|entry| inodes.remember(&entry)).collect();
        let room = || {
            let table = inodes.table.lock();
            table.nodes.capacity().max(table.numbers.room())
        };
        assert!(room() >= 100_000);
        remembered.iter().for_each(|ino| inodes.forget(*ino, 1));
        assert!(room() <= ROOM_MIN, "room for {}", room());
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
