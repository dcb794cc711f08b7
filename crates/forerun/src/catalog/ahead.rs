//! Which directories to list before somebody asks: the next ones of whoever lists the
//! directories of a directory one after the other. Pure.

use std::collections::HashMap;
use std::sync::Arc;

use forerun_backend::{Entry, Kind};

use super::parent_of;

/// How far ahead.
const AHEAD_MAX: usize = 4;
/// Lists in order before they count as a walk: fewer may be chance.
const RUN_MIN: usize = 2;
/// Entries to expect of all lists ahead together, judged by the last list.
const ENTRIES_AHEAD_MAX: usize = 2048;
/// Directories that are known at most. Then all are dropped, and walks have to be recognised again.
const DIRECTORIES_MAX: usize = 65_536;

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    parents: HashMap<Arc<str>, Parent>,
    /// Each directory's place among those of its parent.
    places: HashMap<Arc<str>, usize>,
}

/// A directory with directories in it, and how far somebody is with them.
#[derive(Debug)]
struct Parent {
    children: Vec<Arc<str>>,
    last: Option<usize>,
    /// How many were asked for in order, up to `last`.
    run: usize,
    /// Those before this one need not be listed ahead any more.
    end: usize,
    /// How far ahead: less once lists were too old when their turn came, or had none.
    depth: usize,
    /// Entries of the one that was listed last.
    entry_count: usize,
}

impl Ahead {
    /// `path` was found to hold `entries`.
    pub(super) fn listed(&mut self, path: &str, entries: &[Entry]) {
        if self.places.contains_key(path)
            && let Some(parent) = self.parents.get_mut(parent_of(path))
        {
            parent.entry_count = entries.len();
        }
        let directories = entries.iter().filter(|entry| entry.kind == Kind::Directory);
        let children: Vec<Arc<str>> = directories.map(|entry| Arc::from(&*entry.path)).collect();
        if self.parents.get(path).is_some_and(|parent| parent.children == children) {
            return;
        }
        for child in self.parents.remove(path).into_iter().flat_map(|parent| parent.children) {
            self.places.remove(&child);
        }
        if children.is_empty() || children.len() > DIRECTORIES_MAX {
            return;
        }
        if self.places.len() + children.len() > DIRECTORIES_MAX {
            (self.parents, self.places) = Default::default();
        }
        self.places.extend(children.iter().cloned().zip(0..));
        let parent = Parent { children, last: None, run: 0, end: 0, depth: AHEAD_MAX, entry_count: 0 };
        self.parents.insert(path.into(), parent);
    }

    /// The directories to list ahead, because somebody wants the list of `path`. `is_known` says that this
    /// list is known or on its way.
    pub(super) fn wanted(&mut self, path: &str, is_known: bool) -> &[Arc<str>] {
        let Some(index) = self.places.get(path).copied() else { return &[] };
        let above = parent_of(path);
        let run_before = if self.was_all_listed_before(above) { RUN_MIN } else { 1 };
        let Some(parent) = self.parents.get_mut(above) else { return &[] };
        parent.wanted(index, is_known, run_before)
    }

    /// Whether somebody went through all directories of the one before `path`, and so
    /// is likely to go through those of `path`.
    fn was_all_listed_before(&self, path: &str) -> bool {
        let before = self.places.get(path).and_then(|index| index.checked_sub(1));
        let siblings = self.parents.get(parent_of(path)).map(|parent| &parent.children);
        before
            .zip(siblings)
            .and_then(|(before, siblings)| self.parents.get(&siblings[before]))
            .is_some_and(|parent| parent.run >= parent.children.len())
    }
}

impl Parent {
    /// As [`Ahead::wanted`]; the first in order counts as `run_before`.
    fn wanted(&mut self, index: usize, is_known: bool, run_before: usize) -> &[Arc<str>] {
        let next = self.last.map_or(0, |last| last + 1);
        if index > 0 && index < next && next - index <= AHEAD_MAX {
            // Somebody else on the same way, or one of several who share it.
            return &[];
        }
        let first = if index == 0 { run_before } else { 1 };
        if index == next {
            self.run += first;
        } else if self.run >= RUN_MIN && (next..self.end).contains(&index) {
            self.run += 1;
        } else {
            // Lists ahead that nobody came for make the next ones fewer.
            self.depth = if self.end > next { self.depth / 2 } else { (2 * self.depth).clamp(1, AHEAD_MAX) };
            (self.run, self.end) = (first, 0);
        }
        self.last = Some(index);
        if index < self.end && !is_known {
            self.depth /= 2;
        }
        if self.run < RUN_MIN {
            return &[];
        }
        let depth = self.depth.min(ENTRIES_AHEAD_MAX / self.entry_count.max(1));
        let start = self.end.max(index + 1);
        self.end = start.max((index + 1 + depth).min(self.children.len()));
        &self.children[start..self.end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directories(parent: &str, count: usize) -> Vec<Entry> {
        (0..count).map(|index| Entry::directory(format!("{parent}{index:02}"))).collect()
    }

    fn walked(parent: &str, count: usize) -> Ahead {
        let mut ahead = Ahead::default();
        ahead.listed(parent.trim_end_matches('/'), &directories(parent, count));
        ahead
    }

    fn wanted(ahead: &mut Ahead, path: &str, is_known: bool) -> String {
        ahead.wanted(path, is_known).join(" ")
    }

    #[test]
    fn two_in_order_have_the_next_listed_each_once() {
        let mut ahead = walked("d/", 8);
        assert_eq!(wanted(&mut ahead, "d/00", false), "");
        assert_eq!(wanted(&mut ahead, "d/01", false), "d/02 d/03 d/04 d/05");
        assert_eq!(wanted(&mut ahead, "d/01", true), "");
        assert_eq!(wanted(&mut ahead, "d/02", true), "d/06");
        assert_eq!(wanted(&mut ahead, "d/04", true), "d/07");
        assert_eq!(wanted(&mut ahead, "d/03", true), "");
        assert_eq!(wanted(&mut ahead, "d/05", true), "");
        assert_eq!(wanted(&mut ahead, "e/05", true), "");
    }

    #[test]
    fn who_jumps_has_nothing_listed() {
        let mut ahead = walked("", 32);
        for path in ["00", "31", "10", "05", "20", "13"] {
            assert_eq!(wanted(&mut ahead, path, false), "", "{path}");
        }
    }

    #[test]
    fn lists_that_are_too_old_when_their_turn_comes_end_it() {
        let mut ahead = walked("", 32);
        let listed: Vec<usize> =
            directories("", 32).iter().map(|directory| ahead.wanted(&directory.path, false).len()).collect();
        assert_eq!(listed[..3], [0, 4, 0]);
        assert!(listed.iter().sum::<usize>() <= 2 * AHEAD_MAX, "{listed:?}");
    }

    #[test]
    fn whoever_always_stops_early_has_fewer_and_fewer_listed() {
        let mut ahead = walked("", 32);
        let mut listed = || {
            wanted(&mut ahead, "00", false);
            ahead.wanted("01", false).len()
        };
        assert_eq!([0; 6].map(|_| listed()), [4, 2, 1, 0, 1, 0]);
    }

    #[test]
    fn long_lists_are_not_many() {
        let mut ahead = walked("", 32);
        ahead.listed("00", &directories("00/", ENTRIES_AHEAD_MAX / 2));
        wanted(&mut ahead, "00", false);
        assert_eq!(wanted(&mut ahead, "01", false), "02 03");
        ahead.listed("01", &directories("01/", ENTRIES_AHEAD_MAX + 1));
        assert_eq!(wanted(&mut ahead, "02", true), "");
    }

    #[test]
    fn who_went_through_the_one_before_goes_through_this_one() {
        let mut ahead = walked("", 2);
        ahead.listed("00", &directories("00/", 3));
        ahead.listed("01", &directories("01/", 3));
        for path in ["00/00", "00/01", "00/02"] {
            wanted(&mut ahead, path, false);
        }
        assert_eq!(wanted(&mut ahead, "01/00", false), "01/01 01/02");
    }

    #[test]
    fn listing_again_keeps_the_place_unless_there_are_others() {
        let mut ahead = walked("", 8);
        wanted(&mut ahead, "00", false);
        ahead.listed("", &directories("", 8));
        assert_eq!(wanted(&mut ahead, "01", false), "02 03 04 05");
        ahead.listed("", &directories("", 5));
        assert_eq!(wanted(&mut ahead, "02", true), "");
        assert_eq!(wanted(&mut ahead, "03", true), "04");
        ahead.listed("", &[]);
        assert!(ahead.parents.is_empty() && ahead.places.is_empty());
    }
}
