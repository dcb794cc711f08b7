//! Reads, from the request of a reader until it has copied its bytes.

use alloc::vec::Vec;

use super::Engine;
use crate::cache::{Pins, Residency};
use crate::config::Config;
use crate::events::Event;
use crate::policy::{Access, View};
use crate::reads::{Phase, Read};
use crate::types::*;

impl Engine {
    /// `reader` asks for `extent`, at most [`Config::READ_BYTES_MAX`] bytes, of
    /// which those past the object's end are left out. `memory` is cleared; on
    /// [`Outcome::Ready`] it holds where the bytes are, and they stay there until
    /// [`Engine::release`].
    pub fn read(
        &mut self,
        now: Time,
        object: ObjectId,
        reader: ReaderId,
        extent: Extent,
        memory: &mut Vec<MemoryRange>,
    ) -> Outcome {
        memory.clear();
        debug_assert!(extent.len <= Config::READ_BYTES_MAX, "a read too long for the engine");
        let size = self.objects.size(object);
        let extent = extent.intersection(&Extent::new(0, size));
        if extent.is_empty() {
            let read = Read { object, reader, extent, phase: Phase::Ready, pins: Pins::default() };
            return Outcome::Ready(self.reads.insert(read));
        }
        self.contention.record_read(now, object, reader);
        self.cache.record_read(now, object, extent);
        let rows = self.cache.locate(object, extent);
        let residency = self.cache.residency(extent, &rows);
        let late = residency.in_flight + residency.missing > 0;
        let missing = residency.missing > 0;
        let unread_bytes = residency.unread * BLOCK_BYTES;
        let ahead = if missing || residency.unread > 0 {
            self.cache.record_outcome(object, extent, &rows, residency.missing * BLOCK_BYTES)
        } else {
            None
        };
        let access = Access { time: now, object, reader, extent, size, late, missing, unread_bytes, ahead };
        self.consult(&access, residency);
        let outcome = if !late {
            let pins = self.cache.pin_located(rows);
            self.cache.mark_read(extent, &pins);
            self.cache.memory(extent, &pins, memory);
            Outcome::Ready(self.reads.insert(Read { object, reader, extent, phase: Phase::Ready, pins }))
        } else {
            let read = Read { object, reader, extent, phase: Phase::Waiting, pins: Pins::default() };
            let id = self.reads.insert(read);
            self.fair.begin_wait(reader, id, false);
            Outcome::Parked(id)
        };
        if let Some(walks) = &mut self.walks {
            walks.on_read(object, extent);
        }
        self.audit();
        outcome
    }

    /// The bytes of a ready or replied read were copied.
    pub fn release(&mut self, read: ReadId) {
        self.end_read(read);
        self.audit();
    }

    /// The reader of a parked read has left. No reply will come unless it was already polled; no release is
    /// needed.
    pub fn abandon(&mut self, read: ReadId) {
        self.replies.retain(|(replied, _)| *replied != read);
        self.end_read(read);
        self.audit();
    }

    /// Tells the policy of a read, and queues the windows that it plans.
    fn consult(&mut self, access: &Access, residency: Residency) {
        let Access { time, object, reader, extent, size, ahead, .. } = *access;
        let missing_bytes = (residency.missing * BLOCK_BYTES).min(extent.len);
        let late_bytes = (residency.in_flight * BLOCK_BYTES).min(extent.len - missing_bytes);
        self.emit(Event::Read { time, object, reader, extent, late_bytes, missing_bytes, ahead });

        let view = View {
            is_contended: self.is_contended(access.time),
            favour: self.fair.favour(reader),
            ..View::new(&self.cache, &self.device, &self.config, &self.pending, self.reads.count())
        };
        self.policy.on_read(access, &view, &mut self.windows);
        self.emit_ends(time);
        for rescued in self.policy.take_rescued() {
            self.cache.rescue(object, rescued);
        }
        // While all places in flight are taken, the fetch of the reader that waits longest also brings the bytes
        // of others.
        if access.late
            && self.flights.count() < self.store_limit.in_flight_max()
            && let Some(passed) = self.policy.passed(access)
        {
            self.pending.pass(object, passed.to_blocks(), &mut self.fair);
        }
        self.queue_windows(time, object, self.fair.payer(reader), size);
        self.drop_listed();
    }

    pub(super) fn end_read(&mut self, id: ReadId) {
        let Some(read) = self.reads.remove(id) else { return };
        if read.phase == Phase::Waiting {
            self.fair.end_wait(read.reader, id);
        }
        self.cache.unpin(&read.pins);
    }
}
