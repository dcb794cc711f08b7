//! Which number an inode has. Numbers follow the order in which inodes are first
//! shown, hence that of their directory's listing: programs that sort a listing by
//! number, to spare a disk's head the way, then go through it as it was listed.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::mem;

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
    /// Those that were only shown, or are forgotten; the later and the earlier half.
    shown: HashMap<Key, u64>,
    shown_before: HashMap<Key, u64>,
    next: u64,
}

impl Numbers {
    /// Numbers from `first` on.
    pub(super) fn new(first: u64) -> Numbers {
        let hashers = [RandomState::new(), RandomState::new()];
        Numbers { hashers, shown: HashMap::new(), shown_before: HashMap::new(), next: first }
    }

    /// Stands for `identity`, without keeping it.
    pub(super) fn key(&self, identity: impl std::hash::Hash) -> Key {
        let [first, second] = &self.hashers;
        Key(first.hash_one(&identity), second.hash_one(&identity))
    }

    /// The number of `key`, which nobody holds: the next if it has none.
    pub(super) fn show(&mut self, key: Key) -> u64 {
        let number = self.hold(key);
        self.release(key, number);
        number
    }

    /// The same. It is known to whoever holds it until [`Numbers::release`].
    pub(super) fn hold(&mut self, key: Key) -> u64 {
        let shown = self.shown.remove(&key).or_else(|| self.shown_before.remove(&key));
        shown.unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// Nobody holds `number`, which is `key`'s, any more.
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
    fn what_was_shown_long_ago_is_dropped() {
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
