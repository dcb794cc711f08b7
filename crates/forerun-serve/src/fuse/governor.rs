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
mod tests {
    use super::*;

    const SIZE: u64 = 1 << 30;

    fn page(index: u64) -> Range<u64> {
        index * PAGE_BYTES..(index + 1) * PAGE_BYTES
    }

    /// Starts and ends, in pages.
    type Pages = Vec<(u64, u64)>;

    fn pages(extents: &[Range<u64>]) -> Pages {
        extents.iter().map(|extent| (extent.start / PAGE_BYTES, extent.end.div_ceil(PAGE_BYTES))).collect()
    }

    /// The kernel asks for one page, and all the room that there is gets pushed. What the reader
    /// came past, and what is stored.
    fn touch(runs: &mut Runs, index: u64, size: u64) -> (Pages, Pages) {
        let Step { passed, room } = runs.read(&page(index), size);
        let stored = room.map_or(Vec::new(), |(room, way)| runs.push(&room, way, room.end - room.start));
        (pages(&passed), pages(&stored))
    }

    #[test]
    fn a_push_leaves_out_its_last_page() {
        let mut runs = Runs::default();
        assert_eq!(touch(&mut runs, 0, SIZE), (vec![], vec![]));
        assert_eq!(touch(&mut runs, 1, SIZE), (vec![], vec![]));
        assert_eq!(touch(&mut runs, 2, SIZE), (vec![], vec![(3, 18)]));
        assert_eq!(touch(&mut runs, 18, SIZE), (vec![(3, 18)], vec![(19, 34)]));
    }

    #[test]
    fn at_the_middle_of_a_large_push_the_next_one_follows_its_end() {
        let mut runs = Runs::default();
        (0..2).for_each(|index| _ = touch(&mut runs, index, SIZE));
        assert_eq!(runs.read(&(2 * PAGE_BYTES..600 * PAGE_BYTES), SIZE), Step::default(), "a large READ");
        assert_eq!(touch(&mut runs, 600, SIZE).1, [(601, 633), (633, 639), (640, 672), (672, 675)]);
        let (passed, stored) = touch(&mut runs, 639, SIZE);
        assert_eq!(passed, [(601, 633), (633, 639)]);
        assert_eq!(stored.first(), Some(&(676, 708)));
    }

    #[test]
    fn a_downward_run_is_pushed_downward() {
        let mut runs = Runs::default();
        touch(&mut runs, 102, SIZE);
        touch(&mut runs, 101, SIZE);
        assert_eq!(touch(&mut runs, 100, SIZE), (vec![], vec![(85, 100)]));
        assert_eq!(touch(&mut runs, 84, SIZE), (vec![(85, 100)], vec![(69, 84)]));
    }

    #[test]
    fn pushes_stay_within_the_file() {
        let mut runs = Runs::default();
        (0..2).for_each(|index| _ = touch(&mut runs, index, SIZE));
        let size = 9 * PAGE_BYTES + 5;
        assert_eq!(touch(&mut runs, 2, size), (vec![], vec![(3, 9)]), "the last page is a hole");
        let mut runs = Runs::default();
        (8..10).rev().for_each(|index| _ = touch(&mut runs, index, SIZE));
        assert_eq!(touch(&mut runs, 7, SIZE).1, [(1, 7)]);
    }

    #[test]
    fn pushes_grow_with_the_run_up_to_a_bound() {
        let mut runs = Runs::default();
        let mut largest = 0;
        let mut next = 0;
        while next < SIZE / PAGE_BYTES / 8 {
            let (_, stored) = touch(&mut runs, next, SIZE);
            largest = largest.max(stored.iter().map(|(start, end)| end - start).sum::<u64>());
            let hole = runs.runs[0].pushed.iter().find(|piece| piece.is_hole);
            next = hole.map_or(next + 1, |hole| hole.extent.start / PAGE_BYTES);
        }
        assert_eq!(largest, WINDOW_BYTES_MAX / PAGE_BYTES - 2);
    }

    #[test]
    fn no_more_is_pushed_than_is_in_memory() {
        let mut runs = Runs::default();
        (0..2).for_each(|index| _ = touch(&mut runs, index, SIZE));
        let Step { room, .. } = runs.read(&page(2), SIZE);
        let (room, way) = room.expect("it is time");
        assert_eq!(runs.push(&room, way, 0), [], "nothing was read ahead");
        assert_eq!(pages(&runs.push(&room, way, 8 * PAGE_BYTES)), [(3, 10)]);
    }

    #[test]
    fn a_late_push_does_not_hide_how_far_the_reader_has_come() {
        let mut runs = Runs::default();
        (0..3).for_each(|index| _ = touch(&mut runs, index, SIZE));
        // The kernel has none of it yet, and asks page by page.
        assert_eq!(touch(&mut runs, 3, SIZE), (vec![], vec![]));
        assert_eq!(touch(&mut runs, 4, SIZE), (vec![], vec![]));
        assert_eq!(touch(&mut runs, 11, SIZE).0, [(5, 11)]);
    }

    #[test]
    fn runs_in_turns_are_told_apart_whichever_way_they_go() {
        let mut runs = Runs::default();
        let run = |index: u64, step: u64| {
            1000 * (index + 1) + if index.is_multiple_of(2) { step } else { 10 - step }
        };
        for step in 0..2 {
            (0..RUNS_MAX as u64).for_each(|index| _ = touch(&mut runs, run(index, step), SIZE));
        }
        assert!((0..RUNS_MAX as u64).all(|index| touch(&mut runs, run(index, 2), SIZE).1.len() == 1));
    }

    #[test]
    fn large_reads_and_reads_in_no_order_push_nothing() {
        let mut runs = Runs::default();
        for step in 0..100 {
            let read = step * LARGE_READ_BYTES..(step + 1) * LARGE_READ_BYTES;
            assert_eq!(runs.read(&read, SIZE), Step::default());
        }
        let mut runs = Runs::default();
        let touched = (0..2000).map(|index| touch(&mut runs, index * 7919 % 262_144, SIZE));
        assert!(touched.into_iter().all(|step| step == (vec![], vec![])));
    }
}
