//! Objects that change, shrink, or go.

use super::Engine;
use crate::cache::ROW_BYTES;
use crate::types::*;

impl Engine {
    /// The bytes of `extent` changed in the backend: nothing cached or in flight
    /// answers a read from now on. Reads that wait for some of it wait for a new
    /// fetch; reads that are being copied keep what they were given.
    pub fn invalidate(&mut self, now: Time, object: ObjectId, extent: Extent) {
        if extent.is_empty() {
            return;
        }
        // Whole rows, because a row that is being copied from leaves as a whole.
        let start = extent.offset / ROW_BYTES * ROW_BYTES;
        let end = extent.end().div_ceil(ROW_BYTES).saturating_mul(ROW_BYTES);
        self.drop_rows(object, Extent::between(start, end));
        self.report_lost(now);
        self.audit();
    }

    /// The object has `size` bytes now; what lay past the smaller of its sizes is
    /// invalid.
    pub fn resize(&mut self, now: Time, object: ObjectId, size: u64) {
        let kept = self.objects.size(object).min(size);
        self.objects.resize(object, size);
        self.invalidate(now, object, Extent::between(kept, u64::MAX / 2));
    }

    /// Drops all that is known and cached of `object`: it was replaced, say, and
    /// will not be opened again. Its open readers may still read; each read is
    /// fetched anew.
    pub fn forget(&mut self, now: Time, object: ObjectId) {
        self.pending.cancel(object);
        self.drop_rows(object, Extent::new(0, u64::MAX / 2));
        self.policy.on_forget(object);
        if self.reads.any_of(object) {
            self.objects.keep(object);
        } else if self.objects.drop_closed(object) {
            self.forgotten.push_back(object);
        }
        self.report_lost(now);
        self.audit();
    }

    /// Nobody reads `object` any more: what was decided for it is not dispatched,
    /// what is on its way and not waited for is cancelled, and what is here
    /// unread may be evicted.
    pub(super) fn stop_readahead(&mut self, object: ObjectId) {
        self.pending.cancel(object);
        for id in self.flights.of(object) {
            let Some(flight) = self.flights.get_mut(id) else { continue };
            if flight.cause == Cause::Readahead && flight.waiters.is_empty() && !flight.cancelled {
                flight.cancelled = true;
                self.cancels.push_back(id);
            }
        }
        self.cache.release_unread(object);
    }

    fn drop_rows(&mut self, object: ObjectId, rows: Extent) {
        // Reads let go first, so that their rows can go at once.
        for id in self.reads.admitted(object, rows) {
            self.wait_again(id);
        }
        for id in self.flights.overlapping(object, rows) {
            let Some(flight) = self.flights.get(id) else { continue };
            self.cache.disown(object, flight.rest());
            self.flights.doom(id);
        }
        let held = self.cache.extents_of(object, rows);
        for row in held {
            self.cache.invalidate(object, row);
        }
    }
}
