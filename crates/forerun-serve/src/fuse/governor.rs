//! Which readahead to put into the page cache of a file before the kernel asks for it.
//!
//! The mount keeps the kernel's own window at one page, because the kernel reads that much
//! around every page fault as well. A program that reads in large pieces loses nothing:
//! the kernel asks for as much as the program does. A program that reads in small pieces,
//! or faults page after page of mapped memory, would send a request for every page. The
//! governor recognises such runs of small READs, upward and downward. It has the engine's
//! readahead beside them pushed, as far as that is in memory: the engine alone decides how
//! far a reader will go.
//!
//! A touch of a pushed page shows nowhere. Each push therefore leaves out its last page, and a
//! large one also the page in its middle. A reader must ask for these holes, and so tells how
//! far it has come. The engine hears of pushed bytes only then.

use std::collections::VecDeque;
use std::ops::Range;

const PAGE_BYTES: u64 = 4096;
/// Runs of one file that the governor tells apart.
const RUNS_MAX: usize = 32;
/// READs at least this long cost little enough as they are: pushes gained nothing there.
const LARGE_READ_BYTES: u64 = 32 << 10;
/// Adjacent READs before the first push. Pages touched at random are hardly ever as many
/// neighbours in order.
const READ_COUNT_MIN: u64 = 3;
/// A push is one of so many parts of what its run has come. The engine then knows the length of
/// a run to a sixteenth, and plans the next one by it.
const WINDOW_SHARE: u64 = 8;
/// Bounds of a push: what the kernel maps at one fault, and what is worth two requests.
const WINDOW_BYTES_MIN: u64 = 64 << 10;
const WINDOW_BYTES_MAX: u64 = 2 << 20;
/// Smaller pushes have no hole in the middle: a reader is through before the next one comes.
const HALVED_BYTES_MIN: u64 = 256 << 10;
/// The kernel takes a push in pieces, and a reader finds the first while the next is copied.
const PIECE_BYTES: u64 = 128 << 10;
/// Downward positions count from here, where no file reaches.
const TOP: u64 = 1 << 63;

/// The latest READs of one file, whoever made them. The latest run is first.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    runs: Vec<Run>,
}

/// Which way a run goes through its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Up,
    Down,
}

/// What a READ says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Step {
    /// Pushed extents that the reader has come past since the last READ, in its order.
    pub(crate) passed: Vec<Range<u64>>,
    /// Where more may be pushed, if it is time: beside the READ's run, and which way.
    pub(crate) room: Option<(Range<u64>, Way)>,
}

/// READs of which each is beside the one before, or in what was pushed beside that. All
/// offsets are positions along its way.
#[derive(Debug)]
struct Run {
    way: Way,
    read_count: u64,
    start: u64,
    /// The end of all bytes that were asked for or pushed.
    end: u64,
    /// What was pushed and not come past yet, holes included, in order.
    pushed: VecDeque<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    extent: Range<u64>,
    is_hole: bool,
}

impl Runs {
    /// The kernel asks for `read` of a file of `size` bytes.
    pub(crate) fn read(&mut self, read: &Range<u64>, size: u64) -> Step {
        let Some(place) = self.runs.iter_mut().position(|run| run.takes(read)) else {
            self.runs.truncate(RUNS_MAX - 1);
            self.runs.insert(0, Run::new(read));
            return Step::default();
        };
        self.runs[..=place].rotate_right(1);
        self.runs[0].read(read, size)
    }

    /// Of the room for a push, the next `bytes` will be pushed. Returns the extents to store,
    /// in the order in which the reader comes to them.
    pub(crate) fn push(&mut self, room: &Range<u64>, way: Way, bytes: u64) -> Vec<Range<u64>> {
        let start = way.mirror(room).start;
        let run = self.runs.iter_mut().find(|run| run.way == way && run.end == start);
        run.map_or(Vec::new(), |run| run.push(bytes))
    }
}

impl Run {
    fn new(read: &Range<u64>) -> Run {
        let pushed = VecDeque::new();
        Run { way: Way::Up, read_count: 1, start: read.start, end: read.end, pushed }
    }

    /// Whether `read` goes on with this run. The second READ decides the way.
    fn takes(&mut self, read: &Range<u64>) -> bool {
        if self.read_count == 1 && read.end == self.start {
            let first = Way::Down.mirror(&(self.start..self.end));
            (self.way, self.start, self.end) = (Way::Down, first.start, first.end);
        }
        let start = self.way.mirror(read).start;
        start == self.end || self.pushed.iter().any(|piece| piece.extent.contains(&start))
    }

    fn read(&mut self, read: &Range<u64>, size: u64) -> Step {
        let is_large = read.end - read.start >= LARGE_READ_BYTES;
        let read = self.way.mirror(read);
        self.read_count += 1;
        let mut passed = Vec::new();
        let mut is_due = false;
        while let Some(Piece { extent, is_hole }) = self.next_before(read.end) {
            is_due |= is_hole;
            if extent.start < read.start {
                passed.push(self.way.mirror(&(extent.start..extent.end.min(read.start))));
            }
            if extent.end > read.end {
                // The push is late: the kernel asks for the rest as well.
                self.pushed.push_front(Piece { extent: read.end..extent.end, is_hole });
            }
        }
        is_due |= self.pushed.is_empty();
        self.end = self.end.max(read.end);
        let limit = match self.way {
            // A push past the end would make the kernel believe that the file is longer.
            Way::Up => size,
            Way::Down => TOP,
        };
        let is_possible = !is_large && self.read_count >= READ_COUNT_MIN && self.end < limit;
        let room = (is_due && is_possible).then(|| {
            let window = (self.end - self.start) / WINDOW_SHARE / PAGE_BYTES * PAGE_BYTES;
            let room = self.end..(self.end + window.clamp(WINDOW_BYTES_MIN, WINDOW_BYTES_MAX)).min(limit);
            (self.way.mirror(&room), self.way)
        });
        Step { passed, room }
    }

    /// Takes the next pushed piece that begins before `end`.
    fn next_before(&mut self, end: u64) -> Option<Piece> {
        if self.pushed.front()?.extent.start < end { self.pushed.pop_front() } else { None }
    }

    /// Pushes the next `bytes` but for the holes.
    fn push(&mut self, bytes: u64) -> Vec<Range<u64>> {
        let (start, end) = (self.end, self.end + bytes);
        let half = start + (bytes / 2).next_multiple_of(PAGE_BYTES);
        let last = (end.max(1) - 1) / PAGE_BYTES * PAGE_BYTES;
        if last < start + 2 * PAGE_BYTES {
            return Vec::new();
        }
        self.end = end;
        let mut stored = Vec::new();
        let middle = (bytes >= HALVED_BYTES_MIN).then_some(half);
        let after = middle.map_or(start, |middle| middle + PAGE_BYTES);
        let first = middle.map(|middle| (start, middle, after));
        for (from, hole, to) in first.into_iter().chain([(after, last, end)]) {
            for at in (from..hole).step_by(PIECE_BYTES as usize) {
                let extent = at..(at + PIECE_BYTES).min(hole);
                stored.push(self.way.mirror(&extent));
                self.pushed.push_back(Piece { extent, is_hole: false });
            }
            self.pushed.push_back(Piece { extent: hole..to, is_hole: true });
        }
        stored
    }
}

impl Way {
    /// The positions of an extent of the file, or the extent at such positions.
    fn mirror(self, extent: &Range<u64>) -> Range<u64> {
        match self {
            Way::Up => extent.clone(),
            Way::Down => TOP - extent.end..TOP - extent.start,
        }
    }
}

#[cfg(test)]
mod tests;
