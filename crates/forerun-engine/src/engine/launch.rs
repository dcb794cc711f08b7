//! Sizes one fetch and puts it in flight.

use alloc::vec::Vec;

use super::Engine;
use crate::ablation::Rule;
use crate::cache::{Room, SlotRun, memory_of};
use crate::events::Event;
use crate::explain::Class;
use crate::scheduler::{Flight, Payer, Slack};
use crate::types::*;

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
    /// The first fetch for missing bytes of `extent`. The engine's own rules limit it to `len` bytes.
    pub(super) fn next_fetch(&self, object: ObjectId, extent: Extent, len: u64) -> Option<Extent> {
        let len = if self.rules.are_ours() { len } else { u64::MAX };
        let run = self.cache.first_missing(object, extent, len)?;
        let len = self.rules.fetch_bytes_max(run.offset).unwrap_or(len);
        Some(Extent::new(run.offset, run.len.min(len)))
    }

    /// A demand fetch: `run`, and the queued readahead that follows it, up to one fetch size. The class is
    /// that of the readahead. The reader is answered once its own bytes are here, so the rest delays it
    /// little.
    pub(super) fn with_readahead(&self, object: ObjectId, run: Extent, payer: Payer) -> (Extent, Class) {
        let alone = (run, Class::default());
        if !self.rules.ride_along() || Rule::Ride.is_off() {
            return alone;
        }
        let all = self.rules.fetch_bytes_max(run.offset).unwrap_or(self.device.ride_bytes());
        let all = all.min(self.fair.fetch_bytes_max(payer));
        let more = all.saturating_sub(run.len);
        let Some(window) = self.pending.window_from(object, run.end()) else { return alone };
        match self.cache.first_missing(object, window.from(run.end()).extent, more) {
            Some(next) if next.offset == run.end() => (Extent::between(run.offset, next.end()), window.class),
            _ => alone,
        }
    }

    /// Reserves memory for `extent`, whole blocks of which none is resident, and puts it in flight for `payer`. A reader
    /// waits for the `asked` blocks; the others are readahead for `class`. False if there is no room.
    pub(super) fn launch(
        &mut self,
        now: Time,
        object: ObjectId,
        extent: Extent,
        asked: Extent,
        cause: Cause,
        (class, payer): (Class, Payer),
    ) -> bool {
        let room = match cause {
            Cause::Demand => Room::Demand,
            Cause::Readahead => Room::Readahead,
        };
        let Some(runs) = self.cache.reserve(now, object, extent, room) else { return false };
        let size = self.objects.size(object);
        let extent = extent.intersection(&Extent::new(0, size));
        debug_assert!(
            extent.end() == size || extent.end().is_multiple_of(BLOCK_BYTES),
            "a fetch of half a block"
        );
        let rides_along = extent.len > asked.len;
        let is_alone = cause == Cause::Demand
            && !rides_along
            && self.pending.window_from(object, extent.end()).is_none();
        let costs = self.device.costs();
        let gap = if self.pending.goes_on(object, extent.offset) { 0 } else { costs.gap };
        // The others of a disk wait for a slice.
        let turns = 2 * self.slice_bytes().unwrap_or(costs.fetch);
        let slack = Slack { busy: costs.pipe.max(turns), turns };
        self.fair.charge(payer, extent.len, extent.len + gap, slack);
        let departure = Departure { object, extent, runs, rides_along, is_alone, cause, spare_of: None };
        let id = self.depart(now, departure);
        if rides_along {
            self.cache.mark_ahead(object, Extent::between(asked.end(), extent.end()), class);
        }
        let ahead = rides_along.then_some(class);
        self.emit(Event::Fetch { time: now, id, object, extent, cause, ahead });
        if self.rules.are_ours() {
            self.overdue.record_dispatch(now, id);
        }
        true
    }

    /// Puts a fetch in flight.
    pub(super) fn depart(&mut self, now: Time, departure: Departure) -> FetchId {
        let Departure { object, extent, runs, rides_along, is_alone, cause, spare_of } = departure;
        let memory = memory_of(&runs, extent.len);
        if is_alone {
            self.contention.begin_alone();
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
            come_before: self.overdue.come_count(),
            cancelled: false,
        });
        self.fetches.push_back(Fetch { id, object, extent, memory, cause });
        id
    }
}
