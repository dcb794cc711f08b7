//! Values that are found by their key at once, however many there are: every read asks for
//! several. Where their order matters they are in a tree besides.

use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use crate::types::ObjectId;

/// Odd, and no numbers in use have much to do with it.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
/// No place.
const NONE: u32 = u32::MAX;
/// Slots of the first values.
const SLOTS_MIN: usize = 16;

/// A number of which the highest bits differ for most that are near one another.
pub(crate) fn scattered(number: u64) -> u64 {
    number.wrapping_mul(FACTOR)
}

/// Which of `count` slots, a power of two above 1, is that of `number`.
pub(crate) fn slot_of(number: u64, count: usize) -> usize {
    (scattered(number) >> (u64::BITS - count.trailing_zeros())) as usize
}

/// A key of a table.
pub(crate) trait Key: Copy + Eq {
    /// The same for equal keys, and for hardly any others.
    fn number(self) -> u64;
}

impl Key for ObjectId {
    fn number(self) -> u64 {
        self.0
    }
}

#[derive(Debug)]
struct Entry<K, V> {
    key: K,
    /// The place of the next one in the same slot.
    next: u32,
    value: V,
}

/// See the module's page.
///
/// Invariant: every entry is in the chain of its key's slot, and there are no fewer slots than
/// entries.
#[derive(Debug)]
pub(crate) struct Scattered<K, V> {
    entries: Vec<Entry<K, V>>,
    /// The place of the first entry in each slot.
    slots: Vec<u32>,
}

impl<K, V> Default for Scattered<K, V> {
    fn default() -> Scattered<K, V> {
        Scattered { entries: Vec::new(), slots: Vec::new() }
    }
}

impl<K: Key, V> Scattered<K, V> {
    pub(crate) fn get(&self, key: K) -> Option<&V> {
        self.find(key).map(|place| &self.entries[place].value)
    }

    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        self.find(key).map(|place| &mut self.entries[place].value)
    }

    /// Of all values, in no order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = K> + '_ {
        self.entries.iter().map(|entry| entry.key)
    }

    /// The value of `key`: the default, if it has none yet.
    pub(crate) fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let place = self.find(key).unwrap_or_else(|| self.push(key, V::default()));
        &mut self.entries[place].value
    }

    /// The value of `key`, which has none yet, is `value`.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        debug_assert!(self.find(key).is_none(), "a key has one value");
        self.push(key, value);
    }

    pub(crate) fn remove(&mut self, key: K) -> Option<V> {
        let place = self.find(key)?;
        *self.link_to(key, place) = self.entries[place].next;
        let removed = self.entries.swap_remove(place);
        // `swap_remove` moved the last entry to `place`.
        let last = self.entries.len();
        if let Some(moved) = self.entries.get(place) {
            let key = moved.key;
            *self.link_to(key, last) = place as u32;
        }
        Some(removed.value)
    }

    fn find(&self, key: K) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mut place = self.slots[slot_of(key.number(), self.slots.len())];
        while let Some(entry) = self.entries.get(place as usize) {
            if entry.key == key {
                return Some(place as usize);
            }
            place = entry.next;
        }
        None
    }

    /// The place of `key` from now on.
    fn push(&mut self, key: K, value: V) -> usize {
        let place = self.entries.len();
        self.entries.push(Entry { key, next: NONE, value });
        if place < self.slots.len() {
            self.link(place);
        } else {
            self.slots = vec![NONE; (2 * self.slots.len()).max(SLOTS_MIN)];
            (0..=place).for_each(|place| self.link(place));
        }
        place
    }

    fn link(&mut self, place: usize) {
        let slot = slot_of(self.entries[place].key.number(), self.slots.len());
        self.entries[place].next = mem::replace(&mut self.slots[slot], place as u32);
    }

    /// The link to `place`, where the entry of `key` is.
    fn link_to(&mut self, key: K, place: usize) -> &mut u32 {
        let slot = slot_of(key.number(), self.slots.len());
        let first = self.slots[slot] as usize;
        if first == place {
            return &mut self.slots[slot];
        }
        let mut before = first;
        while self.entries[before].next as usize != place {
            before = self.entries[before].next as usize;
        }
        &mut self.entries[before].next
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use super::*;

    #[test]
    fn it_holds_what_a_tree_does() {
        let (mut values, mut tree) = (Scattered::<ObjectId, u64>::default(), BTreeMap::new());
        for step in 0..20_000 {
            let object = ObjectId(scattered(step) >> 54);
            if step % 3 == 0 {
                assert_eq!(values.remove(object), tree.remove(&object), "{object:?} after {step}");
            } else {
                *values.get_or_default(object) += step;
                *tree.entry(object).or_default() += step;
            }
            let other = ObjectId(step % 1024);
            assert_eq!(values.get(other), tree.get(&other), "{other:?} after {step}");
        }
        assert_eq!(values.entries.len(), tree.len());
    }
}
