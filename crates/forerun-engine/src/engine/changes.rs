//! Objects that change, shrink, or go: no read gets bytes of two versions.
//!
//! The HTTP backend notices a change by the validator of each answer, and the driver reports it here.

use super::Engine;
use crate::cache::ROW_BYTES;
use crate::objects::OBJECT_BYTES_MAX;
use crate::reads::Phase;
use crate::types::*;

impl Engine {
    /// The bytes of `extent` changed in the backend. Bytes cached or in flight answer no read from now on.
    /// Reads that wait for them wait for a new fetch. Reads that are being copied keep the bytes that they
    /// were given.
    pub fn invalidate(&mut self, now: Time, object: ObjectId, extent: Extent) {
        if extent.is_empty() {
            return;
        }
        let extent = extent.intersection(&Extent::new(0, OBJECT_BYTES_MAX));
        // Whole rows, because a row that is being copied from leaves as a whole.
        let start = extent.offset / ROW_BYTES * ROW_BYTES;
        let end = extent.end().div_ceil(ROW_BYTES).saturating_mul(ROW_BYTES);
        self.drop_rows(object, Extent::between(start, end));
        self.report_lost(now);
        self.audit();
    }

    /// The object has `size` bytes now. Bytes past the smaller of its sizes are invalid. Reads that wait
    /// for bytes past the end are answered with the bytes before it.
    pub fn resize(&mut self, now: Time, object: ObjectId, size: u64) {
        let kept = self.objects.size(object).min(size);
        self.objects.resize(object, size);
        self.cut_pending(object, Extent::between(kept, OBJECT_BYTES_MAX));
        self.drop_from(now, object, kept);
        for id in self.reads.waiting_past(object, size) {
            let Some(read) = self.reads.get_mut(id) else { continue };
            read.extent = read.extent.intersection(&Extent::new(0, size));
        }
        self.audit();
    }

    /// Drops all that is known and cached of `object`: it was replaced, say, and
    /// will not be opened again. Its open readers may still read; each read is
    /// fetched anew.
    pub fn forget(&mut self, now: Time, object: ObjectId) {
        self.cut_pending(object, Extent::new(0, OBJECT_BYTES_MAX));
        self.drop_from(now, object, 0);
        self.policy.on_forget(object);
        self.emit_ends(now);
        self.tell_walks_forgotten(object);
        self.cache.forget_pace(object);
        if self.reads.any_of(object) {
            self.objects.renew(object);
        } else if self.objects.drop_closed(object) {
            self.forgotten.push_back(object);
        }
        self.report_lost(now);
        self.audit();
    }

    /// Drops the object that was closed longest ago, if too many are remembered.
    pub(super) fn forget_surplus(&mut self, now: Time) {
        if let Some(surplus) = self.objects.surplus(self.config.closed_objects_max) {
            self.forget(now, surplus);
        }
    }

    /// `object` has no reader any more. Its queued readahead is not dispatched, and its fetches without a
    /// waiting reader are cancelled. Its unread blocks may be evicted.
    pub(super) fn stop_readahead(&mut self, object: ObjectId) {
        self.cut_pending(object, Extent::new(0, OBJECT_BYTES_MAX));
        for id in self.flights.of(object) {
            let Some(flight) = self.flights.get_mut(id) else { continue };
            let reads = &self.reads;
            flight.waiters.retain(|id| reads.get(*id).is_some_and(|read| read.phase == Phase::Admitted));
            if flight.waiters.is_empty() {
                self.drop_twin(id);
                self.cancel(id);
            }
        }
        self.cache.release_unread(object);
    }

    /// Drops the rows from `offset` on.
    fn drop_from(&mut self, now: Time, object: ObjectId, offset: u64) {
        let start = offset / ROW_BYTES * ROW_BYTES;
        self.drop_rows(object, Extent::between(start, OBJECT_BYTES_MAX));
        self.report_lost(now);
    }

    fn drop_rows(&mut self, object: ObjectId, rows: Extent) {
        // Reads unpin their rows first, so that the rows can be dropped at once.
        for id in self.reads.admitted(object, rows) {
            self.wait_again(id);
        }
        for id in self.flights.overlapping(object, rows) {
            let Some(flight) = self.flights.get_mut(id) else { continue };
            let (rest, waiters) = (flight.rest(), core::mem::take(&mut flight.waiters));
            self.cache.disown(object, rest);
            self.drop_twin(id);
            self.flights.doom(id);
            // Readers that wait for bytes beside the rows wait again too.
            for waiter in waiters {
                if self.reads.get(waiter).is_some_and(|read| read.phase == Phase::Admitted) {
                    self.wait_again(waiter);
                }
            }
        }
        let held = self.cache.extents_of(object, rows);
        for row in held {
            self.cache.invalidate(object, row);
        }
    }
}
