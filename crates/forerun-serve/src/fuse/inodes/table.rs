//! The table of inodes. It grows at its end, and is rewritten once most of it is forgotten.

use std::hash::{BuildHasher, RandomState};

use forerun::Entry;
use hashbrown::HashTable;

use super::record::{Identity, Record, Records};

/// A table with fewer nodes is not worth rewriting.
const NODES_MIN: usize = 4096;
/// Nor is one with fewer bytes of records.
const RECORD_BYTES_MIN: usize = 256 << 10;
/// Spreads successive numbers over all bits: 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Inodes by number and by identity. One takes 24 bytes, its record, and 5 bytes in each of two
/// hash tables that are at least half full.
#[derive(Debug, Default)]
pub(super) struct Table {
    nodes: Vec<Node>,
    records: Records,
    by_number: HashTable<u32>,
    by_identity: HashTable<u32>,
    hasher: RandomState,
    /// Bytes of records that no node refers to.
    unused_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    number: u64,
    /// The position of its record.
    record: u64,
    /// The hash of its identity.
    hash: u32,
    /// How often the kernel was told the number and has not forgotten it. 0: the node is unused.
    lookups: u32,
}

impl Table {
    /// The entry of `number`.
    pub(super) fn get(&self, number: u64) -> Option<Entry> {
        let node = &self.nodes[self.slot_of(number)?];
        Some(self.records.get(node.record).entry())
    }

    /// The number of the inode that `entry` describes.
    pub(super) fn number_of(&self, entry: &Entry) -> Option<u64> {
        let slot = self.slot_like(Record::of(entry).identity())?;
        Some(self.nodes[slot].number)
    }

    /// Counts a lookup of `number`, and stores `entry` as it is now.
    pub(super) fn remember(&mut self, number: u64, entry: &Entry) {
        let record = Record::of(entry);
        let Some(slot) = self.slot_of(number) else { return self.add(number, &record, 1) };
        self.nodes[slot].lookups = self.nodes[slot].lookups.saturating_add(1);
        let known = self.nodes[slot].record;
        if self.records.get(known) != record {
            self.unused_bytes += self.records.len_at(known);
            self.nodes[slot].record = self.records.add(&record);
            self.shrink();
        }
    }

    /// Counts `count` forgets of `number`. Returns its entry if those were the last.
    pub(super) fn forget(&mut self, number: u64, count: u64) -> Option<Entry> {
        let slot = self.slot_of(number)?;
        let node = &mut self.nodes[slot];
        node.lookups = u32::try_from(count).map_or(0, |count| node.lookups.saturating_sub(count));
        if node.lookups > 0 {
            return None;
        }
        let Node { hash, record, .. } = *node;
        let entry = self.records.get(record).entry();
        self.unused_bytes += self.records.len_at(record);
        let by_number = self.by_number.find_entry(spread(number), |other| *other as usize == slot);
        by_number.expect("it was found").remove();
        let by_identity = self.by_identity.find_entry(wide(hash), |other| *other as usize == slot);
        by_identity.expect("it has both").remove();
        self.shrink();
        Some(entry)
    }

    fn add(&mut self, number: u64, record: &Record<'_>, lookups: u32) {
        let slot = u32::try_from(self.nodes.len()).expect("fewer inodes than memory holds");
        let hash = self.hash(record.identity());
        let record = self.records.add(record);
        self.nodes.push(Node { number, record, hash, lookups });
        let nodes = &self.nodes;
        self.by_number.insert_unique(spread(number), slot, |slot| spread(nodes[*slot as usize].number));
        self.by_identity.insert_unique(wide(hash), slot, |slot| wide(nodes[*slot as usize].hash));
    }

    fn slot_of(&self, number: u64) -> Option<usize> {
        let found = self.by_number.find(spread(number), |slot| self.nodes[*slot as usize].number == number);
        found.map(|slot| *slot as usize)
    }

    fn slot_like(&self, identity: Identity<'_>) -> Option<usize> {
        let hash = self.hash(identity);
        let is_same = |slot: &u32| {
            let node = &self.nodes[*slot as usize];
            node.hash == hash && self.records.get(node.record).identity() == identity
        };
        self.by_identity.find(wide(hash), is_same).map(|slot| *slot as usize)
    }

    fn hash(&self, identity: Identity<'_>) -> u32 {
        self.hasher.hash_one(identity) as u32
    }

    /// Rewrites the table once more than half of it is unused.
    fn shrink(&mut self) {
        let is_sparse = self.nodes.len() > NODES_MIN && self.by_number.len() < self.nodes.len() / 2;
        let is_patchy = self.records.len() > RECORD_BYTES_MIN && self.unused_bytes > self.records.len() / 2;
        if is_sparse || is_patchy {
            let mut table = Table { hasher: self.hasher.clone(), ..Table::default() };
            for node in self.nodes.iter().filter(|node| node.lookups > 0) {
                table.add(node.number, &self.records.get(node.record), node.lookups);
            }
            *self = table;
        }
    }
}

fn spread(number: u64) -> u64 {
    number.wrapping_mul(SPREAD)
}

/// A 64-bit hash: the hash table uses both ends.
fn wide(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

#[cfg(test)]
mod tests {
    use forerun::Version;

    use super::*;

    fn entry(index: u64) -> Entry {
        Entry::file(format!("d/{index}"), index, Version("1".into()))
    }

    fn table(count: u64) -> Table {
        let mut table = Table::default();
        (0..count).for_each(|number| table.remember(number, &entry(number)));
        table
    }

    #[test]
    fn each_number_leads_to_its_entry_and_back() {
        let table = table(10_000);
        for number in 0..10_000 {
            assert_eq!(table.get(number).unwrap(), entry(number));
            assert_eq!(table.number_of(&entry(number)), Some(number));
        }
        assert_eq!((table.get(10_000), table.number_of(&entry(10_000))), (None, None));
    }

    #[test]
    fn a_table_shrinks_to_the_inodes_that_are_not_forgotten() {
        let mut table = table(100_000);
        table.remember(77_777, &entry(77_777));
        for number in 0..100_000 {
            let gone = table.forget(number, 1);
            assert_eq!(gone, (number != 77_777).then(|| entry(number)));
        }
        assert!(table.nodes.capacity() <= 2 * NODES_MIN && table.records.len() <= RECORD_BYTES_MIN);
        assert_eq!(table.number_of(&entry(77_777)), Some(77_777));
        assert_eq!(table.forget(77_777, 1), Some(entry(77_777)));
        assert_eq!((table.forget(77_777, 1), table.get(77_777)), (None, None));
    }

    #[test]
    fn an_entry_that_changes_again_and_again_takes_no_more_room() {
        let mut table = table(10);
        for time in 0..100_000 {
            let mut changed = entry(5);
            changed.size = time;
            table.remember(5, &changed);
        }
        assert_eq!(table.get(5).unwrap().size, 99_999);
        assert!(table.records.len() <= RECORD_BYTES_MIN + 100, "{} bytes", table.records.len());
        assert_eq!(table.forget(5, 100_000), None);
        assert!(table.forget(5, 1).is_some());
    }
}
