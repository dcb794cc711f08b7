//! Chooses the next fetch: first for readers that wait, then readahead.

use super::Engine;
use crate::ablation::Rule;
use crate::cache::Room;
use crate::reads::Phase;
use crate::scheduler::{Payer, Queued};
use crate::types::*;

impl Engine {
    /// Gives the read whose turn it is all of its memory and its fetches, or none, so that admitted reads
    /// always end. False if no read waits, or not enough memory or places in flight are free, or the
    /// readahead of others goes first.
    pub(super) fn admit(&mut self, now: Time) -> bool {
        let Some((payer, id)) = self.next_waiting() else { return false };
        let Some(read) = self.reads.get(id) else {
            self.fair.end_wait(payer.reader, id);
            return true;
        };
        if self.flights.count() >= self.store_limit.in_flight_max() {
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
        self.fair.end_wait(payer.reader, id);
        while let Some(run) = self.next_fetch(object, extent, self.device.fetch_bytes()) {
            let (whole, class) = self.with_readahead(object, run, payer);
            // The readahead in this fetch must not take the room that was made for the read.
            let blocks = missing + (whole.len - run.len) / BLOCK_BYTES;
            let fetched = if self.cache.make_room(now, blocks, Room::Readahead) { whole } else { run };
            let reserved = self.launch(now, object, fetched, run, Cause::Demand, (class, payer));
            debug_assert!(reserved, "room that was made is gone");
            if !reserved {
                break;
            }
            self.pending.pass(object, fetched, &mut self.fair);
            if let Some(slice_bytes) = self.slice_bytes()
                && self.pending.window_from(object, fetched.end()).is_some()
            {
                // The device is there now.
                self.pending.demanded(object, fetched, slice_bytes, payer.client);
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

    /// The next read: the one whose turn it is. It misses nothing, or it lets no readahead go first and its
    /// rate allows a fetch. Where the device serves streams in slices, reads that wait for a slice are left out.
    pub(super) fn next_waiting(&self) -> Option<(Payer, ReadId)> {
        if !self.fair.has_waiting() {
            return None;
        }
        let slice = self.pending.slice_payer();
        let is_in_slice = self.slice_bytes().is_some() && slice.is_some();
        // A read waits neither for readahead that lacks memory, nor for that which is not dispatched though
        // nothing is in flight.
        let may_yield = self.rules.are_ours() && !self.is_crowded && self.flights.count() > 0;
        let next = slice.or_else(|| self.fair.next_window());
        let next = next.filter(|next| may_yield && self.fair.is_ready(*next));
        self.fair.reads_in_turn().find(|(payer, id)| {
            let Some(read) = self.reads.get(*id) else { return true };
            let waits_for_slice = || self.pending.is_out_of_slice(read.object, read.extent.to_blocks());
            let yields = || next.is_some_and(|next| self.fair.yields(*payer, next));
            let waits = !self.fair.is_ready(*payer) || is_in_slice && waits_for_slice() || yields();
            !waits || self.missing(read.object, read.extent) == 0
        })
    }

    /// Dispatches one fetch of readahead. False if there is none, or the device or the memory has no room
    /// for it.
    pub(super) fn dispatch_readahead(&mut self, now: Time) -> bool {
        if self.pending.count() == 0 || !self.has_place_for_readahead(now) {
            return false;
        }
        // Room that a waiting reader could not use yet is kept for it.
        if self.next_waiting().is_some() {
            return false;
        }
        let was_in_slice = self.pending.slice_payer().is_some();
        let Some(window) = self.pending.pop(&mut self.fair) else {
            // The slice is over, so reads that wait for its end can be admitted.
            return was_in_slice && self.next_waiting().is_some();
        };
        let len = self.device.fetch_bytes_among(self.flights.count(), self.is_contended(now));
        let Queued { object, extent, class, payer } = window;
        let len = len.min(self.fair.fetch_bytes_max(payer));
        let Some(run) = self.next_fetch(object, extent, len) else {
            return true;
        };
        let asked = Extent::new(run.offset, 0);
        if !self.launch(now, object, run, asked, Cause::Readahead, (class, payer)) {
            self.pending.put_front(window.from(run.offset), &mut self.fair);
            self.is_crowded = true;
            // The slice is over, so reads that wait for its end can be admitted.
            return self.next_waiting().is_some();
        }
        self.pending.dispatched(object, run, self.slice_bytes().unwrap_or(0), payer.client);
        self.pending.put_back(window.from(run.end()), &mut self.fair);
        true
    }

    /// Whether a reader waits for every read, since it cannot be read ahead of, while others read.
    pub(super) fn is_contended(&self, now: Time) -> bool {
        !Rule::Contended.is_off() && self.contention.is_contended(now, self.device.estimate().latency_ns)
    }

    /// Whether the device would do more with another fetch in flight. The rules of other software do not
    /// ask.
    fn has_place_for_readahead(&self, now: Time) -> bool {
        if !self.rules.are_ours() {
            return self.flights.count() < self.store_limit.in_flight_max();
        }
        // A reader that comes to wait has at most one fetch in front of it.
        if self.device.slice_bytes().is_some() {
            return self.flights.readahead_count()
                < if self.is_contended(now) { 1 } else { self.device.places_in_slice() };
        }
        let most =
            if self.is_contended(now) { self.device.contended_bytes() } else { self.device.pipe_bytes() };
        self.flights.count() < self.places_for_readahead() && self.flights.bytes() < most
    }

    /// No more readahead is started at this many fetches in flight. A sixteenth of the places is kept for
    /// demand fetches. It is a quarter on serial devices, where a reader may wait for all fetches in flight.
    /// It is also a quarter far away, where some fetches take very long.
    fn places_for_readahead(&self) -> usize {
        let all = self.store_limit.in_flight_max();
        let is_long = self.device.is_far() || self.device.may_serve_one_at_a_time();
        (all - all.div_ceil(if is_long { 4 } else { 16 })).max(1)
    }

    /// The bytes of a slice, if the device serves streams in slices.
    pub(super) fn slice_bytes(&self) -> Option<u64> {
        self.device.slice_bytes().filter(|_| self.rules.are_ours() && !Rule::Slices.is_off())
    }

    /// Blocks of `extent` that are neither here nor on their way.
    pub(super) fn missing(&self, object: ObjectId, extent: Extent) -> u64 {
        self.cache.missing(object, extent)
    }
}
