//! One reader on its way along an order of objects, and the objects that are fetched ahead of it.
//!
//! ```text
//!     start       position       planned              places, in the order
//!  -----|------------|--------------|-------------------|
//!          opened      <--- lead --->   not planned yet
//! ```
//! The lead grows with objects that are opened in order. It shrinks with objects that are passed, until
//! they are opened late. So a reader that keeps to another order soon has none.

use alloc::collections::BTreeMap;
use core::ops::Range;

use super::opened::Part;
use super::places::{Places, cost};
use crate::types::{ObjectId, Time};

/// The most objects that may be left out at once, or that several workers may open out of order.
const REACH: u32 = 32;
/// Places looked at in one go.
const SCAN_MAX: u32 = 4096;
/// Bytes of lead for each byte that was opened in order. With fewer, a walk of a hundred files waits once
/// more. With twice as many, chance openings waste twice the bytes,
const TRUST: u64 = 5;
/// and fewer bytes of lead for each byte that was passed.
const DOUBT: u64 = 32;
/// The lead is asked for in this many batches.
const BATCHES: u64 = 4;

/// An object that is fetched before it is opened.
#[derive(Clone, Copy, Debug)]
struct File {
    /// Once the driver has named it.
    object: Option<ObjectId>,
    part: Part,
}

/// See the module's page. `start <= position <= planned`; bytes are costs.
#[derive(Debug)]
pub(super) struct Cursor {
    /// When an object was opened last.
    pub(super) last: Time,
    start: u32,
    position: u32,
    planned: u32,
    /// The driver was asked for places before it, at last for `asked`, which it has not named.
    named: u32,
    asked: Option<u32>,
    opened_count: u32,
    /// This many openings may be chance.
    chance_count: u32,
    /// Bytes that were opened as was to be expected.
    used: u64,
    /// Bytes that were passed and not opened until now.
    passed: u64,
    /// Which of the places before `position` were opened; the last is bit 0.
    recent: u64,
    /// The objects ahead, by place.
    ahead: BTreeMap<u32, File>,
}

impl Cursor {
    /// The cursor of a reader that opens the object at `place` next. This many openings in order may be
    /// chance.
    pub(super) fn new(now: Time, place: u32, chance_count: u32) -> Cursor {
        Cursor {
            last: now,
            start: place,
            position: place,
            planned: place,
            named: place,
            asked: None,
            opened_count: 0,
            chance_count,
            used: 0,
            passed: 0,
            recent: 0,
            ahead: BTreeMap::new(),
        }
    }

    /// Of a reader like that of `self` that may open the first object of another order next.
    pub(super) fn guess(&self, now: Time) -> Cursor {
        Cursor { opened_count: 1, used: self.used, ..Cursor::new(now, 0, 0) }
    }

    /// Whether its openings are more than chance.
    pub(super) fn is_proven(&self) -> bool {
        self.opened_count > self.chance_count
    }

    /// Nothing is left of an order of `len` objects.
    pub(super) fn is_done(&self, len: u32) -> bool {
        self.planned >= len && self.ahead.is_empty()
    }

    /// The place of the only object that was opened, if it is only one.
    pub(super) fn only(&self) -> Option<u32> {
        (self.opened_count == 1).then_some(self.start)
    }

    /// The distance of `place` from the next object, if its opening may belong to this reader.
    pub(super) fn distance(&self, place: u32, places: &Places<'_>) -> Option<u32> {
        if place < self.position {
            let behind = self.position - 1 - place;
            let is_again = self.was_opened(place) && self.is_done(places.len());
            return (place >= self.start && behind < u64::BITS && !is_again).then_some(behind);
        }
        let gap = self.passes(place);
        if gap.len() as u32 > SCAN_MAX {
            return None;
        }
        let between = gap.filter(|place| places.bytes(*place) > 0).take(REACH as usize + 1).count() as u32;
        (between <= REACH || place < self.planned).then_some(between)
    }

    /// The places that are passed when the one at `place` is opened.
    pub(super) fn passes(&self, place: u32) -> Range<u32> {
        self.position..place
    }

    /// Whether a place after it was opened.
    pub(super) fn is_past(&self, place: u32) -> bool {
        place < self.position
    }

    pub(super) fn was_opened(&self, place: u32) -> bool {
        let behind = self.position.wrapping_sub(place + 1);
        behind < u64::BITS && self.recent >> behind & 1 == 1
    }

    /// The object at `place` was opened. Returns its cost if it was opened in order.
    pub(super) fn open(&mut self, now: Time, place: u32, places: &Places<'_>) -> u64 {
        self.last = now;
        self.ahead.retain(|at, file| *at != place || file.object.is_some());
        if self.was_opened(place) {
            return 0;
        }
        let bytes = if self.opened_count == 0 { 0 } else { cost(places.bytes(place)) };
        if place < self.position {
            self.recent |= 1 << (self.position - 1 - place);
            self.passed = self.passed.saturating_sub(bytes);
        } else {
            let passed = self.passes(place);
            self.recent = self.recent.checked_shl(passed.len() as u32 + 1).unwrap_or(0) | 1;
            self.passed += passed.map(|passed| cost(places.bytes(passed))).sum::<u64>();
            self.position = place + 1;
            self.planned = self.planned.max(self.position);
        }
        self.opened_count += 1;
        self.used += bytes;
        bytes
    }

    /// Memory is short: objects that were fetched for it were evicted.
    pub(super) fn shorten(&mut self) {
        self.used /= 2;
    }

    /// Plans the next objects, as far as `bytes_max` allows; of the last one perhaps a part.
    pub(super) fn top_up(&mut self, bytes_max: u64, places: &Places<'_>) {
        if !self.is_proven() {
            return;
        }
        let lead = (TRUST * self.used).saturating_sub(DOUBT * self.passed).min(bytes_max);
        let ahead: u64 = self.ahead.values().map(|file| cost(file.part.bytes())).sum();
        let mut left = lead.saturating_sub(ahead);
        if left < lead / BATCHES {
            return;
        }
        let end = places.len().min(self.planned.saturating_add(SCAN_MAX));
        while left >= cost(1) && self.planned < end {
            let head = places.bytes(self.planned).min(left);
            if head > 0 {
                left -= cost(head);
                self.ahead.insert(self.planned, File { object: None, part: Part { head, tail: 0 } });
            }
            self.planned += 1;
        }
    }

    /// The next place that it wants, if its reader has not passed it by now; the driver
    /// answers at once, if ever.
    pub(super) fn next_wanted(&mut self) -> Option<u32> {
        if let Some(refused) = self.asked.take() {
            self.ahead.remove(&refused);
        }
        let (place, _) = self.ahead.range(self.named.max(self.position)..).next()?;
        self.named = place + 1;
        self.asked = Some(*place);
        self.asked
    }

    /// The object at `place` is `object`. `part` returns the extents to fetch for the bytes that were wanted
    /// of it.
    pub(super) fn announce(
        &mut self,
        place: u32,
        object: ObjectId,
        part: impl FnOnce(u64) -> Part,
    ) -> Option<Part> {
        let is_known = self.ahead.values().any(|file| file.object == Some(object));
        self.asked.take_if(|asked| *asked == place)?;
        let wanted = self.ahead.remove(&place)?;
        let part = Some(part(wanted.part.bytes())).filter(|part| part.bytes() > 0 && !is_known)?;
        self.ahead.insert(place, File { object: Some(object), part });
        Some(part)
    }

    /// Removes `object` from those ahead. Returns its part.
    pub(super) fn remove(&mut self, object: ObjectId) -> Option<Part> {
        let place = *self.ahead.iter().find(|(_, file)| file.object == Some(object))?.0;
        self.ahead.remove(&place).map(|file| file.part)
    }

    /// Objects ahead that were passed so long ago that no reader will come for them; all of them if the walk
    /// `is_over`.
    pub(super) fn take_passed(&mut self, is_over: bool) -> impl Iterator<Item = (ObjectId, Part)> {
        let end = if is_over { u32::MAX } else { self.position.saturating_sub(u64::BITS) };
        let kept = self.ahead.split_off(&end);
        let passed = core::mem::replace(&mut self.ahead, kept);
        passed.into_values().filter_map(|file| Some((file.object?, file.part)))
    }
}
