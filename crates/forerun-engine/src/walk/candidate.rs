//! Openings that may be the beginning of a walk.

use super::directories::Listing;
use super::habits::Habits;
use crate::types::DirectoryId;

/// Files of its kind that a walk leaves out at its beginning.
const SKIPPED_MAX: u32 = 2;
/// Entries looked at between two openings.
const SCAN_MAX: u32 = 1024;
/// Openings in order that make a walk; of one that began at the listing's first file
/// of its kind, one less.
const OPENINGS_MIN: usize = 3;

/// Which way through a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Forward,
    Backward,
}

impl Way {
    /// The place of `index` along this way; and the index at that place.
    pub(super) fn place(self, index: u32, len: u32) -> u32 {
        match self {
            Way::Forward => index,
            Way::Backward => len.saturating_sub(index + 1),
        }
    }
}

/// See the module's page.
#[derive(Debug)]
pub(super) struct Candidate {
    directory: DirectoryId,
    opened: [u32; OPENINGS_MIN],
    count: usize,
    way: Option<Way>,
    /// How far its files were read.
    pub(super) habits: Habits,
}

impl Candidate {
    pub(super) fn new(directory: DirectoryId, index: u32) -> Candidate {
        Candidate { directory, opened: [index; OPENINGS_MIN], count: 1, way: None, habits: Habits::default() }
    }

    pub(super) fn directory(&self) -> DirectoryId {
        self.directory
    }

    /// Whether the file at `index` comes next; then it is added.
    pub(super) fn takes(&mut self, index: u32, listing: &Listing) -> bool {
        let last = self.opened[self.count - 1];
        let way = if index > last { Way::Forward } else { Way::Backward };
        let goes_on = index != last
            && self.way.is_none_or(|known| known == way)
            && is_near(listing, last.min(index), last.max(index), index);
        if goes_on && self.count < OPENINGS_MIN {
            self.opened[self.count] = index;
            self.count += 1;
            self.way = Some(way);
        }
        goes_on
    }

    /// The way of the walk that it is, if it is one.
    pub(super) fn walk(&self, listing: &Listing) -> Option<Way> {
        let way = self.way?;
        let is_walk =
            self.count == OPENINGS_MIN || self.count + 1 == OPENINGS_MIN && self.is_from_start(way, listing);
        is_walk.then_some(way)
    }

    /// What its openings show of the walker.
    pub(super) fn into_habits(mut self, listing: &Listing) -> Habits {
        let opened = &self.opened[..self.count];
        let first = opened.iter().copied().min().unwrap_or(0);
        let last = opened.iter().copied().max().unwrap_or(0);
        for index in first..=last {
            if opened.contains(&index) {
                self.habits.open(listing.kind(index), false);
            } else if listing.size(index) > 0 {
                self.habits.skip(listing.kind(index));
            }
        }
        self.habits
    }

    fn is_from_start(&self, way: Way, listing: &Listing) -> bool {
        let (first, kind) = (self.opened[0], listing.kind(self.opened[0]));
        let place = way.place(first, listing.len());
        place <= SCAN_MAX
            && (0..place)
                .map(|place| way.place(place, listing.len()))
                .all(|index| listing.size(index) == 0 || listing.kind(index) != kind)
    }
}

/// Whether no more than [`SKIPPED_MAX`] files of the kind of the one at `index` lie
/// between the two.
fn is_near(listing: &Listing, first: u32, last: u32, index: u32) -> bool {
    let kind = listing.kind(index);
    let between = (first + 1..last).filter(|at| listing.size(*at) > 0 && listing.kind(*at) == kind);
    last - first <= SCAN_MAX && between.count() as u32 <= SKIPPED_MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::ListedFile;

    /// What way openings in a directory of 50 files of two classes in turns are.
    fn way(indices: &[u32]) -> Option<Way> {
        let listing = Listing::new((0..50).map(|at| ListedFile { size: 4096, class: at % 2 }));
        let mut candidate = Candidate::new(DirectoryId(0), indices[0]);
        indices[1..].iter().all(|index| candidate.takes(*index, &listing)).then_some(())?;
        candidate.walk(&listing)
    }

    #[test]
    fn openings_in_order_are_a_walk() {
        assert_eq!(way(&[0, 1]), Some(Way::Forward));
        assert_eq!(way(&[1, 3]), Some(Way::Forward), "the first of its class");
        assert_eq!(way(&[49, 48]), Some(Way::Backward));
        assert_eq!(way(&[20, 21]), None);
        assert_eq!(way(&[20, 21, 23]), Some(Way::Forward));
        assert_eq!(way(&[20, 18, 17]), Some(Way::Backward));
        assert_eq!(way(&[20, 21, 19]), None);
        assert_eq!(way(&[0, 12]), None);
        assert_eq!(way(&[5, 5, 5]), None);
    }
}
