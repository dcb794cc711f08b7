//! The contents of the demo's objects: unique blocks that cost nothing to make.
//!
//! All contents are cut from one pool of pseudo-random bytes. The objects lie one after the other,
//! each on a block boundary, in a space of granules of 2 MiB. Each granule starts at its own place
//! in the pool, and no two places are the same modulo 4096. So no two 4 KiB blocks of the bucket
//! are equal, and a block from a wrong place is noticed. The store and the readers use slices of
//! the pool.

use std::collections::BTreeMap;

use bytes::Bytes;

/// A granule lies in its object as it lies in the pool.
const GRANULE_BYTES: u64 = 2 << 20;
/// The most granules of all objects together: there are as many places modulo 4096.
const GRANULES_MAX: u64 = 4096;
/// Odd, so invertible modulo any power of two: different granules have different places.
const STEP: u64 = 0x9_e377;

/// The number of files of `big/`.
pub(crate) const BIG_FILES: usize = 8;
/// The size of the file for random reads, whatever the size of the others.
const RANDOM_BYTES: u64 = 1 << 30;
/// The size of the file of which strides and bursts read a part.
const WIDE_BYTES: u64 = 2 << 30;
/// The size of a file that fits into memory, to be read in any order.
const SHUFFLED_BYTES: u64 = 64 << 20;
const SMALL_FILES: u64 = 250;
/// The number of files of `paced/`.
pub(crate) const PACED_FILES: usize = 64;
const PACED_BYTES: u64 = 8 << 20;
/// The number of files of `tree/`, of files in each of its directories, and the files' size.
pub(crate) const TREE_FILES: u64 = 2000;
const TREE_DIRECTORY_FILES: u64 = 100;
const TREE_FILE_BYTES: std::ops::RangeInclusive<u64> = 4 << 10..=64 << 10;
/// Objects start on a block boundary.
const BLOCK_BYTES: u64 = 4096;

/// One object of the bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) size: u64,
    /// Its start in the space of granules.
    start: u64,
}

/// The objects of the bucket.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    pool: Bytes,
    objects: BTreeMap<String, Object>,
}

impl Contents {
    /// The bucket with `bytes` in `one.bin`, and `bytes` in the eight files under `big/` together.
    pub(crate) fn new(bytes: u64) -> Contents {
        let mut end = 0;
        let mut objects = BTreeMap::new();
        let mut add = |key: String, size: u64| {
            objects.insert(key, Object { size, start: end });
            end += size.next_multiple_of(BLOCK_BYTES);
        };
        add("one.bin".to_owned(), bytes);
        add("random.bin".to_owned(), RANDOM_BYTES);
        add("shuffled.bin".to_owned(), SHUFFLED_BYTES);
        add("wide.bin".to_owned(), WIDE_BYTES);
        for index in 0..BIG_FILES {
            add(format!("big/{index}.bin"), bytes / BIG_FILES as u64);
        }
        for index in 0..SMALL_FILES {
            add(format!("many/{index:03}.bin"), 1000 + 37 * index);
        }
        for index in 0..PACED_FILES {
            add(format!("paced/{index:02}.bin"), PACED_BYTES);
        }
        let mut state = 17;
        for index in 0..TREE_FILES {
            let (least, most) = (TREE_FILE_BYTES.start(), TREE_FILE_BYTES.end());
            let size = least + next_random(&mut state) % (most - least + 1);
            add(tree_file(index), size);
        }
        assert!(end <= GRANULES_MAX * GRANULE_BYTES, "the demo's data would repeat itself");
        Contents { pool: pool(), objects }
    }

    /// The object named `key`.
    pub(crate) fn object(&self, key: &str) -> Option<Object> {
        self.objects.get(key).copied()
    }

    /// Every object whose key is greater than `after`, in order.
    pub(crate) fn objects_after<'a>(&'a self, after: &'a str) -> impl Iterator<Item = (&'a str, Object)> {
        let range = (std::ops::Bound::Excluded(after), std::ops::Bound::Unbounded);
        self.objects.range::<str, _>(range).map(|(key, object)| (key.as_str(), *object))
    }

    /// The bytes of `object` from `offset` on: at most `len`, at least one unless `len` is 0 or the
    /// object ends there.
    pub(crate) fn bytes_at(&self, object: Object, offset: u64, len: u64) -> Bytes {
        let (granule, within) =
            ((object.start + offset) / GRANULE_BYTES, (object.start + offset) % GRANULE_BYTES);
        let len = len.min(GRANULE_BYTES - within).min(object.size.saturating_sub(offset));
        let start = place(granule) + within;
        self.pool.slice(start as usize..(start + len) as usize)
    }

    /// Whether `object` holds exactly `bytes` at `offset`.
    pub(crate) fn matches(&self, object: Object, mut offset: u64, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            let expected = self.bytes_at(object, offset, bytes.len() as u64);
            let Some((head, tail)) = bytes.split_at_checked(expected.len()) else { return false };
            if head.is_empty() || head != expected {
                return false;
            }
            offset += head.len() as u64;
            bytes = tail;
        }
        true
    }
}

/// The name of a file of `tree/`.
pub(crate) fn tree_file(index: u64) -> String {
    format!("tree/{:02}/{:02}.bin", index / TREE_DIRECTORY_FILES, index % TREE_DIRECTORY_FILES)
}

/// The start of `granule` in the pool.
fn place(granule: u64) -> u64 {
    granule.wrapping_mul(STEP) % GRANULE_BYTES
}

/// The pool: a granule at the last place still ends inside it.
fn pool() -> Bytes {
    let mut state = 0x0123_4567_89ab_cdef_u64;
    let mut pool = Vec::with_capacity(2 * GRANULE_BYTES as usize);
    while pool.len() < 2 * GRANULE_BYTES as usize {
        pool.extend_from_slice(&next_random(&mut state).to_le_bytes());
    }
    pool.into()
}

/// The next number of a splitmix64 sequence.
pub(crate) fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn read(contents: &Contents, object: Object, mut offset: u64, len: u64) -> Vec<u8> {
        let end = offset + len;
        let mut bytes = Vec::new();
        while offset < end {
            let piece = contents.bytes_at(object, offset, end - offset);
            assert!(!piece.is_empty());
            offset += piece.len() as u64;
            bytes.extend_from_slice(&piece);
        }
        bytes
    }

    #[test]
    fn no_two_granules_share_a_place_modulo_a_block() {
        let places: HashSet<u64> = (0..GRANULES_MAX).map(|granule| place(granule) % 4096).collect();
        assert_eq!(places.len() as u64, GRANULES_MAX);
    }

    #[test]
    fn blocks_of_one_pool_are_distinct_at_every_alignment() {
        let pool = pool();
        // A repeated block would begin with eight repeated bytes.
        let starts: HashSet<&[u8]> = pool.windows(8).collect();
        assert_eq!(starts.len(), pool.len() - 7);
    }

    #[test]
    fn bytes_match_across_granules_and_nowhere_else() {
        let contents = Contents::new(64 << 20);
        let object = contents.object("one.bin").unwrap();
        let offset = 2 * GRANULE_BYTES - 1000;
        let mut bytes = read(&contents, object, offset, 4096);
        assert!(contents.matches(object, offset, &bytes));
        assert!(!contents.matches(object, offset + 4096, &bytes));
        assert!(!contents.matches(contents.object("random.bin").unwrap(), offset, &bytes));
        bytes[4095] ^= 1;
        assert!(!contents.matches(object, offset, &bytes));
    }

    #[test]
    fn an_object_ends() {
        let contents = Contents::new(64 << 20);
        let object = contents.object("many/003.bin").unwrap();
        assert_eq!(object.size, 1111);
        assert_eq!(contents.bytes_at(object, 1000, 4096).len(), 111);
        assert!(contents.bytes_at(object, 1111, 1).is_empty());
        let bytes = read(&contents, object, 1000, 111);
        assert!(contents.matches(object, 1000, &bytes));
        assert!(!contents.matches(object, 1000, &[bytes, vec![0]].concat()));
    }

    #[test]
    fn the_largest_bucket_still_has_distinct_blocks() {
        let contents = Contents::new(2 << 30);
        assert_eq!(contents.object("big/7.bin").unwrap().size, 256 << 20);
        assert_eq!(contents.objects_after("many/247.bin").count(), 2 + 4 + 64 + 2000);
        assert!(contents.object("many").is_none());
    }
}
