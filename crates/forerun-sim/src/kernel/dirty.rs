//! Which pages are to be written, in which order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::device::Time;
use crate::source::ObjectId;

/// Pages of one file that are written before the next file has its turn.
//= linux 2.6.10 mm/page-writeback.c
const TURN_PAGES: u64 = 1024;

/// Pages in a row that are to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageRun {
    pub(super) object: ObjectId,
    pub(super) start: u64,
    pub(super) count: u64,
}

/// The dirty pages of every file. A page that is being written is not dirty.
#[derive(Debug, Default)]
pub(super) struct Dirty {
    files: BTreeMap<ObjectId, DirtyFile>,
    /// The file whose first page has been dirty for longest comes first.
    turns: VecDeque<ObjectId>,
    count: u64,
}

#[derive(Debug)]
struct DirtyFile {
    pages: BTreeSet<u64>,
    since: Time,
    /// Pages of this turn so far.
    turn_pages: u64,
}

impl Dirty {
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn insert(&mut self, now: Time, object: ObjectId, page: u64) {
        let file = self.files.entry(object).or_insert_with(|| {
            self.turns.push_back(object);
            DirtyFile { pages: BTreeSet::new(), since: now, turn_pages: 0 }
        });
        self.count += u64::from(file.pages.insert(page));
    }

    /// Pages of files that have been dirty since `time` or longer.
    pub(super) fn count_since(&self, time: Time) -> u64 {
        let old = self.files.values().filter(|file| file.since <= time);
        old.map(|file| file.pages.len() as u64).sum()
    }

    /// The next pages to write, `count_max` at most: files take turns, each from
    /// its beginning.
    pub(super) fn take_run(&mut self, count_max: u64) -> Option<PageRun> {
        let object = *self.turns.front()?;
        let file = self.files.get_mut(&object)?;
        let start = file.pages.pop_first()?;
        let mut count = 1;
        while count < count_max && file.pages.remove(&(start + count)) {
            count += 1;
        }
        self.count -= count;
        file.turn_pages += count;
        if file.pages.is_empty() {
            self.files.remove(&object);
            self.turns.pop_front();
        } else if file.turn_pages >= TURN_PAGES {
            file.turn_pages = 0;
            self.turns.rotate_left(1);
        }
        Some(PageRun { object, start, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_take_turns_and_pages_their_order() {
        let mut dirty = Dirty::default();
        (0..2000).rev().for_each(|page| dirty.insert(Time(1), ObjectId(0), page));
        [7, 5, 6, 9].into_iter().for_each(|page| dirty.insert(Time(2), ObjectId(1), page));
        let mut take = || dirty.take_run(1024).map(|run| (run.object.0, run.start, run.count));
        assert_eq!(take(), Some((0, 0, 1024)));
        assert_eq!(take(), Some((1, 5, 3)));
        assert_eq!(take(), Some((1, 9, 1)));
        assert_eq!(take(), Some((0, 1024, 976)));
        assert_eq!(take(), None);
        assert_eq!(dirty.count(), 0);
    }
}
