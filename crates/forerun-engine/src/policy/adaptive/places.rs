//! Which blocks of an object were read, near where it was read of late.
//!
//! Places of 1 MiB, each of 16 chunks; the place that nothing was read in, or asked about, for
//! longest gives way. A chunk also keeps what was [asked](super::nearby) about it.

use alloc::vec::Vec;

use crate::types::{BLOCK_BYTES, Extent};

/// Places of one object.
const PLACES_MAX: usize = 64;
/// What is asked about at once.
pub(super) const CHUNK_BYTES: u64 = 64 << 10;
const CHUNK_BLOCKS: u64 = CHUNK_BYTES / BLOCK_BYTES;
const CHUNKS: u64 = 16;
/// A longer run of blocks is as good as one of that length.
pub(super) const RUN_BLOCKS_MAX: u64 = 128;

/// Part of a place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chunk {
    /// A bit for each block that was read.
    blocks: u16,
    /// What was asked about it, in a way that only who asks knows.
    pub(super) asked: u32,
}

impl Chunk {
    pub(super) fn is_untouched(&self) -> bool {
        self.blocks == 0
    }
}

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The numbers of the places, and when each was used.
    numbers: Vec<u64>,
    used: Vec<u32>,
    chunks: Vec<[Chunk; CHUNKS as usize]>,
    now: u32,
    /// The one that was looked for last: most often it is the next as well.
    last: usize,
}

impl Places {
    /// How many blocks in a row were read right before the one with number `block`.
    pub(super) fn run_before(&mut self, block: u64) -> u64 {
        let (mut at, mut place) = (block, None);
        while at > 0 && block - at < RUN_BLOCKS_MAX {
            let chunk = (at - 1) / CHUNK_BLOCKS;
            let (number, from) = (chunk / CHUNKS, chunk * CHUNK_BLOCKS);
            if place.is_none_or(|(known, _)| known != number) {
                let Some(index) = self.find(number) else { break };
                place = Some((number, index));
            }
            let Some((_, index)) = place else { break };
            let blocks = self.chunks[index][(chunk % CHUNKS) as usize].blocks;
            // The block before is the highest bit.
            let run = (blocks << (CHUNK_BLOCKS - (at - from))).leading_ones();
            at -= u64::from(run);
            if at > from {
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
            let bits = (u16::MAX >> (CHUNK_BLOCKS - count)) << from;
            let chunk = self.chunk(number);
            let new = bits & !chunk.blocks;
            if new != 0 && chunk.asked != 0 {
                let begins = number == first / CHUNK_BLOCKS && new >> from & 1 == 1;
                tell(chunk.asked, new.count_ones(), chunk.is_untouched() || begins);
            }
            chunk.blocks |= bits;
        }
    }

    /// The chunk with that number.
    pub(super) fn chunk(&mut self, number: u64) -> &mut Chunk {
        self.now = self.now.wrapping_add(1);
        let place = number / CHUNKS;
        let index = self.find(place).unwrap_or_else(|| self.insert(place));
        self.used[index] = self.now;
        &mut self.chunks[index][(number % CHUNKS) as usize]
    }

    fn find(&mut self, place: u64) -> Option<usize> {
        if self.numbers.get(self.last) != Some(&place) {
            self.last = self.numbers.iter().position(|number| *number == place)?;
        }
        Some(self.last)
    }

    fn insert(&mut self, place: u64) -> usize {
        let new = [Chunk::default(); CHUNKS as usize];
        if self.numbers.len() < PLACES_MAX {
            self.numbers.push(place);
            self.used.push(0);
            self.chunks.push(new);
            return self.numbers.len() - 1;
        }
        let age = |index: &usize| self.now.wrapping_sub(self.used[*index]);
        let oldest = (0..self.used.len()).max_by_key(age).unwrap_or(0);
        self.numbers[oldest] = place;
        self.chunks[oldest] = new;
        oldest
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
        let before = |places: &mut Places, offset: u64| places.run_before(offset / BLOCK_BYTES);
        assert_eq!(before(&mut places, MIB + 100 * KIB), 50);
        assert_eq!(before(&mut places, MIB), 25);
        assert_eq!(before(&mut places, MIB + 104 * KIB), 0);
        read(&mut places, MIB + 104 * KIB, 4 * KIB);
        assert_eq!(before(&mut places, MIB + 108 * KIB), 1);
        read(&mut places, 0, 2 * MIB);
        assert_eq!((before(&mut places, 2 * MIB), before(&mut places, 4 * KIB)), (RUN_BLOCKS_MAX, 1));
        assert_eq!(before(&mut places, 0), 0);
    }

    #[test]
    fn what_was_asked_is_told_of_new_blocks() {
        let mut places = Places::default();
        places.chunk(1).asked = 7;
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
        assert_eq!(places.numbers.len(), PLACES_MAX);
    }
}
