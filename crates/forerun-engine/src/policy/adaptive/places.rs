//! Which blocks of an object were read, near where it was read of late.
//!
//! Places of 1 MiB, each of 16 chunks; the place that nothing was read in, or asked about, for
//! longest gives way. A chunk also keeps what was [asked](super::nearby) about it.

use super::recent::Recent;
use crate::types::{BLOCK_BYTES, Extent};

/// Places of one object.
const PLACES_MAX: usize = 64;
/// What is asked about at once.
pub(super) const CHUNK_BYTES: u64 = 64 << 10;
const CHUNK_BLOCKS: u64 = CHUNK_BYTES / BLOCK_BYTES;
const CHUNKS: u64 = 16;
/// A longer run of blocks is as good as one of that length.
pub(super) const RUN_BLOCKS_MAX: u64 = 128;
/// A place's blocks are kept in words.
const WORD_BLOCKS: u64 = u64::BITS as u64;
/// All of a chunk's blocks, which never lie in two words.
const CHUNK_MASK: u64 = (1 << CHUNK_BLOCKS) - 1;
const WORDS: u64 = CHUNKS * CHUNK_BLOCKS / WORD_BLOCKS;

#[derive(Debug, Default)]
struct Place {
    /// A bit for each block that was read.
    blocks: [u64; WORDS as usize],
    /// What was asked about each chunk, in a way that only who asks knows.
    asked: [u32; CHUNKS as usize],
}

impl Place {
    /// The word with the blocks of `chunk`, and where in it they begin.
    fn blocks_of(&mut self, chunk: u64) -> (&mut u64, u64) {
        let first = chunk % CHUNKS * CHUNK_BLOCKS;
        (&mut self.blocks[(first / WORD_BLOCKS) as usize], first % WORD_BLOCKS)
    }
}

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Places {
    places: Recent<Place, PLACES_MAX>,
}

impl Places {
    /// How many blocks in a row were read right before the one with number `block`.
    pub(super) fn run_before(&self, block: u64) -> u64 {
        let mut at = block;
        while at > 0 && block - at < RUN_BLOCKS_MAX {
            let word = (at - 1) / WORD_BLOCKS;
            let Some(place) = self.places.get(word / WORDS) else { break };
            // The block before is the highest bit.
            let rest = (word + 1) * WORD_BLOCKS - at;
            let run = (place.blocks[(word % WORDS) as usize] << rest).leading_ones();
            at -= u64::from(run);
            if at > word * WORD_BLOCKS {
                break;
            }
        }
        (block - at).min(RUN_BLOCKS_MAX)
    }

    /// The blocks of `extent` are read; says of each chunk that has new ones what was asked
    /// about it, how many there are, and whether the read comes to it: nothing was read there
    /// before, or it begins in what is new.
    pub(super) fn read(&mut self, extent: Extent, mut tell: impl FnMut(u32, u32, bool)) {
        let (first, end) = (extent.offset / BLOCK_BYTES, extent.end().div_ceil(BLOCK_BYTES));
        for number in first / CHUNK_BLOCKS..end.div_ceil(CHUNK_BLOCKS) {
            let from = first.max(number * CHUNK_BLOCKS) % CHUNK_BLOCKS;
            let count = end.min((number + 1) * CHUNK_BLOCKS) - first.max(number * CHUNK_BLOCKS);
            let bits = (CHUNK_MASK >> (CHUNK_BLOCKS - count)) << from;
            let place = self.places.touch(number / CHUNKS);
            let (word, start) = place.blocks_of(number);
            let before = *word >> start & CHUNK_MASK;
            *word |= bits << start;
            let (new, asked) = (bits & !before, place.asked[(number % CHUNKS) as usize]);
            if new != 0 && asked != 0 {
                let begins = number == first / CHUNK_BLOCKS && new >> from & 1 == 1;
                tell(asked, new.count_ones(), before == 0 || begins);
            }
        }
    }

    /// What was asked about the chunk with that number, as long as nobody has read any of it.
    pub(super) fn asked(&mut self, number: u64) -> Option<&mut u32> {
        let place = self.places.touch(number / CHUNKS);
        let (word, start) = place.blocks_of(number);
        let is_untouched = *word >> start & CHUNK_MASK == 0;
        is_untouched.then_some(&mut place.asked[(number % CHUNKS) as usize])
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    fn read(places: &mut Places, offset: u64, len: u64) -> Vec<(u32, u32, bool)> {
        let mut told = Vec::new();
        places.read(Extent::new(offset, len), |asked, blocks, comes| told.push((asked, blocks, comes)));
        told
    }

    #[test]
    fn runs_go_on_over_chunks_and_places_and_end_at_holes() {
        let mut places = Places::default();
        read(&mut places, MIB - 100 * KIB, 200 * KIB);
        let before = |places: &Places, offset: u64| places.run_before(offset / BLOCK_BYTES);
        assert_eq!(before(&places, MIB + 100 * KIB), 50);
        assert_eq!(before(&places, MIB), 25);
        assert_eq!(before(&places, MIB + 104 * KIB), 0);
        read(&mut places, MIB + 104 * KIB, 4 * KIB);
        assert_eq!(before(&places, MIB + 108 * KIB), 1);
        read(&mut places, 0, 2 * MIB);
        assert_eq!((before(&places, 2 * MIB), before(&places, 4 * KIB)), (RUN_BLOCKS_MAX, 1));
        assert_eq!(before(&places, 0), 0);
    }

    #[test]
    fn what_was_asked_is_told_of_new_blocks() {
        let mut places = Places::default();
        *places.asked(1).unwrap() = 7;
        assert_eq!(read(&mut places, 0, 64 * KIB), []);
        assert_eq!(read(&mut places, 60 * KIB, 16 * KIB), [(7, 3, true)], "the first of the chunk");
        assert_eq!(read(&mut places, 72 * KIB, 16 * KIB), [(7, 3, false)], "it begins in what was read");
        assert_eq!(read(&mut places, 100 * KIB, 4 * KIB), [(7, 1, true)]);
        assert_eq!(read(&mut places, 100 * KIB, 4 * KIB), []);
    }

    #[test]
    fn the_place_used_longest_ago_gives_way() {
        let mut places = Places::default();
        (0..PLACES_MAX as u64).for_each(|place| drop(read(&mut places, place * MIB, 4 * KIB)));
        read(&mut places, 0, 4 * KIB);
        read(&mut places, 1000 * MIB, 4 * KIB);
        assert_eq!((places.run_before(1), places.run_before(257)), (1, 0));
    }
}
