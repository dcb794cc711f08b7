//! Which number an inode has. Numbers follow the order in which inodes are first
//! shown, hence that of their directory's listing: programs that sort a listing by
//! number, to spare a disk's head the way, then go through it as it was listed.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::mem;

use super::inode::{ROOT, is_sparse};

/// Numbers that nobody holds are known until so many others were given: enough to look
/// up in peace what a listing has shown, and at 32 bytes each, some 8 MiB at most.
const SHOWN_MAX: usize = 65_536;

/// What makes an inode, as [`Numbers::key`] makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key(u64, u64);

/// The numbers of inodes, none of which is ever another's.
#[derive(Debug)]
pub(super) struct Numbers {
    /// Two, since one is too short to take different hashes for different inodes.
    hashers: [RandomState; 2],
    /// Those that the kernel knows.
    held: HashMap<Key, u64>,
    /// Those that were only shown, or are forgotten; the later and the earlier half.
    shown: HashMap<Key, u64>,
    shown_before: HashMap<Key, u64>,
    next: u64,
}

impl Numbers {
    /// With none but the root's, which is `root`'s.
    pub(super) fn new(root: impl std::hash::Hash) -> Numbers {
        let (shown, shown_before) = (HashMap::new(), HashMap::new());
        let hashers = [RandomState::new(), RandomState::new()];
        let mut numbers = Numbers { hashers, held: HashMap::new(), shown, shown_before, next: ROOT + 1 };
        numbers.held.insert(numbers.key(root), ROOT);
        numbers
    }

    /// Stands for `identity`, without keeping it.
    pub(super) fn key(&self, identity: impl std::hash::Hash) -> Key {
        let [first, second] = &self.hashers;
        Key(first.hash_one(&identity), second.hash_one(&identity))
    }

    /// The number of `key`, the next if it has none.
    pub(super) fn show(&mut self, key: Key) -> u64 {
        if let Some(number) = self.held.get(&key).or_else(|| self.shown.get(&key)) {
            return *number;
        }
        let number = self.shown_before.remove(&key).unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        self.keep_shown(key, number);
        number
    }

    /// The same, and it stays this one until [`Numbers::release`].
    pub(super) fn hold(&mut self, key: Key) -> u64 {
        if let Some(number) = self.held.get(&key) {
            return *number;
        }
        let number = self.show(key);
        self.shown.remove(&key);
        self.held.insert(key, number);
        number
    }

    /// Nobody holds `key` any more.
    pub(super) fn release(&mut self, key: Key) {
        if let Some(number) = self.held.remove(&key) {
            self.keep_shown(key, number);
            if is_sparse(&self.held) {
                self.held.shrink_to(2 * self.held.len());
            }
        }
    }

    /// For how many held numbers there is room.
    #[cfg(test)]
    pub(super) fn room(&self) -> usize {
        self.held.capacity()
    }

    fn keep_shown(&mut self, key: Key, number: u64) {
        if self.shown.len() >= SHOWN_MAX {
            self.shown_before = mem::take(&mut self.shown);
        }
        self.shown.insert(key, number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_order_of_showing_and_stay() {
        let mut numbers = Numbers::new("");
        let keys = ["c", "a", "b"].map(|name| numbers.key(name));
        let shown = keys.map(|key| numbers.show(key));
        assert!(shown.is_sorted() && shown[0] > ROOT);
        assert_eq!([keys[2], keys[0], keys[1]].map(|key| numbers.hold(key)), [shown[2], shown[0], shown[1]]);
        assert_eq!(keys.map(|key| numbers.show(key)), shown);
        keys.into_iter().for_each(|key| numbers.release(key));
        assert_eq!(keys.map(|key| numbers.show(key)), shown);
        assert_eq!(numbers.show(numbers.key("")), ROOT);
    }

    #[test]
    fn what_is_held_stays_however_much_is_shown_and_the_rest_is_dropped() {
        let mut numbers = Numbers::new("");
        let (held, shown) = (numbers.key("held"), numbers.key("shown"));
        let before = [numbers.hold(held), numbers.show(shown)];
        for other in 0..4 * SHOWN_MAX {
            numbers.show(numbers.key(other));
        }
        assert!(numbers.shown.len() <= SHOWN_MAX && numbers.shown_before.len() <= SHOWN_MAX);
        assert_eq!(numbers.show(held), before[0]);
        assert!(numbers.show(shown) > before[1] + 4 * SHOWN_MAX as u64, "a number is given once");
    }
}
