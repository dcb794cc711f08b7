//! Getters that report which bytes are read ahead and why, and events that report decisions.

use alloc::vec::Vec;

use super::Engine;
use crate::events::Event;
use crate::explain::{ByClass, ObjectReport};
use crate::policy::Ended;
use crate::types::{ObjectId, Time};

impl Engine {
    /// Every object that is open or remembered.
    pub fn objects(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.objects.ids()
    }

    /// Reports which bytes of `object` are read ahead and why, and whether they were used. `None` for an
    /// unknown object.
    pub fn explain(&self, object: ObjectId) -> Option<ObjectReport> {
        let reader_count = self.objects.reader_count(object)?;
        let (cached_bytes, waiting_bytes) = self.cache.held_bytes(object);
        let (readahead, missed_bytes) = self.cache.outcomes_of(object);
        let mut streams = Vec::new();
        self.policy.streams(object, &self.view(), &mut |stream| streams.push(stream));
        Some(ObjectReport {
            object,
            size: self.objects.size(object),
            reader_count,
            cached_bytes,
            waiting_bytes,
            missed_bytes,
            streams,
            account: self.policy.account(object, &self.view()),
            readahead,
        })
    }

    /// The outcomes of the readahead of all objects since the start.
    pub fn readahead(&self) -> &ByClass {
        self.cache.outcomes()
    }

    /// Tells of the streams that are over.
    pub(super) fn emit_ends(&mut self, time: Time) {
        if self.config.events_max > 0 {
            self.emit_all_ends(time);
        }
    }

    // Apart, so that reads that nobody hears of do not pay for it.
    #[cold]
    fn emit_all_ends(&mut self, time: Time) {
        for Ended { object, stream, end } in self.policy.take_ended() {
            self.emit(Event::StreamEnd { time, object, stream, end });
        }
    }
}
