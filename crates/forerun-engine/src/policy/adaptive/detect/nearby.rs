//! Reads near earlier reads.
//!
//! Every read asks whether a chunk at each of five distances ahead of it will be read. It asks as one of a
//! kind, which is the length of the run right before it and its own length. Reads of those chunks are the
//! answers. A bet goes as far as the answers pay.

use super::super::evidence::{Answers, DISTANCES};
use super::KEPT_MAX;
use crate::recent::Recent;
use crate::types::{BLOCK_BYTES, Extent};

/// The size of the chunk that a question is about, in bytes and in blocks.
pub(crate) const CHUNK_BYTES: u64 = 64 << 10;
const CHUNK_BLOCKS: u64 = CHUNK_BYTES / BLOCK_BYTES;
/// The chunks of one group.
const CHUNKS: u64 = 16;
/// The longest run before a read that is distinguished from longer ones, in blocks.
const RUN_BLOCKS_MAX: u64 = 128;

/// For each chunk: the blocks that were read, and the kind that asked from each distance, counted from 1.
#[derive(Debug, Default)]
struct ChunkGroup {
    read: [u16; CHUNKS as usize],
    asked: [[u8; DISTANCES]; CHUNKS as usize],
}

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Nearby {
    groups: Recent<ChunkGroup, KEPT_MAX>,
    pub(crate) answers: Answers,
    kind: u8,
    /// Where the last read ended.
    end: u64,
}

/// The size of a bet that reaches as far as the distance `at`, in chunks.
fn chunks(at: usize) -> u64 {
    1 << at
}

impl Nearby {
    /// Somebody reads `extent` of an object of `size` bytes.
    pub(crate) fn record_read(&mut self, extent: Extent, size: u64) {
        let (first, end) = (extent.offset / BLOCK_BYTES, extent.end().div_ceil(BLOCK_BYTES));
        self.kind = Answers::kind(self.run_before(first), end - first);
        let returns = self.end != extent.offset;
        self.end = extent.end();
        for number in first / CHUNK_BLOCKS..end.div_ceil(CHUNK_BLOCKS) {
            self.answer(number, first, end, returns);
        }
        self.ask(extent.end(), size);
    }

    /// How far after the last read a bet goes, as `pays` says of each answer.
    pub(crate) fn reach(&self, pays: impl Fn(&super::super::evidence::Answer) -> bool) -> u64 {
        let count = self.answers.of(self.kind).iter().take_while(|answer| pays(answer)).count();
        count.checked_sub(1).map_or(0, |last| chunks(last) * CHUNK_BYTES)
    }

    /// Blocks `first..end` were read: they answer the questions about chunk `number`.
    fn answer(&mut self, number: u64, first: u64, end: u64, returns: bool) {
        let start = number * CHUNK_BLOCKS;
        let blocks = Extent::between(first.max(start), end.min(start + CHUNK_BLOCKS));
        let bits = u16::MAX >> (CHUNK_BLOCKS - blocks.len) << (blocks.offset - start);
        let (group, at) = (self.groups.touch(number / CHUNKS), (number % CHUNKS) as usize);
        let (before, asked) = (group.read[at], group.asked[at]);
        group.read[at] |= bits;
        let new = bits & !before;
        if new == 0 {
            return;
        }
        let comes = before == 0 || first >= start && new >> (first - start) & 1 == 1;
        for (at, kind) in asked.iter().enumerate().filter(|(_, kind)| **kind > 0) {
            self.answers.add(kind - 1, at, new.count_ones() as u16, comes, comes && returns);
        }
    }

    /// Asks about chunks that were not read or asked about yet.
    fn ask(&mut self, end: u64, size: u64) {
        let kind = self.kind;
        for at in 0..DISTANCES {
            // Three quarters of the way: 0, 1, 3, 6 and 12 chunks ahead.
            let number = end.div_ceil(CHUNK_BYTES) + chunks(at) * 3 / 4;
            if number >= size.div_ceil(CHUNK_BYTES) {
                return;
            }
            let (group, chunk) = (self.groups.touch(number / CHUNKS), (number % CHUNKS) as usize);
            if group.read[chunk] == 0 && group.asked[chunk][at] == 0 {
                group.asked[chunk][at] = kind + 1;
                self.answers.ask(kind, at);
            }
        }
    }

    /// Blocks right before `block` that were read.
    fn run_before(&self, block: u64) -> u64 {
        let mut at = block;
        while at > 0 && block - at < RUN_BLOCKS_MAX {
            let number = (at - 1) / CHUNK_BLOCKS;
            let Some(group) = self.groups.get(number / CHUNKS) else { break };
            // The block before is the highest bit.
            let rest = (number + 1) * CHUNK_BLOCKS - at;
            at -= u64::from((group.read[(number % CHUNKS) as usize] << rest).leading_ones());
            if at > number * CHUNK_BLOCKS {
                break;
            }
        }
        (block - at).min(RUN_BLOCKS_MAX)
    }
}
