//! Which blocks of an object were read, near where it was read of late.
//!
//! Places of 1 MiB, each of 16 chunks; the place that nothing was read in, or asked about, for
//! longest gives way. A chunk also keeps what was [asked](super) about it.

use crate::recent::Recent;
use crate::types::{BLOCK_BYTES, Extent};

/// Places of one object.
const PLACES_MAX: usize = 64;
/// What is asked about at once.
pub(super) const CHUNK_BYTES: u64 = 64 << 10;
const CHUNK_BLOCKS: u64 = CHUNK_BYTES / BLOCK_BYTES;
const CHUNKS: u64 = 16;
/// A longer run of blocks is as good as one of that length.
pub(super) const RUN_BLOCKS_MAX: u64 = 128;

#[derive(Debug, Default)]
struct Place {
    /// Of each chunk, a bit for each block that was read.
    blocks: [u16; CHUNKS as usize],
    /// What was asked about each chunk, in a way that only who asks knows.
    asked: [u32; CHUNKS as usize],
}

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Places {
    places: Recent<Place, PLACES_MAX>,
}

impl Places {
    /// How many blocks in a row were read right before the one with number `block`.
    pub(super) fn run_before(&self, block: u64) -> u64 {
        let (mut at, mut known) = (block, None);
        while at > 0 && block - at < RUN_BLOCKS_MAX {
            let chunk = (at - 1) / CHUNK_BLOCKS;
            // Most chunks before are in the same place, unless this one is its last.
            known = known.filter(|_| chunk % CHUNKS < CHUNKS - 1).or_else(|| self.places.get(chunk / CHUNKS));
            let Some(place) = known else { break };
            // The block before is the highest bit.
            let rest = (chunk + 1) * CHUNK_BLOCKS - at;
            let run = (place.blocks[(chunk % CHUNKS) as usize] << rest).leading_ones();
            at -= u64::from(run);
            if at > chunk * CHUNK_BLOCKS {
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
        for chunk in first / CHUNK_BLOCKS..end.div_ceil(CHUNK_BLOCKS) {
            let from = first.max(chunk * CHUNK_BLOCKS) % CHUNK_BLOCKS;
            let count = end.min((chunk + 1) * CHUNK_BLOCKS) - first.max(chunk * CHUNK_BLOCKS);
            let bits = (u16::MAX >> (CHUNK_BLOCKS - count)) << from;
            let (place, at) = (self.places.touch(chunk / CHUNKS), (chunk % CHUNKS) as usize);
            let (before, asked) = (place.blocks[at], place.asked[at]);
            place.blocks[at] |= bits;
            let new = bits & !before;
            if new != 0 && asked != 0 {
                let begins = chunk == first / CHUNK_BLOCKS && new >> from & 1 == 1;
                tell(asked, new.count_ones(), before == 0 || begins);
            }
        }
    }

    /// Something is to be asked about the chunks at `distances`, the least first, after the one
    /// with number `chunk`, as far as they are before `end`: hands out what was asked about each
    /// that nobody has read any of.
    pub(super) fn ask(
        &mut self,
        chunk: u64,
        distances: impl Iterator<Item = u64>,
        end: u64,
        mut with: impl FnMut(usize, &mut u32),
    ) {
        let mut known: Option<(u64, &mut Place)> = None;
        for (index, distance) in distances.enumerate() {
            let chunk = chunk + distance;
            if chunk >= end {
                return;
            }
            // Most of them are in one place.
            let place = match known {
                Some((number, place)) if number == chunk / CHUNKS => place,
                _ => self.places.touch(chunk / CHUNKS),
            };
            let at = (chunk % CHUNKS) as usize;
            if place.blocks[at] == 0 {
                with(index, &mut place.asked[at]);
            }
            known = Some((chunk / CHUNKS, place));
        }
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
        places.ask(1, [0].into_iter(), 2, |_, asked| *asked = 7);
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
