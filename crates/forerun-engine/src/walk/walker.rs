//! One walk: a reader on its way through a directory, or along the trail.

use super::cursor::Cursor;
use super::directories::OrderId;
use super::habits::Kinds;
use super::opened::Part;
use super::orders::Known;
use super::places::Manner;
use crate::types::{ClientId, DirectoryId, ObjectId, Time};

/// This many openings of files in the order of a listing may be chance.
const CHANCE_COUNT: u32 = 2;

/// See the module's page.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) manner: Manner,
    pub(super) cursor: Cursor,
    /// It began with a listing, and nobody came yet.
    pub(super) is_guess: bool,
}

impl Walk {
    /// One that begins at `index`.
    pub(super) fn new(now: Time, order: OrderId, index: u32, known: Known<'_>) -> Walk {
        // Where everybody begins, or where an earlier run has opened the same, it is one less.
        let is_likely = order == OrderId::Trail || (0..index).all(|before| known.listing.size(before) == 0);
        let (client, kinds) = (ClientId::default(), Kinds::default());
        let manner = Manner { order, client, is_backward: false, kinds };
        Walk { manner, cursor: Cursor::new(now, index, CHANCE_COUNT - u32::from(is_likely)), is_guess: false }
    }

    /// One that may begin in `directory`, by a walker like that of `self`.
    pub(super) fn guess(&self, now: Time, directory: DirectoryId) -> Walk {
        let manner = Manner { order: OrderId::Directory(directory), ..self.manner.clone() };
        Walk { manner, cursor: self.cursor.guess(now), is_guess: true }
    }

    /// The same one, if the object at `index` shows that it goes backward from where it began.
    pub(super) fn turned(&self, index: u32, known: Known<'_>) -> Option<Walk> {
        let first =
            self.cursor.only().filter(|first| index < *first && self.manner.order != OrderId::Trail)?;
        let manner = Manner { is_backward: true, kinds: Kinds::default(), ..self.manner };
        let cursor = Cursor::new(self.cursor.last, known.places(&manner).mirrored(first), CHANCE_COUNT);
        let mut walk = Walk { manner, cursor, is_guess: false };
        walk.open(self.cursor.last, first, known);
        walk.distance(index, known).is_some().then_some(walk)
    }

    /// The distance of the object at `index` from the next one, if its opening may belong to this walk.
    pub(super) fn distance(&self, index: u32, known: Known<'_>) -> Option<u32> {
        let places = known.places(&self.manner);
        self.cursor.distance(places.mirrored(index), &places)
    }

    /// The object at `index` was opened. Returns its cost if it was opened in order.
    pub(super) fn open(&mut self, now: Time, index: u32, known: Known<'_>) -> u64 {
        self.is_guess = false;
        let place = known.places(&self.manner).mirrored(index);
        for passed in self.cursor.passes(place) {
            let passed = known.places(&self.manner).mirrored(passed);
            self.manner.kinds.skip(known.listing.kind(passed));
        }
        if !self.cursor.was_opened(place) {
            self.manner.kinds.open(known.listing.kind(index), self.cursor.is_past(place));
        }
        self.cursor.open(now, place, &known.places(&self.manner))
    }

    /// Plans the next objects, as far as `bytes_max` allows.
    pub(super) fn top_up(&mut self, bytes_max: u64, known: Known<'_>) {
        self.cursor.top_up(bytes_max, &known.places(&self.manner));
    }

    /// The next index that it wants.
    pub(super) fn next_wanted(&mut self, known: Known<'_>) -> Option<u32> {
        self.cursor.next_wanted().map(|place| known.places(&self.manner).mirrored(place))
    }

    /// The object at `index`, which it may have asked for, is `object`, of `size` bytes. Returns the part
    /// to fetch.
    pub(super) fn announce(
        &mut self,
        index: u32,
        object: ObjectId,
        size: u64,
        known: Known<'_>,
    ) -> Option<Part> {
        let places = known.places(&self.manner);
        self.cursor.announce(places.mirrored(index), object, |wanted| places.part(index, size, wanted))
    }
}
