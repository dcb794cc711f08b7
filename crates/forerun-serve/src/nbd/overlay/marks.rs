//! The map in memory.

use std::collections::BTreeMap;
use std::ops::Range;

use super::layout::PAGE_BLOCKS;
use super::states::{State, States};

/// The states of all blocks. Pages without a block of the file are absent.
#[derive(Debug, Default)]
pub(super) struct Marks {
    pages: BTreeMap<u64, Page>,
}

/// A page, and its last copy in the file.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) states: States,
    /// Counts the copies in the file; 0 for none.
    pub(super) generation: u64,
    /// The copy in the file is older.
    is_dirty: bool,
}

/// A page as a flush takes it.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) page: u64,
    pub(super) generation: u64,
    pub(super) states: States,
}

impl Marks {
    /// With a page that the file has.
    pub(super) fn put(&mut self, page: u64, generation: u64, states: States) {
        self.pages.insert(page, Page { states, generation, is_dirty: false });
    }

    pub(super) fn get(&self, block: u64) -> State {
        let page = self.pages.get(&(block / PAGE_BLOCKS));
        page.map_or(State::Base, |page| page.states.get((block % PAGE_BLOCKS) as usize))
    }

    /// The states of `blocks` in order, with runs of one state put together.
    pub(super) fn runs(&self, blocks: Range<u64>) -> Vec<(Range<u64>, State)> {
        let mut runs: Vec<(Range<u64>, State)> = Vec::new();
        for block in blocks {
            let state = self.get(block);
            match runs.last_mut() {
                Some((run, last)) if *last == state => run.end = block + 1,
                _ => runs.push((block..block + 1, state)),
            }
        }
        runs
    }

    /// Marks `blocks`.
    pub(super) fn set(&mut self, blocks: Range<u64>, state: State) {
        for page in pages_of(&blocks) {
            let first = page * PAGE_BLOCKS;
            let part = blocks.start.max(first)..blocks.end.min(first + PAGE_BLOCKS);
            let entry = self.pages.entry(page).or_default();
            let is_changed =
                entry.states.set((part.start - first) as usize..(part.end - first) as usize, state);
            entry.is_dirty |= is_changed;
        }
    }

    /// The pages of `blocks` that have no place in the file yet.
    pub(super) fn missing_pages(&self, blocks: &Range<u64>) -> Vec<u64> {
        pages_of(blocks).filter(|page| !self.pages.contains_key(page)).collect()
    }

    /// The pages that a flush has to write.
    pub(super) fn take(&mut self) -> Vec<Taken> {
        let dirty = self.pages.iter_mut().filter(|(_, page)| page.is_dirty);
        let taken = dirty.map(|(number, page)| {
            page.is_dirty = false;
            Taken { page: *number, generation: page.generation + 1, states: page.states.clone() }
        });
        taken.collect()
    }

    /// The file has the pages, or `is_written` is false: then a later flush writes them.
    pub(super) fn give_back(&mut self, taken: &[Taken], is_written: bool) {
        for Taken { page, generation, .. } in taken {
            let Some(page) = self.pages.get_mut(page) else { continue };
            if is_written {
                page.generation = *generation;
            } else {
                page.is_dirty = true;
            }
        }
    }
}

fn pages_of(blocks: &Range<u64>) -> Range<u64> {
    if blocks.is_empty() {
        return 0..0;
    }
    blocks.start / PAGE_BLOCKS..(blocks.end - 1) / PAGE_BLOCKS + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_go_across_pages_and_are_taken_once() {
        let mut marks = Marks::default();
        let edge = PAGE_BLOCKS;
        assert_eq!(marks.missing_pages(&(edge - 1..edge + 1)), [0, 1]);
        marks.set(edge - 2..edge + 2, State::Data);
        marks.set(edge..edge + 1, State::Zero);
        assert_eq!(
            marks.runs(edge - 3..edge + 2),
            [
                (edge - 3..edge - 2, State::Base),
                (edge - 2..edge, State::Data),
                (edge..edge + 1, State::Zero),
                (edge + 1..edge + 2, State::Data)
            ]
        );
        let taken = marks.take();
        assert_eq!(
            taken.iter().map(|taken| (taken.page, taken.generation)).collect::<Vec<_>>(),
            [(0, 1), (1, 1)]
        );
        assert!(marks.take().is_empty());
        marks.give_back(&taken, false);
        let again = marks.take();
        assert_eq!((again.len(), again[0].generation), (2, 1), "the same slot is written again");
        marks.give_back(&again, true);
        marks.set(3..3, State::Zero);
        marks.set(edge..edge + 1, State::Zero);
        assert!(marks.take().is_empty(), "nothing has changed");
        marks.set(edge..edge + 1, State::Data);
        assert_eq!(marks.take()[0].generation, 2);
    }
}
