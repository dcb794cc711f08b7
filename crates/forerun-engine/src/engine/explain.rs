//! Getters that say what is read ahead and why, and which class a fetch counts for.

use alloc::vec::Vec;

use super::Engine;
use crate::events::Event;
use crate::explain::{ByClass, Class, ObjectReport, Why};
use crate::policy::{Ended, Reason, View, Window};
use crate::types::{Extent, ObjectId, Time};

impl Engine {
    /// Every object that is open or remembered.
    pub fn objects(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.objects.ids()
    }

    /// What is read ahead of `object` just now and why, and what became of what was.
    /// Nothing of an object that is not known.
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
            readahead,
        })
    }

    /// What became of what was read ahead, of all objects together since the start.
    pub fn readahead(&self) -> &ByClass {
        self.cache.outcomes()
    }

    /// What readahead is for, if the policy says that it is `known`.
    fn reason(&self, object: ObjectId, known: impl FnOnce() -> Option<Reason>) -> Reason {
        let walk = Reason { class: Class::Walk, why: Why::Listed };
        let is_told = || self.policy.is_planned(object) || self.is_listed(object);
        if self.walks.is_some() && !self.objects.is_open(object) && !is_told() {
            return walk;
        }
        known().unwrap_or_else(|| if self.walks.is_some() { walk } else { Reason::default() })
    }

    /// What is fetched `ahead`, beside the bytes that a reader waits for, counts for whom it is
    /// fetched.
    pub(super) fn attribute(&mut self, object: ObjectId, ahead: Extent) {
        if !ahead.is_empty() {
            let reason = self.reason(object, || self.policy.reason(object, ahead, &self.view()));
            self.cache.mark_ahead(object, ahead, reason.class);
        }
    }

    /// Tells of a window, and what it is for.
    pub(super) fn emit_window(&mut self, time: Time, object: ObjectId, window: &Window) {
        if self.config.events_max > 0 {
            let Window { extent, mark, stream } = *window;
            let reason = self.reason(object, || self.policy.reason_of(object, window, &self.view()));
            let Reason { class, why } = reason;
            self.emit(Event::Window { time, object, extent, mark, class, why, stream });
        }
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

    pub(super) fn view(&self) -> View<'_> {
        View {
            cache: &self.cache,
            device: &self.device,
            config: &self.config,
            is_contended: false,
            pending: &self.pending,
            others_count: self.reads.count(),
        }
    }
}
