//! Giving numbers to inodes. Numbers follow the order in which inodes are first shown, so that of
//! their directory's listing. Programs that sort a listing by number, to spare a disk's head the
//! way, then keep the listing's order.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::mem;

/// Numbers that nobody holds are dropped after this many newer ones. That leaves time to look up
/// the names of a listing. At 32 bytes each, both halves take some 8 MiB.
const SHOWN_MAX: usize = 65_536;

/// A hash of an inode's identity: see [`Numbers::key`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key(u64, u64);

/// The numbers of inodes. Each is given once.
#[derive(Debug)]
pub(super) struct Numbers {
    /// Two: one hash is too short to tell all inodes apart.
    hashers: [RandomState; 2],
    /// Numbers that were only shown, or were released: the later and the earlier half.
    shown: HashMap<Key, u64>,
    shown_before: HashMap<Key, u64>,
    next: u64,
}

impl Numbers {
    pub(super) fn new(first: u64) -> Numbers {
        let hashers = [RandomState::new(), RandomState::new()];
        Numbers { hashers, shown: HashMap::new(), shown_before: HashMap::new(), next: first }
    }

    /// The key of `identity`, which is not stored.
    pub(super) fn key(&self, identity: impl std::hash::Hash) -> Key {
        let [first, second] = &self.hashers;
        Key(first.hash_one(&identity), second.hash_one(&identity))
    }

    /// The number of `key`, which nobody holds; a new one if it has none.
    pub(super) fn show(&mut self, key: Key) -> u64 {
        let number = self.hold(key);
        self.release(key, number);
        number
    }

    /// As [`Numbers::show`], but the holder keeps the number until [`Numbers::release`].
    pub(super) fn hold(&mut self, key: Key) -> u64 {
        let shown = self.shown.remove(&key).or_else(|| self.shown_before.remove(&key));
        shown.unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// Releases `number` of `key`, which nobody holds any more.
    pub(super) fn release(&mut self, key: Key, number: u64) {
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
        let mut numbers = Numbers::new(2);
        let keys = ["c", "a", "b"].map(|name| numbers.key(name));
        let shown = keys.map(|key| numbers.show(key));
        assert_eq!(shown, [2, 3, 4]);
        assert_eq!([keys[2], keys[0], keys[1]].map(|key| numbers.hold(key)), [shown[2], shown[0], shown[1]]);
        keys.into_iter().zip(shown).for_each(|(key, number)| numbers.release(key, number));
        assert_eq!(keys.map(|key| numbers.show(key)), shown);
    }

    #[test]
    fn numbers_shown_long_ago_are_dropped() {
        let mut numbers = Numbers::new(2);
        let key = numbers.key("shown");
        let before = numbers.show(key);
        for other in 0..4 * SHOWN_MAX {
            numbers.show(numbers.key(other));
        }
        assert!(numbers.shown.len() <= SHOWN_MAX && numbers.shown_before.len() <= SHOWN_MAX);
        assert!(numbers.show(key) > before + 4 * SHOWN_MAX as u64, "a number is given once");
    }
}
