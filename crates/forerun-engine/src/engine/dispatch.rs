//! What to fetch next: first for readers who wait, then ahead of them.

use alloc::vec::Vec;

use super::Engine;
use crate::cache::{Room, SlotRun, memory_of};
use crate::events::Event;
use crate::reads::Phase;
use crate::scheduler::Flight;
use crate::types::*;

/// The share of a turn that is near its reader: as far ahead as a stream that takes turns keeps.
const NEAR_TURN_SHARE: u64 = 2;

/// A fetch about to be dispatched.
pub(super) struct Departure {
    pub(super) object: ObjectId,
    pub(super) extent: Extent,
    /// Where its bytes go.
    pub(super) runs: Vec<SlotRun>,
    /// It has more than somebody waits for.
    pub(super) rides_along: bool,
    /// Somebody waits for all of it, and nothing is read ahead from there.
    pub(super) is_alone: bool,
    pub(super) cause: Cause,
    /// The one that is to bring the same bytes, should it be the first.
    pub(super) spare_of: Option<FetchId>,
}

impl Engine {
    /// Gives the reader who waits longest its memory and its fetches, all of
    /// them or none, so that admitted reads always end. False if there is none
    /// or not enough of either yet.
    pub(super) fn admit(&mut self, now: Time) -> bool {
        let Some(place) = self.next_waiting() else { return false };
        let id = self.waiting[place];
        let Some(read) = self.reads.get(id) else {
            self.waiting.remove(place);
            return true;
        };
        if self.flights.count() >= self.config.in_flight_count_max {
            return false;
        }
        let (object, extent) = (read.object, read.extent);
        // Held from here on, so that making room does not evict half of it.
        let pins = self.cache.pin(object, extent);
        let mut missing = self.missing(object, extent);
        if missing > 0 && !self.cache.make_room(now, missing, Room::Demand) {
            self.cache.unpin(&pins);
            return false;
        }
        self.waiting.remove(place);
        while let Some(run) = self.next_fetch(object, extent, self.device.fetch_bytes()) {
            let whole = self.with_readahead(object, run);
            // What goes along must not take the room that was made for the read.
            let blocks = missing + (whole.len - run.len) / BLOCK_BYTES;
            let fetched = if self.cache.make_room(now, blocks, Room::Readahead) { whole } else { run };
            let reserved = self.launch(now, object, fetched, run.len, Cause::Demand, Room::Demand);
            debug_assert!(reserved, "room that was made is gone");
            if !reserved {
                break;
            }
            self.pending.pass(object, fetched);
            if let Some(turn_bytes) = self.turn_bytes()
                && self.pending.end_from(object, fetched.end()).is_some()
            {
                // The device is there now.
                self.pending.dispatched_for_reader(object, fetched, turn_bytes);
            }
            missing = self.missing(object, extent);
        }
        self.flights.join(object, extent, id);
        if let Some(read) = self.reads.get_mut(id) {
            read.phase = Phase::Admitted;
            read.pins = pins;
        }
        self.reply_if_complete(id);
        true
    }

    /// The place in line of whoever is next: who waits longest, but where the
    /// device serves streams in turns, not those whose turn comes.
    fn next_waiting(&self) -> Option<usize> {
        if self.turn_bytes().is_none() || !self.pending.is_in_turn() {
            return (!self.waiting.is_empty()).then_some(0);
        }
        self.waiting.iter().position(|id| {
            let Some(read) = self.reads.get(*id) else { return true };
            let waits = self.pending.is_out_of_turn(read.object, read.extent.to_blocks());
            !waits || self.missing(read.object, read.extent) == 0
        })
    }

    /// Dispatches one fetch's worth of readahead. False if there is none, or the
    /// device or the memory has no place for it.
    pub(super) fn dispatch_readahead(&mut self, now: Time) -> bool {
        self.put_off_to = None;
        // Room that a waiting reader could not use yet is kept for it.
        if self.pending.is_empty() || self.next_waiting().is_some() {
            return false;
        }
        if !self.has_place_for_readahead(now) {
            return false;
        }
        let was_in_turn = self.pending.is_in_turn();
        let Some((object, window)) = self.next_window(now) else {
            // Those who wait for the end of that turn need not wait any longer.
            return was_in_turn && !self.waiting.is_empty();
        };
        let len = self.device.fetch_bytes_among(self.flights.count(), self.is_contended(now));
        let Some(run) = self.next_fetch(object, window, len) else {
            return true;
        };
        if !self.launch(now, object, run, 0, Cause::Readahead, Room::Readahead) {
            self.pending.put_front(object, Extent::between(run.offset, window.end()));
            self.pending.end_turn();
            // Those who wait for the end of that turn need not wait any longer.
            return !self.waiting.is_empty();
        }
        self.pending.dispatched(object, run, self.turn_bytes().unwrap_or(0));
        self.pending.put_back(object, Extent::between(run.end(), window.end()));
        true
    }

    /// What to read ahead next, unless all of it is put off.
    fn next_window(&mut self, now: Time) -> Option<(ObjectId, Extent)> {
        let anticipation = &self.anticipation;
        let latency_ns = self.device.estimate().latency_ns;
        let is_awaited = !self.device.is_far_link() && anticipation.is_awaited(now, latency_ns);
        let turn_bytes = self.turn_bytes().filter(|_| is_awaited);
        let Some(turn_bytes) = turn_bytes else { return self.pending.pop(|_, _| false) };
        let near_bytes = turn_bytes / NEAR_TURN_SHARE;
        let next = self.pending.pop(|object, window| anticipation.is_elsewhere(object, window, near_bytes));
        self.put_off_to = if next.is_none() { anticipation.paused_at() } else { None };
        next
    }

    /// Whether somebody waits all the time for what cannot be read ahead, beside others.
    pub(super) fn is_contended(&self, now: Time) -> bool {
        self.rivals.is_contended(now, self.device.estimate().latency_ns)
    }

    /// Whether the device would do more with another fetch in flight, or whoever wants it
    /// does not ask.
    fn has_place_for_readahead(&self, now: Time) -> bool {
        if !self.rules.are_ours() {
            return self.flights.count() < self.config.in_flight_count_max;
        }
        // Who comes to wait has at most one in front of it.
        if self.device.turn_bytes().is_some() {
            return self.flights.readahead_count()
                < if self.is_contended(now) { 1 } else { self.device.places_in_turn() };
        }
        let most =
            if self.is_contended(now) { self.device.contended_bytes() } else { self.device.pipe_bytes() };
        self.flights.count() < self.places_for_readahead() && self.flights.bytes() < most
    }

    /// Fetches in flight at which no more of readahead is started: a sixteenth of the places is kept
    /// for readers who wait, and a quarter where they may have to wait for all that are taken, or far
    /// away, where some are taken for very long.
    fn places_for_readahead(&self) -> usize {
        let all = self.config.in_flight_count_max;
        let is_long = self.device.is_far() || self.device.may_take_turns();
        (all - all.div_ceil(if is_long { 4 } else { 16 })).max(1)
    }

    /// How many bytes are read of a stream before the device goes elsewhere, if it
    /// serves streams in turns.
    fn turn_bytes(&self) -> Option<u64> {
        self.device.turn_bytes().filter(|_| self.rules.are_ours())
    }

    /// The first fetch for what is missing of `extent`; of `len` bytes at most if the
    /// engine decides.
    fn next_fetch(&self, object: ObjectId, extent: Extent, len: u64) -> Option<Extent> {
        let len = if self.rules.are_ours() { len } else { u64::MAX };
        let run = self.cache.first_missing(object, extent, len)?;
        let len = self.rules.fetch_bytes_max(run.offset).unwrap_or(len);
        Some(Extent::new(run.offset, run.len.min(len)))
    }

    /// Blocks of `extent` that are neither here nor on their way.
    fn missing(&self, object: ObjectId, extent: Extent) -> u64 {
        self.cache.missing(object, extent)
    }

    /// `run`, which a reader waits for, and as much of the readahead that goes on
    /// from there as one fetch takes: the reader is answered as soon as its own
    /// bytes are here, so it loses nothing, or little where they come all at once.
    fn with_readahead(&self, object: ObjectId, run: Extent) -> Extent {
        if !self.rules.ride_along() {
            return run;
        }
        let Some(end) = self.pending.end_from(object, run.end()) else { return run };
        let all = self.rules.fetch_bytes_max(run.offset).unwrap_or(self.device.ride_bytes());
        let more = all.saturating_sub(run.len);
        match self.cache.first_missing(object, Extent::between(run.end(), end), more) {
            Some(next) if next.offset == run.end() => Extent::between(run.offset, next.end()),
            _ => run,
        }
    }

    /// Reserves memory for `extent`, whole blocks of which none is there, and
    /// puts it in flight; a reader waits for its first `asked` bytes. False if
    /// there is no such room.
    fn launch(
        &mut self,
        now: Time,
        object: ObjectId,
        extent: Extent,
        asked: u64,
        cause: Cause,
        room: Room,
    ) -> bool {
        let Some(runs) = self.cache.reserve(now, object, extent, room) else { return false };
        let size = self.objects.size(object);
        let extent = extent.intersection(&Extent::new(0, size));
        debug_assert!(
            extent.end() == size || extent.end().is_multiple_of(BLOCK_BYTES),
            "a fetch of half a block"
        );
        let rides_along = extent.len > asked;
        let is_alone =
            cause == Cause::Demand && !rides_along && self.pending.end_from(object, extent.end()).is_none();
        let departure = Departure { object, extent, runs, rides_along, is_alone, cause, spare_of: None };
        let id = self.depart(now, departure);
        self.attribute(object, extent, asked);
        self.emit(Event::Fetch { time: now, id, object, extent, cause });
        if self.rules.are_ours() {
            self.late.note_dispatch(now, id);
        }
        true
    }

    /// Puts a fetch in flight.
    pub(super) fn depart(&mut self, now: Time, departure: Departure) -> FetchId {
        let Departure { object, extent, runs, rides_along, is_alone, cause, spare_of } = departure;
        let memory = memory_of(&runs, extent.len);
        if cause == Cause::Demand {
            self.anticipation.begin();
        }
        if is_alone {
            self.rivals.begin_alone();
        }
        let sample = self.device.on_dispatch(now, object, extent, self.flights.count());
        let id = self.flights.insert(Flight {
            object,
            extent,
            runs,
            rides_along,
            is_alone,
            cause,
            sample,
            heard: now,
            pause_ns: 0,
            is_stalled: false,
            arrived_bytes: 0,
            arrived_blocks: 0,
            waiters: Vec::new(),
            doomed: spare_of.is_some(),
            twin: spare_of,
            is_repeated: false,
            come_before: self.late.come_count(),
            cancelled: false,
        });
        self.fetches.push_back(Fetch { id, object, extent, memory, cause });
        id
    }
}
