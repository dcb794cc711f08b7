//! Getters: memory, fetches in flight and streams, which bytes are read ahead and why. Events that report decisions.

use alloc::vec::Vec;

use super::Engine;
use crate::events::Event;
use crate::explain::{ByClass, Class, ObjectReport};
use crate::policy::Ended;
use crate::types::{ObjectId, Time};

/// The state of an engine at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The budget, in bytes.
    pub memory_bytes_max: u64,
    /// Memory charged: resident and in flight.
    pub memory_bytes: u64,
    /// The part of it in flight, or read ahead for readers that may come.
    pub unread_bytes: u64,
    /// Bytes that answered reads hold until they are released. Bytes that two reads hold count twice.
    pub lent_bytes: u64,
    /// Reads that wait for bytes.
    pub waiting_count: usize,
    /// Fetches in flight that were dispatched for a reader that waits.
    pub demand_count: usize,
    /// Fetches in flight that were dispatched ahead of any reader.
    pub readahead_count: usize,
    /// Bytes of all fetches in flight.
    pub flight_bytes: u64,
}

impl Engine {
    /// Memory and fetches at this moment.
    pub fn usage(&self) -> Usage {
        let (lent_bytes, waiting_count) = self.reads.lent_and_waiting();
        let readahead_count = self.flights.readahead_count();
        Usage {
            memory_bytes_max: self.cache.kept_bytes(),
            memory_bytes: self.cache.used_bytes(),
            unread_bytes: self.cache.unread_bytes_all(),
            lent_bytes,
            waiting_count,
            demand_count: self.flights.count() - readahead_count,
            readahead_count,
            flight_bytes: self.flights.bytes(),
        }
    }

    /// The class of each stream of `object`, and of each plan; none if no reader has it open.
    pub fn stream_classes(&self, object: ObjectId, tell: &mut dyn FnMut(Class)) {
        if self.objects.is_open(object) {
            self.policy.streams(object, &self.view(), &mut |stream| tell(stream.class));
        }
    }

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
