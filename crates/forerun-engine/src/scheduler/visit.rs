//! How long a disk stays with those who read in no order beside others' readahead.
//!
//! To come to one of them and go back to where others read on costs two movements of the head, and
//! who reads on from what he got asks again at once: as long as one does, readahead waits, for one
//! visit. Then it is the others' turn, even if somebody asks.
//= Iyer, Druschel, "Anticipatory scheduling: a disk scheduling framework to overcome deceptive idleness", 2001

use super::company::{Company, PAUSE_NS};
use crate::types::Time;

/// So many times in a row somebody asked again at once who is waited for before he does,
const RETURNS_MIN: u8 = 4;
/// and that is forgotten by halves.
const RETURNS_MAX: u8 = 8;

/// Whose turn it is where the device is shared with those who read in no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visited {
    /// Nobody's in particular: those who wait come first.
    Nobody,
    /// Theirs: readahead waits, and whoever waits for it.
    Them,
    /// The others' readahead: they wait.
    Others,
}

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Visit {
    /// When the first fetch of it ended.
    begun: Option<Time>,
    /// How often somebody asked again at once of late.
    returns: u8,
}

impl Visit {
    /// A fetch that nothing is read ahead with begins; `company` is that of such fetches.
    pub(super) fn begin(&mut self, now: Time, company: &Company) {
        let Some(ended) = company.ended().filter(|_| !company.is_awaited()) else { return };
        let is_soon = now.since(ended) < PAUSE_NS;
        self.returns = if is_soon { (self.returns + 1).min(RETURNS_MAX) } else { self.returns / 2 };
    }

    /// Such a fetch is over.
    pub(super) fn end(&mut self, now: Time) {
        self.begun.get_or_insert(now);
    }

    /// Others' readahead is on its way: the next visit is a new one.
    pub(super) fn leave(&mut self) {
        self.begun = None;
    }

    /// Whose turn it is, where a visit takes `visit_ns`.
    pub(super) fn visited(&self, now: Time, company: &Company, visit_ns: u64) -> Visited {
        let has_stayed = self.begun.map(|begun| now.since(begun));
        if has_stayed.is_some_and(|stayed| stayed >= visit_ns) {
            return Visited::Others;
        }
        let is_back_soon = || company.paused_at().is_some_and(|paused| now < paused);
        let is_there = company.is_awaited() || has_stayed.is_some() && is_back_soon();
        if is_there && self.returns >= RETURNS_MIN { Visited::Them } else { Visited::Nobody }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const VISIT: u64 = 50 * MS;

    /// Somebody waits 5 ms for each of `count` fetches, and asks again after `pause` ms.
    struct Reading {
        visit: Visit,
        company: Company,
        now: u64,
    }

    impl Reading {
        fn after(count: u64, pause: u64) -> Reading {
            let mut reading = Reading { visit: Visit::default(), company: Company::default(), now: 0 };
            (0..count).for_each(|_| reading.read(pause));
            reading
        }

        fn read(&mut self, pause: u64) {
            self.visit.begin(Time(self.now), &self.company);
            self.company.begin();
            self.now += 5 * MS;
            self.company.end(Time(self.now));
            self.visit.end(Time(self.now));
            self.now += pause * MS;
        }

        fn visited(&self) -> Visited {
            self.visit.visited(Time(self.now), &self.company, VISIT)
        }
    }

    #[test]
    fn who_asks_again_at_once_is_waited_for_until_he_does_not() {
        let mut reading = Reading::after(4, 0);
        assert_eq!(reading.visited(), Visited::Nobody, "three times are too few");
        reading.read(0);
        assert_eq!(reading.visited(), Visited::Them);
        reading.now += PAUSE_NS;
        assert_eq!(reading.visited(), Visited::Nobody, "he pauses");
    }

    #[test]
    fn a_visit_ends_and_the_next_one_begins_after_readahead() {
        let mut reading = Reading::after(10, 0);
        assert_eq!(reading.visited(), Visited::Them);
        reading.read(0);
        assert_eq!(reading.visited(), Visited::Others);
        reading.visit.leave();
        assert_eq!(reading.visited(), Visited::Nobody, "readahead is on its way");
        reading.read(0);
        assert_eq!(reading.visited(), Visited::Them);
    }

    #[test]
    fn who_thinks_is_not_waited_for() {
        let mut reading = Reading::after(5, 0);
        (0..2).for_each(|_| reading.read(3));
        reading.read(0);
        assert_ne!(reading.visited(), Visited::Them);
    }
}
