//! Getters that say what is read ahead and why, and which class a fetch counts for.

use alloc::vec::Vec;

use super::Engine;
use crate::explain::{ByClass, Class, ObjectReport, Why};
use crate::policy::View;
use crate::types::{Event, Extent, ObjectId, Time};

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

    /// What readahead of `extent` is for, and what decided its window.
    pub(super) fn reason(&self, object: ObjectId, extent: Extent) -> (Class, Why) {
        if self.walks.is_some() && !self.objects.is_open(object) {
            return (Class::Walk, Why::Listed);
        }
        let reason = self.policy.reason(object, extent, &self.view());
        let other = if self.walks.is_some() { (Class::Walk, Why::Listed) } else { Default::default() };
        reason.unwrap_or(other)
    }

    /// What of a fetch of `extent` is past the `asked` bytes that a reader waits for counts
    /// for whom it is fetched.
    pub(super) fn attribute(&mut self, object: ObjectId, extent: Extent, asked: u64) {
        let ahead = Extent::between(extent.offset + asked, extent.end());
        if !ahead.is_empty() {
            let (class, _) = self.reason(object, ahead);
            self.cache.mark_ahead(object, ahead, class);
        }
    }

    /// Tells of a window, and what it is for.
    pub(super) fn emit_window(&mut self, time: Time, object: ObjectId, extent: Extent, mark: u64) {
        if self.config.events_max > 0 {
            let (class, why) = self.reason(object, extent);
            self.emit(Event::Window { time, object, extent, mark, class, why });
        }
    }

    fn view(&self) -> View<'_> {
        View { cache: &self.cache, device: &self.device, config: &self.config, is_contended: false }
    }
}
