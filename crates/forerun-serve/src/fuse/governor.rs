//! Choosing the readahead to put into a file's page cache before the kernel asks for it.
//!
//! The mount keeps the kernel's own window at one page, because the kernel reads a window around
//! every page fault as well. A program that reads in large pieces loses nothing: the kernel's
//! requests are as large as the program's. A program that reads in small pieces, or faults on page
//! after page of mapped memory, would send a request for every page. The governor recognises such
//! runs of small READs, upward and downward. It pushes the engine's readahead beside them, as far
//! as that is in memory. The engine alone decides how far to read ahead.
//!
//! A touch of a pushed page is invisible. Each push therefore leaves out its last page, and a large
//! one also the page in its middle. A reader must ask for these holes, and so shows how far it has
//! come. The engine hears of pushed bytes only then.
//!
//! The engine may read a page more ahead than the reader comes for. So a push ends a page before the
//! end of what is in memory. Then the reader asks for the hole, and shows that it read all before it.
//!
//! A program that copies mapped memory block by block touches the end of each block first: `memcpy`
//! does. The page at the end is then a run of its own, and joins the run that reaches it.

use std::collections::VecDeque;
use std::ops::Range;

const PAGE_BYTES: u64 = 4096;
/// Runs of one file that the governor tells apart.
const RUNS_MAX: usize = 32;
/// READs of this length or more are cheap enough: pushes gained nothing there.
const LARGE_READ_BYTES: u64 = 32 << 10;
/// Adjacent READs before the first push. Random page faults hardly ever hit this many neighbours in
/// order.
const READ_COUNT_MIN: u64 = 3;
/// A push is this fraction of the length of its run so far. The engine then knows the length of a
/// run to a sixteenth, and plans the next one by it.
const WINDOW_SHARE: u64 = 8;
/// Bounds of a push: the kernel maps 64 KiB at one fault, and 2 MiB is worth two requests.
const WINDOW_BYTES_MIN: u64 = 64 << 10;
const WINDOW_BYTES_MAX: u64 = 2 << 20;
/// Smaller pushes have no hole in the middle: the reader passes them before the next push.
const HALVED_BYTES_MIN: u64 = 256 << 10;
/// Pushes are made in pieces, so that a reader finds the first while the next is copied.
const PIECE_BYTES: u64 = 128 << 10;
/// Downward positions count from here, beyond the end of every file.
const TOP: u64 = 1 << 63;

/// The latest READs of one file by all programs. The latest run is first.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    runs: Vec<Run>,
}

/// The direction of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Up,
    Down,
}

/// The outcome of a READ.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Step {
    /// Pushed extents that the reader has passed since the last READ, in its order.
    pub(crate) passed: Vec<Range<u64>>,
    /// The extent beside the run to look at for the next push, if it is time, and its direction. It is
    /// a page longer than the push.
    pub(crate) room: Option<(Range<u64>, Way)>,
}

/// Successive READs, each beside the one before or beside the push that followed it. All offsets
/// are positions in the run's direction.
#[derive(Debug)]
struct Run {
    way: Way,
    read_count: u64,
    start: u64,
    /// The end of all bytes that were read or pushed.
    end: u64,
    /// Pushed pieces that the reader has not passed, holes included, in order.
    pushed: VecDeque<Piece>,
    /// Whether the latest READ asked for a hole, or passed all that was pushed.
    is_due: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    extent: Range<u64>,
    is_hole: bool,
}

impl Runs {
    /// Takes in the kernel's READ of `read`, in a file of `size` bytes.
    pub(crate) fn read(&mut self, read: &Range<u64>, size: u64) -> Step {
        let taken = self.runs.iter().position(|run| run.takes(read));
        let Some(place) = taken.or_else(|| self.runs.iter_mut().position(|run| run.turns(read))) else {
            self.runs.truncate(RUNS_MAX - 1);
            self.runs.insert(0, Run::new(read));
            return Step::default();
        };
        self.runs[..=place].rotate_right(1);
        let passed = self.runs[0].read(read);
        self.join();
        Step { passed, room: self.runs[0].room(read, size) }
    }

    /// Adds the run that begins where the latest run ends to it.
    fn join(&mut self) {
        let Some((latest, others)) = self.runs.split_first_mut() else { return };
        let next = others.iter().position(|run| run.pushed.is_empty() && latest.is_before(run));
        if let Some(place) = next {
            let run = self.runs.remove(place + 1);
            self.runs[0].end += run.end - run.start;
        }
    }

    /// Pushes the next `bytes` of `room`, which are in memory, but for the last page. Returns the extents to
    /// store, in the reader's order.
    pub(crate) fn push(&mut self, room: &Range<u64>, way: Way, bytes: u64) -> Vec<Range<u64>> {
        let start = way.mirror(room).start;
        let run = self.runs.iter_mut().find(|run| run.way == way && run.end == start);
        run.map_or(Vec::new(), |run| run.push(bytes))
    }
}

impl Run {
    fn new(read: &Range<u64>) -> Run {
        let pushed = VecDeque::new();
        Run { way: Way::Up, read_count: 1, start: read.start, end: read.end, pushed, is_due: false }
    }

    /// Makes this run a downward one if `read` is its second READ, and before the first.
    fn turns(&mut self, read: &Range<u64>) -> bool {
        let is_downward = self.read_count == 1 && read.end == self.start;
        if is_downward {
            let first = Way::Down.mirror(&(self.start..self.end));
            (self.way, self.start, self.end) = (Way::Down, first.start, first.end);
        }
        is_downward
    }

    /// Whether `read` continues this run.
    fn takes(&self, read: &Range<u64>) -> bool {
        let start = self.way.mirror(read).start;
        start == self.end || self.pushed.iter().any(|piece| piece.extent.contains(&start))
    }

    /// Whether `other` begins where this run ends.
    fn is_before(&self, other: &Run) -> bool {
        let other = other.way.mirror(&(other.start..other.end));
        self.way.mirror(&other).start == self.end
    }

    /// Takes in `read`. Returns the pushed extents that the reader has passed, in its order.
    fn read(&mut self, read: &Range<u64>) -> Vec<Range<u64>> {
        let read = self.way.mirror(read);
        self.read_count += 1;
        let mut passed = Vec::new();
        self.is_due = false;
        while let Some(Piece { extent, is_hole }) = self.next_before(read.end) {
            self.is_due |= is_hole;
            if extent.start < read.start {
                passed.push(self.way.mirror(&(extent.start..extent.end.min(read.start))));
            }
            if extent.end > read.end {
                // The push is late: the kernel asks for the rest as well.
                self.pushed.push_front(Piece { extent: read.end..extent.end, is_hole });
            }
        }
        self.is_due |= self.pushed.is_empty();
        self.end = self.end.max(read.end);
        passed
    }

    /// The extent to look at for the next push after `read`, in a file of `size` bytes.
    fn room(&self, read: &Range<u64>, size: u64) -> Option<(Range<u64>, Way)> {
        let is_large = read.end - read.start >= LARGE_READ_BYTES;
        let limit = match self.way {
            // A push past the end would make the kernel believe that the file is longer.
            Way::Up => size,
            Way::Down => TOP,
        };
        let is_possible = !is_large && self.read_count >= READ_COUNT_MIN && self.end < limit;
        (self.is_due && is_possible).then(|| {
            let window = (self.end - self.start) / WINDOW_SHARE / PAGE_BYTES * PAGE_BYTES;
            let window = window.clamp(WINDOW_BYTES_MIN, WINDOW_BYTES_MAX);
            let room = self.end..(self.end + window + PAGE_BYTES).min(limit);
            (self.way.mirror(&room), self.way)
        })
    }

    /// Takes the next pushed piece that begins before `end`.
    fn next_before(&mut self, end: u64) -> Option<Piece> {
        if self.pushed.front()?.extent.start < end { self.pushed.pop_front() } else { None }
    }

    /// Pushes the next `bytes`, except for the holes and the last page.
    fn push(&mut self, bytes: u64) -> Vec<Range<u64>> {
        let start = self.end;
        let end = (start + bytes).saturating_sub(1) / PAGE_BYTES * PAGE_BYTES;
        if end < start + 3 * PAGE_BYTES {
            return Vec::new();
        }
        let (bytes, last) = (end - start, end - PAGE_BYTES);
        let half = start + (bytes / 2).next_multiple_of(PAGE_BYTES);
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
    /// Converts an extent of the file to positions in this direction, or back.
    fn mirror(self, extent: &Range<u64>) -> Range<u64> {
        match self {
            Way::Up => extent.clone(),
            Way::Down => TOP - extent.end..TOP - extent.start,
        }
    }
}

#[cfg(test)]
mod tests;
