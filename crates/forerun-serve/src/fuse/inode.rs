//! Inodes: one per version of an object, for as long as the kernel remembers it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use forerun::{Entry, Kind};
use parking_lot::Mutex;

/// The root directory's inode, by the protocol.
pub(crate) const ROOT: u64 = 1;

/// The inodes the kernel knows.
///
/// An inode's number is a hash of what it stands for, so that it is the same
/// after the kernel has forgotten it and so that a directory listing can name
/// numbers without making inodes. The table holds what the kernel holds and
/// nothing else: it says with every `forget` what may go.
#[derive(Debug)]
pub(crate) struct Inodes {
    nodes: Mutex<HashMap<u64, Node>>,
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
        let root = Node { entry: Arc::new(root), lookups: 1 };
        Inodes { nodes: Mutex::new(HashMap::from([(ROOT, root)])) }
    }

    /// What `ino` stands for.
    pub(crate) fn get(&self, ino: u64) -> Option<Arc<Entry>> {
        self.nodes.lock().get(&ino).map(|node| node.entry.clone())
    }

    /// The number of `entry`, which the kernel is told and will have to forget.
    pub(crate) fn remember(&self, entry: &Entry) -> u64 {
        let mut nodes = self.nodes.lock();
        let ino = number(&nodes, entry);
        let node = nodes.entry(ino).or_insert_with(|| Node { entry: Arc::new(entry.clone()), lookups: 0 });
        node.lookups += 1;
        if *node.entry != *entry {
            node.entry = Arc::new(entry.clone());
        }
        ino
    }

    /// The number of `entry` for a listing, which is no promise to keep it.
    pub(crate) fn number_of(&self, entry: &Entry) -> u64 {
        number(&self.nodes.lock(), entry)
    }

    /// The kernel has forgotten `ino` `count` times.
    pub(crate) fn forget(&self, ino: u64, count: u64) {
        if ino == ROOT {
            return;
        }
        let mut nodes = self.nodes.lock();
        let Some(node) = nodes.get_mut(&ino) else { return };
        node.lookups = node.lookups.saturating_sub(count);
        if node.lookups == 0 {
            nodes.remove(&ino);
        }
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

/// The number of `entry`: its hash, or the next that no other inode has.
fn number(nodes: &HashMap<u64, Node>, entry: &Entry) -> u64 {
    if entry.path.is_empty() && entry.kind == Kind::Directory {
        return ROOT;
    }
    let mut hasher = DefaultHasher::new();
    identity(entry).hash(&mut hasher);
    // Positive as a signed number; 0 means "nothing there" and 1 is the root.
    let mut ino = (hasher.finish() >> 1).max(ROOT + 1);
    while nodes.get(&ino).is_some_and(|node| !same_inode(&node.entry, entry)) {
        ino += 1;
    }
    ino
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
    fn a_number_that_another_inode_has_is_not_given_away() {
        let inodes = table();
        let a = entry("a", Kind::File, "1");
        let taken = inodes.number_of(&a);
        let other = Node { entry: Arc::new(entry("b", Kind::File, "1")), lookups: 1 };
        inodes.nodes.lock().insert(taken, other);
        assert_eq!(inodes.remember(&a), taken + 1);
    }
}
