//! Readahead across objects that an earlier run opened one after another: a trail.
//!
//! A step of the trail is an object, and what was touched of it first. The engine knows
//! steps by their place in the trail and by about what they cost; it asks the driver for
//! those that it wants, and is answered with what is to be fetched.
//!
//! A start of a program opens what it opened the last time, nearly in the same order. Who
//! opens one step and then the next is on its way along the trail: a [`cursor`] follows
//! it, and keeps the more steps ahead of it the farther it came. Several programs have one
//! each. The first step alone says nothing: objects that many programs open lie on the
//! way of one.

mod cursor;

use alloc::vec::Vec;

use crate::types::{ObjectId, Time};
use cursor::Cursor;

/// Readers that are followed at once; the one that rested longest gives way.
const CURSORS_MAX: usize = 16;
/// A cursor that rested so long takes no share from others.
const ACTIVE_NS: u64 = 2_000_000_000;
/// Fetching a few bytes takes about as long as fetching so many.
const STEP_BYTES_MIN: u64 = 32 << 10;

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    /// What each costs, in bytes.
    steps: Vec<u32>,
    cursors: Vec<Cursor>,
    /// Objects that were announced and that nobody comes for any more.
    dropped: Vec<ObjectId>,
}

impl Trail {
    /// One of which `touched` bytes of each step's object were touched.
    pub(crate) fn new(touched: impl IntoIterator<Item = u64>) -> Trail {
        let cost = |bytes: u64| bytes.clamp(STEP_BYTES_MIN, u64::from(u32::MAX)) as u32;
        let steps: Vec<u32> = touched.into_iter().map(cost).collect();
        Trail { steps, ..Trail::default() }
    }

    /// The step at `place` was opened as `object`; all cursors together may have
    /// `bytes_max` ahead of them.
    pub(crate) fn enter(&mut self, now: Time, place: u32, object: ObjectId, bytes_max: u64) {
        if place as usize >= self.steps.len() {
            return;
        }
        let near = self.cursors.iter().enumerate().filter_map(|(at, one)| Some((one.distance(place)?, at)));
        let Some((_, at)) = near.min() else { return self.begin(now, place) };
        let cursor = &mut self.cursors[at];
        cursor.open(now, place, object, &self.steps);
        while let Some(file) = cursor.take_passed() {
            self.dropped.push(file.object);
        }
        if cursor.is_lost() {
            self.end(at);
        } else {
            self.top_up(now, at, bytes_max);
        }
    }

    /// The next step that the driver should name.
    pub(crate) fn next_wanted(&mut self) -> Option<u32> {
        self.cursors.iter_mut().find_map(Cursor::next_wanted)
    }

    /// The step at `place` is `object`: how many bytes of it are to be fetched.
    pub(crate) fn announce(&mut self, place: u32, object: ObjectId) -> Option<u64> {
        self.cursors.iter_mut().find_map(|cursor| cursor.announce(place, object))
    }

    /// Some of `object` was evicted before anybody read it.
    pub(crate) fn on_lost(&mut self, object: ObjectId) {
        let loser = self.cursors.iter_mut().find_map(|cursor| cursor.take(object).map(|_| cursor));
        if let Some(cursor) = loser {
            cursor.shorten();
        }
    }

    /// Nothing of `object` will come.
    pub(crate) fn on_gone(&mut self, object: ObjectId) {
        self.cursors.iter_mut().find_map(|cursor| cursor.take(object));
    }

    /// The next object whose readahead should stop.
    pub(crate) fn next_dropped(&mut self) -> Option<ObjectId> {
        self.dropped.pop()
    }

    fn begin(&mut self, now: Time, place: u32) {
        if self.cursors.len() == CURSORS_MAX
            && let Some((rested, _)) = self.cursors.iter().enumerate().min_by_key(|(_, cursor)| cursor.last)
        {
            self.end(rested);
        }
        self.cursors.push(Cursor::new(now, place));
    }

    fn end(&mut self, at: usize) {
        let ahead = self.cursors.swap_remove(at).take_ahead();
        self.dropped.extend(ahead.into_iter().map(|file| file.object));
    }

    fn top_up(&mut self, now: Time, at: usize, bytes_max: u64) {
        let active = self.cursors.iter().filter(|cursor| now.since(cursor.last) < ACTIVE_NS).count() as u64;
        self.cursors[at].top_up(bytes_max / active.max(1), &self.steps);
    }
}
