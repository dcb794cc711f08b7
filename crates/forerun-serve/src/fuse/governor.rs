//! What the kernel's READs of one open file say of who reads it.
//!
//! The kernel's own window is kept at one page, because it is also how much it reads
//! around a page fault. Whoever reads in large pieces does not notice: the kernel
//! asks for as much as they do. Whoever reads forward in small pieces would ask once
//! for every piece, so these get what comes next put into the page cache unasked.

use std::ops::Range;

const PAGE_BYTES: u64 = 4096;
/// Readers of one handle that are told apart.
const RUNS_MAX: usize = 4;
/// READs at least this long cost little enough as they are: with these, pushes
/// gained nothing.
const LARGE_READ_BYTES: u64 = 32 << 10;
/// READs one after the other before anything is pushed: unrelated ones are not.
const READ_COUNT_MIN: u64 = 8;
/// How much the first push of a run brings; each one after it twice as much as the
/// one before, so that about as much was read as is pushed.
const WINDOW_BYTES_MIN: u64 = 32 << 10;
const WINDOW_BYTES_MAX: u64 = 512 << 10;

/// Readers of one open file, the latest first.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    runs: Vec<Run>,
}

/// READs of which each begins where the one before ended, or further on in what was
/// pushed.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    read_count: u64,
    /// Where the latest READ ended.
    next: u64,
    /// Where what was asked for or pushed ends.
    ahead: u64,
    /// The page left out of the latest push. Its reader must ask for it, and so
    /// tells how far it has come.
    hole: u64,
    window: u64,
}

impl Runs {
    /// The kernel asks for `read` of an object of `size` bytes; what to push then,
    /// perhaps nothing.
    pub(crate) fn read(&mut self, read: Range<u64>, size: u64) -> [Range<u64>; 2] {
        let place = self.runs.iter().position(|run| run.next <= read.start && read.start <= run.ahead);
        let Some(place) = place else {
            self.runs.truncate(RUNS_MAX - 1);
            let run = Run { read_count: 1, next: read.end, ahead: read.end, ..Run::default() };
            self.runs.insert(0, run);
            return [0..0, 0..0];
        };
        self.runs[..=place].rotate_right(1);
        self.runs[0].read(read, size)
    }
}

impl Run {
    fn read(&mut self, read: Range<u64>, size: u64) -> [Range<u64>; 2] {
        self.read_count += 1;
        self.next = read.end;
        self.ahead = self.ahead.max(read.end);
        let is_large = read.end - read.start >= LARGE_READ_BYTES;
        if is_large || self.read_count < READ_COUNT_MIN || read.end <= self.hole {
            return [0..0, 0..0];
        }
        let start = self.ahead.next_multiple_of(PAGE_BYTES);
        if start >= size {
            return [0..0, 0..0];
        }
        self.window = (self.window * 2).clamp(WINDOW_BYTES_MIN, WINDOW_BYTES_MAX);
        // A push past the end would make the kernel believe that the file is longer.
        let end = (start + self.window).min(size);
        self.hole = (start + self.window / 2).min(end);
        self.ahead = end;
        [start..self.hole, (self.hole + PAGE_BYTES).min(end)..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// What is pushed after READs of one page at each of `pages`, in pages.
    fn pushes(pages: impl IntoIterator<Item = u64>, size: u64) -> Vec<Range<u64>> {
        let mut runs = Runs::default();
        let mut pushed = Vec::new();
        for page in pages {
            let read = page * PAGE_BYTES..(page + 1) * PAGE_BYTES;
            pushed.extend(runs.read(read, size).into_iter().filter(|push| !push.is_empty()));
        }
        pushed.iter().map(|push| push.start / PAGE_BYTES..push.end.div_ceil(PAGE_BYTES)).collect()
    }

    #[test]
    fn who_reads_forward_in_small_pieces_gets_more_and_more_with_a_page_left_out() {
        assert_eq!(pushes(0..7, MIB), []);
        assert_eq!(pushes(0..8, MIB), [8..12, 13..16]);
        assert_eq!(pushes((0..8).chain([12]), MIB), [8..12, 13..16, 16..24, 25..32]);
    }

    #[test]
    fn four_in_turns_are_told_apart() {
        let turns = (0..8).flat_map(|step| [0, 1000, 2000, 3000].map(|start| start + step));
        assert_eq!(pushes(turns, 100 * MIB).len(), 8);
    }

    #[test]
    fn nothing_is_pushed_past_the_end() {
        assert_eq!(pushes(0..8, 8 * PAGE_BYTES), []);
        let mut runs = Runs::default();
        let size = 9 * PAGE_BYTES + 5;
        let last = (0..8).map(|page| runs.read(page * PAGE_BYTES..(page + 1) * PAGE_BYTES, size)).last();
        assert_eq!(last.unwrap(), [8 * PAGE_BYTES..size, size..size]);
    }

    #[test]
    fn large_reads_and_reads_all_over_push_nothing() {
        let mut runs = Runs::default();
        for step in 0..100 {
            let read = step * LARGE_READ_BYTES..(step + 1) * LARGE_READ_BYTES;
            assert_eq!(runs.read(read, 100 * MIB), [0..0, 0..0]);
        }
        assert_eq!(pushes((0..2000).map(|index| index * 7919 % 262_144), 1 << 30), []);
    }
}
