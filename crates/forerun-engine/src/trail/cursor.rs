//! One reader on its way along the trail, and the steps that are fetched ahead of it.
//!
//! ```text
//!           position       planned                steps, in the trail's order
//!  ------------|--------------|----------------------|
//!    opened      <--- lead --->   not asked for yet
//! ```

use alloc::collections::VecDeque;

use super::STEP_BYTES_MIN;
use crate::types::{ObjectId, Time};
use crate::walk::{Ahead, File, Part};

/// Steps that may be left out at once.
const REACH: u32 = 32;
/// A step that was passed may be opened late within so many places.
const LATE_PLACES: u32 = u64::BITS;
/// For each byte of steps that were opened as was to be expected, so many may be ahead,
const TRUST: u64 = 4;
/// and for each of those that were passed, so many less.
const DOUBT: u64 = 32;
/// What is ahead is asked for in so many batches.
const BATCHES: u64 = 4;
/// What may be left out of what was fetched: so much, and a share of what was of use.
const SKIPPED_BYTES: u64 = 1 << 20;
const SKIPPED_SHARE: u64 = 10;

/// See the module's page. `position <= planned`.
#[derive(Debug)]
pub(super) struct Cursor {
    /// When a step was opened last.
    pub(super) last: Time,
    /// Where it began.
    start: u32,
    position: u32,
    planned: u32,
    /// Bytes of steps that were opened as was to be expected.
    used: u64,
    /// Bytes of steps that were passed and not opened until now.
    passed: u64,
    /// Bytes of those that were fetched, and for which nobody will come.
    skipped: u64,
    /// Which of the places before `position` were opened; the last is bit 0.
    recent: u64,
    ahead: Ahead,
    /// Steps that the driver is to be asked for, with the bytes that are wanted of each.
    wanted: VecDeque<(u32, u64)>,
    wanted_bytes: u64,
    /// The step that the driver was asked for last.
    asked: Option<(u32, u64)>,
}

impl Cursor {
    /// Of a reader who has opened the step at `place`.
    pub(super) fn new(now: Time, place: u32) -> Cursor {
        Cursor {
            last: now,
            start: place,
            position: place + 1,
            planned: place + 1,
            used: 0,
            passed: 0,
            skipped: 0,
            recent: 1,
            ahead: Ahead::default(),
            wanted: VecDeque::new(),
            wanted_bytes: 0,
            asked: None,
        }
    }

    /// How far `place` is from what it opens next, if it may be this one's.
    pub(super) fn distance(&self, place: u32) -> Option<u32> {
        if place < self.position {
            let behind = self.position - 1 - place;
            return (behind < LATE_PLACES && place >= self.start).then_some(behind);
        }
        let between = place - self.position;
        (between <= REACH || place < self.planned).then_some(between)
    }

    /// The step at `place` was opened as `object`.
    pub(super) fn open(&mut self, now: Time, place: u32, object: ObjectId, steps: &[u32]) {
        self.last = now;
        self.ahead.take_at(place, object);
        let bytes = cost(place, steps);
        if let Some(behind) = self.position.checked_sub(place + 1) {
            let bit = 1 << behind;
            if self.recent & bit != 0 {
                return;
            }
            self.recent |= bit;
            self.passed = self.passed.saturating_sub(bytes);
        } else {
            let between = self.position..place;
            self.recent = self.recent.checked_shl(between.len() as u32 + 1).unwrap_or(0) | 1;
            self.passed += between.map(|passed| cost(passed, steps)).sum::<u64>();
            self.position = place + 1;
            self.planned = self.planned.max(self.position);
        }
        self.used += bytes;
    }

    /// The next step that was passed so long ago that nobody will come for it.
    pub(super) fn take_passed(&mut self) -> Option<File> {
        let passed = self.ahead.take_before(self.position.saturating_sub(LATE_PLACES))?;
        self.skipped += passed.part.bytes();
        Some(passed)
    }

    /// Too much was left out.
    pub(super) fn is_lost(&self) -> bool {
        self.skipped > SKIPPED_BYTES + self.used / SKIPPED_SHARE
    }

    /// Memory is short: what was fetched for it was evicted.
    pub(super) fn shorten(&mut self) {
        self.used /= 2;
    }

    /// Everything ahead of it.
    pub(super) fn take_ahead(&mut self) -> VecDeque<File> {
        self.ahead.take_all()
    }

    /// `object` is not ahead of it any more.
    pub(super) fn take(&mut self, object: ObjectId) -> Option<File> {
        self.ahead.take(object)
    }

    /// Wants what is next, as far as `bytes_max` allows; of the last step perhaps not all.
    pub(super) fn top_up(&mut self, bytes_max: u64, steps: &[u32]) {
        let trusted = (TRUST * self.used).saturating_sub(DOUBT * self.passed);
        let lead = trusted.min(bytes_max);
        let mut left = lead.saturating_sub(self.ahead.bytes() + self.wanted_bytes);
        if left < lead / BATCHES {
            return;
        }
        while left >= STEP_BYTES_MIN && (self.planned as usize) < steps.len() {
            let bytes = cost(self.planned, steps).min(left);
            left -= bytes;
            self.wanted.push_back((self.planned, bytes));
            self.wanted_bytes += bytes;
            self.planned += 1;
        }
    }

    /// The next step that it wants, if its reader has not passed it by now; the driver
    /// answers at once, if ever.
    pub(super) fn next_wanted(&mut self) -> Option<u32> {
        self.asked = None;
        while let Some((place, bytes)) = self.wanted.pop_front() {
            self.wanted_bytes -= bytes;
            if place >= self.position {
                self.asked = Some((place, bytes));
                return Some(place);
            }
        }
        None
    }

    /// The step at `place`, which it asked for, is `object`: how many bytes of it are ahead
    /// of it from now on.
    pub(super) fn announce(&mut self, place: u32, object: ObjectId) -> Option<u64> {
        let (_, bytes) = self.asked.take_if(|(asked, _)| *asked == place)?;
        if !self.ahead.has_neither(place, object) {
            return None;
        }
        self.ahead.insert(File { place, object, part: Part { head: bytes, tail: 0 } });
        Some(bytes)
    }
}

fn cost(place: u32, steps: &[u32]) -> u64 {
    steps.get(place as usize).map_or(0, |bytes| u64::from(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: u64 = 64 << 10;
    const STEPS: [u32; 200] = [BYTES as u32; 200];

    /// One that begins at step 10 and opens `places`; what it wants then.
    fn wanted(places: &[u32]) -> usize {
        let mut cursor = Cursor::new(Time(0), 10);
        places.iter().for_each(|place| cursor.open(Time(0), *place, ObjectId(u64::from(*place)), &STEPS));
        cursor.top_up(u64::MAX, &STEPS);
        core::iter::from_fn(|| cursor.next_wanted()).count()
    }

    #[test]
    fn it_wants_the_more_the_farther_it_came() {
        assert_eq!([wanted(&[]), wanted(&[11]), wanted(&[11, 12])], [0, 4, 8]);
    }

    #[test]
    fn what_is_passed_costs_trust_until_it_is_opened() {
        assert_eq!(wanted(&[11, 13]), 0);
        assert_eq!(wanted(&[11, 13, 12]), 12);
        // Nothing for opening the same again.
        assert_eq!(wanted(&[11, 13, 12, 12, 13]), 12);
    }

    #[test]
    fn what_lies_before_its_beginning_is_not_its_own() {
        let cursor = Cursor::new(Time(0), 10);
        let distances = [9, 10, 11, 12, 11 + REACH, 12 + REACH].map(|place| cursor.distance(place));
        assert_eq!(distances, [None, Some(0), Some(0), Some(1), Some(REACH), None]);
    }

    #[test]
    fn what_was_passed_long_ago_is_given_up_and_too_much_of_it_ends_the_way() {
        let mut cursor = Cursor::new(Time(0), 0);
        (1..=5).for_each(|place| cursor.open(Time(0), place, ObjectId(0), &STEPS));
        cursor.top_up(u64::MAX, &STEPS);
        while let Some(place) = cursor.next_wanted() {
            assert_eq!(cursor.announce(place, ObjectId(u64::from(place))), Some(BYTES));
        }
        cursor.open(Time(0), 25, ObjectId(25), &STEPS);
        assert!(cursor.take_passed().is_none(), "they may still be opened");
        cursor.open(Time(0), 25 + LATE_PLACES, ObjectId(0), &STEPS);
        assert_eq!(core::iter::from_fn(|| cursor.take_passed()).count(), 19);
        assert!(cursor.is_lost());
    }
}
