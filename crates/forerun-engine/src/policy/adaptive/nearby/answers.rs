//! What became of what reads of a kind asked, and whether fetching what they asked about pays.

use super::places::CHUNK_BYTES;
use crate::types::BLOCK_BYTES;

/// Fewer questions tell nothing.
const ASKED_MIN: u64 = 4;
/// What was long ago counts less.
const ASKED_MAX: u32 = 1024;
/// Bytes are worth twice as much for each such part of what may be wasted.
const PRICE_STEPS: u64 = 6;

/// What became of what reads of a kind asked at a distance.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answers {
    asked: u32,
    /// Reads that came there, how many of them from elsewhere, and blocks that they read.
    reads: u32,
    returns: u32,
    blocks: u32,
}

impl Answers {
    /// Whether fetching such a chunk pays with `means`.
    pub(super) fn pay(&self, means: &Means) -> bool {
        // Of most chunks next to nothing is read, whatever that would be worth.
        if !self.yield_enough(means.yield_share) {
            return false;
        }
        let (fetched, useful) = self.bytes();
        // Fewer may come than came by chance.
        let reads = u64::from(self.reads);
        let likely = reads.saturating_sub(reads.isqrt());
        let returns = u64::from(self.returns);
        let saved = returns * means.wait_bytes + (reads - returns) * means.next_bytes;
        likely * saved / reads.max(1) >= fetched.saturating_sub(useful) << means.price()
    }

    /// Whether of `yield_share` bytes of such chunks one is read.
    pub(super) fn yield_enough(&self, yield_share: u64) -> bool {
        let (fetched, useful) = self.bytes();
        u64::from(self.asked) >= ASKED_MIN && useful * yield_share >= fetched
    }

    /// What fetching all such chunks would have brought, and what of it was read.
    fn bytes(&self) -> (u64, u64) {
        (u64::from(self.asked) * CHUNK_BYTES, u64::from(self.blocks) * BLOCK_BYTES)
    }

    /// A read that asked.
    pub(super) fn ask(&mut self) {
        self.asked += 1;
        if self.asked >= ASKED_MAX {
            let Answers { asked, reads, returns, blocks } = *self;
            *self = Answers { asked: asked / 2, reads: reads / 2, returns: returns / 2, blocks: blocks / 2 };
        }
    }

    /// Somebody read `blocks` of such a chunk: a read that `comes` there, and `returns` from elsewhere.
    pub(super) fn answer(&mut self, blocks: u32, comes: bool, returns: bool) {
        self.blocks += blocks;
        self.reads += u32::from(comes);
        self.returns += u32::from(comes && returns);
    }
}

/// What may be wasted, and what was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Means {
    /// Of an object on which nothing was wasted so far.
    pub(crate) most: u64,
    /// Now.
    pub(crate) room: u64,
    /// What a wait is worth, in bytes.
    pub(crate) wait_bytes: u64,
    /// And one for what comes right after the read before.
    pub(crate) next_bytes: u64,
    /// Of so many bytes that are fetched one has to be of use, however little bytes are worth.
    pub(crate) yield_share: u64,
}

impl Means {
    /// A byte is worth as much as two to the power of that.
    fn price(&self) -> u64 {
        PRICE_STEPS * self.most.saturating_sub(self.room) / self.most.max(1)
    }
}
