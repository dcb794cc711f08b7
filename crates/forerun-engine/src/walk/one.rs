//! One walk through one directory: where it is, and which files are ahead of it.
//!
//! Places are counted along its way.

use alloc::collections::VecDeque;

use super::Share;
use super::ahead::{Ahead, File};
use super::candidate::Way;
use super::directories::Listing;
use super::habits::Habits;
use super::lead::Lead;
use super::opened::Part;
use crate::types::{DirectoryId, ObjectId, Time};

/// Files that the walker would take and that it may leave out at once, or that several
/// workers may open out of order.
const REACH: u32 = 16;
/// A file that was passed may be opened late within so many places.
const LATE_PLACES: u32 = u64::BITS;
/// Entries looked at in one go.
const SCAN_MAX: u32 = 4096;
/// Openings that make a walk worth guessing others from.
const PROVEN_OPENINGS: u32 = 4;

/// What the opening of a file means.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Opening {
    /// What was to be expected of it, in bytes.
    pub(super) expected: u64,
    /// What was fetched of it, or is on its way.
    pub(super) fetched: Part,
}

/// See the module's page.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) directory: DirectoryId,
    pub(super) habits: Habits,
    /// It was opened last.
    pub(super) last: Time,
    /// Openings in its directory since then that were not its own.
    pub(super) stranger_count: usize,
    /// It began with a listing, and nobody came yet.
    pub(super) is_guess: bool,
    way: Way,
    /// Behind the farthest file that was opened.
    position: u32,
    /// Which of the places before it were opened; the last is bit 0.
    recent: u64,
    /// Places before it were asked for, or left out.
    planned: u32,
    ahead: Ahead,
    /// Asked for and not numbered yet: how many, and their bytes.
    asked: (u32, u64),
    lead: Lead,
    opened_count: u32,
}

impl Walk {
    /// A walk that goes on from `index`.
    pub(super) fn new(
        now: Time,
        directory: DirectoryId,
        way: Way,
        index: u32,
        listing: &Listing,
        habits: Habits,
    ) -> Walk {
        let position = way.place(index, listing.len()) + 1;
        Walk { position, recent: 1, planned: position, ..Walk::at_start(now, directory, way, habits) }
    }

    /// A walk that may begin in `directory`, by a walker like that of `self`.
    pub(super) fn guess(&self, now: Time, directory: DirectoryId) -> Walk {
        let walk = Walk::at_start(now, directory, self.way, self.habits.clone());
        Walk { is_guess: true, lead: self.lead.of_guess(now), ..walk }
    }

    fn at_start(now: Time, directory: DirectoryId, way: Way, habits: Habits) -> Walk {
        Walk {
            directory,
            habits,
            last: now,
            stranger_count: 0,
            is_guess: false,
            way,
            position: 0,
            recent: 0,
            planned: 0,
            ahead: Ahead::default(),
            asked: (0, 0),
            lead: Lead::new(now),
            opened_count: 0,
        }
    }

    pub(super) fn is_proven(&self) -> bool {
        self.opened_count >= PROVEN_OPENINGS
    }

    /// Nothing is left of its directory.
    pub(super) fn is_done(&self, listing: &Listing) -> bool {
        self.planned >= listing.len() && self.ahead.is_empty()
    }

    /// How far the file at `index` is from what comes next, if it is this walk's: in
    /// files that the walker would take.
    pub(super) fn distance(&self, index: u32, listing: &Listing) -> Option<u32> {
        let place = self.way.place(index, listing.len());
        if place < self.position {
            let behind = self.position - 1 - place;
            let is_near = behind < LATE_PLACES && !(self.was_opened(place) && self.is_done(listing));
            return is_near.then_some(behind);
        }
        let gap = self.position..place;
        if gap.len() as u32 > SCAN_MAX {
            return None;
        }
        let between = gap.filter(|place| self.takes(*place, listing)).take(REACH as usize + 1).count() as u32;
        (between <= REACH || place < self.planned).then_some(between)
    }

    /// The file at `index` was opened as `object`.
    pub(super) fn open(&mut self, now: Time, index: u32, object: ObjectId, listing: &Listing) -> Opening {
        let (place, kind) = (self.way.place(index, listing.len()), listing.kind(index));
        self.last = now;
        self.stranger_count = 0;
        self.is_guess = false;
        let fetched = self.ahead.take_at(place, object).map(|file| file.part).unwrap_or_default();
        if self.was_opened(place) {
            return Opening { expected: 0, fetched };
        }
        self.opened_count += 1;
        if place < self.position {
            self.recent |= 1 << (self.position - 1 - place);
            self.habits.open(kind, true);
        } else {
            for passed in self.position..place {
                self.pass(passed, listing);
            }
            self.recent = self.recent << 1 | 1;
            self.position = place + 1;
            self.planned = self.planned.max(self.position);
            self.habits.open(kind, false);
        }
        Opening { expected: self.habits.part(kind, listing.size(index)).bytes(), fetched }
    }

    /// The next file that was passed so long ago that nobody will come for it.
    pub(super) fn take_passed(&mut self) -> Option<File> {
        self.ahead.take_before(self.position.saturating_sub(LATE_PLACES))
    }

    /// Everything ahead of it.
    pub(super) fn take_ahead(&mut self) -> VecDeque<File> {
        self.planned = u32::MAX;
        self.ahead.take_all()
    }

    /// What is ahead of `object` goes: it was evicted, or is known to be no use.
    pub(super) fn take(&mut self, object: ObjectId) -> Option<File> {
        self.ahead.take(object)
    }

    /// Memory is short: what was read ahead of it was evicted.
    pub(super) fn shorten(&mut self) {
        self.lead.shorten(self.planned);
    }

    /// The reader of a file of the walk had to wait.
    pub(super) fn wait(&mut self, share: &Share) {
        self.lead.wait(self.position, share);
    }

    /// Asks for what is next, as far as lead and bytes allow; `ask` is told the indices.
    pub(super) fn top_up(
        &mut self,
        now: Time,
        share: &Share,
        bytes_max: u64,
        listing: &Listing,
        mut ask: impl FnMut(u32),
    ) {
        let position = self.position;
        self.lead.reconsider(now, position, self.opened_count, share);
        let files_max = self.lead.files().min(share.files_max);
        let mut count = self.ahead.count_from(position) + self.asked.0;
        let mut bytes = self.ahead.bytes() + self.asked.1;
        let mut looked_at = 0;
        while count < files_max && self.planned < listing.len() && looked_at < SCAN_MAX {
            looked_at += 1;
            let index = self.way.place(self.planned, listing.len());
            let more = self.bytes_of(index, listing);
            if bytes + more > bytes_max {
                break;
            }
            self.planned += 1;
            if more > 0 {
                count += 1;
                bytes += more;
                self.asked = (self.asked.0 + 1, self.asked.1 + more);
                ask(index);
            }
        }
    }

    /// All that was asked for was said to the driver, whose answers come at once if ever.
    pub(super) fn on_asked(&mut self) {
        self.asked = (0, 0);
    }

    /// The file at `index` is `object`, of `size` bytes: how much of it to fetch, if it
    /// is still to come.
    pub(super) fn announce(
        &mut self,
        index: u32,
        object: ObjectId,
        size: u64,
        listing: &Listing,
    ) -> Option<Part> {
        let place = self.way.place(index, listing.len());
        let is_new = self.ahead.has_neither(place, object);
        if place < self.position || place >= self.planned || !is_new {
            return None;
        }
        let part = self.habits.part(listing.kind(index), size);
        if part.bytes() == 0 {
            return None;
        }
        self.ahead.insert(File { place, object, part });
        Some(part)
    }

    fn was_opened(&self, place: u32) -> bool {
        let behind = self.position.wrapping_sub(place + 1);
        place < self.position && behind < LATE_PLACES && self.recent >> behind & 1 == 1
    }

    fn takes(&self, place: u32, listing: &Listing) -> bool {
        let index = self.way.place(place, listing.len());
        listing.size(index) > 0 && self.habits.wants(listing.kind(index))
    }

    /// What to fetch of the file at `index`; 0 for what is left out.
    fn bytes_of(&self, index: u32, listing: &Listing) -> u64 {
        let (size, kind) = (listing.size(index), listing.kind(index));
        if size > 0 && self.habits.wants(kind) { self.habits.part(kind, size).bytes() } else { 0 }
    }

    fn pass(&mut self, place: u32, listing: &Listing) {
        self.recent <<= 1;
        let index = self.way.place(place, listing.len());
        if listing.size(index) > 0 {
            self.habits.skip(listing.kind(index));
        }
    }
}
