//! How often the bytes at some distance from a read were read, for reads of one kind.

/// Distances ahead that are asked about.
pub(crate) const DISTANCES: usize = 5;
/// Kinds of reads: five lengths of the run before them, four of their own.
const RUNS: u8 = 5;
const LENS: u8 = 4;
const KINDS: usize = (RUNS * LENS) as usize;
/// Questions after which older answers count half, and before which there is no opinion.
const ASKED_MAX: u16 = 1024;
pub(crate) const ASKED_MIN: u16 = 4;

/// Of this many questions: answers by a read, answers by a read that came back from elsewhere, and blocks
/// read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) asked: u16,
    pub(crate) reads: u16,
    pub(crate) returns: u16,
    pub(crate) blocks: u16,
}

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    kinds: [[Answer; DISTANCES]; KINDS],
}

impl Answers {
    /// The kind of a read of `len` blocks after a run of `run` blocks.
    pub(crate) fn kind(run: u64, len: u64) -> u8 {
        let run = match run {
            0 => 0,
            1..8 => 1,
            8..32 => 2,
            32..128 => 3,
            _ => RUNS - 1,
        };
        let len = match len {
            ..=1 => 0,
            2..=4 => 1,
            5..=16 => 2,
            _ => LENS - 1,
        };
        LENS * run + len
    }

    pub(crate) fn of(&self, kind: u8) -> &[Answer; DISTANCES] {
        &self.kinds[usize::from(kind)]
    }

    /// A read of `kind` asks at distance `at`.
    pub(crate) fn ask(&mut self, kind: u8, at: usize) {
        let answer = &mut self.kinds[usize::from(kind)][at];
        answer.asked += 1;
        if answer.asked >= ASKED_MAX {
            let Answer { asked, reads, returns, blocks } = *answer;
            *answer = Answer { asked: asked / 2, reads: reads / 2, returns: returns / 2, blocks: blocks / 2 };
        }
    }

    /// Some read came to a chunk that one of `kind` had asked about: it read this many `blocks` there.
    pub(crate) fn add(&mut self, kind: u8, at: usize, blocks: u16, comes: bool, returns: bool) {
        let answer = &mut self.kinds[usize::from(kind)][at];
        answer.blocks = answer.blocks.saturating_add(blocks);
        answer.reads = answer.reads.saturating_add(u16::from(comes));
        answer.returns = answer.returns.saturating_add(u16::from(returns));
    }
}
