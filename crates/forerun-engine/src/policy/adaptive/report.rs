//! Reports of the readahead and its reasons.

use core::cmp::Reverse;

use alloc::vec::Vec;

use super::Adaptive;
use super::detect::Stream;
use super::object::Object;
use crate::explain::{Class, StreamReport, Why};
use crate::policy::{Reason, View, Window};
use crate::types::{Extent, ObjectId};

impl Stream {
    fn class(&self) -> Class {
        match (self.shape.is_dense(), self.shape.is_back()) {
            (true, false) => Class::Forward,
            (true, true) => Class::Backward,
            _ => Class::Strided,
        }
    }

    fn reason(&self) -> Reason {
        Reason { class: self.class(), why: self.sizing.kept().1 }
    }

    /// Whether it has wanted some of `extent`, which its reader may have passed since.
    fn has_wanted(&self, extent: Extent) -> bool {
        let wanted = Extent::between(self.start, self.planned);
        self.shape.positions(extent).is_some_and(|at| at.overlaps(&wanted))
    }

    fn report(&self, active_count: u64, view: &View<'_>) -> StreamReport {
        let (window_bytes, why) = self.sizing.kept();
        let mut offset = self.frontier;
        self.shape.extents(Extent::new(self.frontier, 1), 1, |extent| {
            offset = if self.shape.is_back() && self.shape.is_dense() { extent.end() } else { extent.offset };
        });
        StreamReport {
            class: self.class(),
            offset,
            window_bytes,
            ahead_bytes: self.ahead().len,
            why,
            rate_bytes_per_s: self.rate(),
            service_ns: view.device.service_high_ns(),
            active_count,
            last_read: self.last_read,
        }
    }
}

impl Object {
    /// Why `extent` was wanted, if no stream wants it.
    fn reason_of_no_stream(&self, extent: Extent) -> Reason {
        let is_filled = self.region.is_filled(extent.offset);
        Reason { class: if is_filled { Class::Filled } else { Class::Guessed }, why: Why::Bet }
    }
}

impl Adaptive {
    /// Why `extent` is or was wanted, if any of `object` was.
    pub(super) fn reason_for(&self, object: ObjectId, extent: Extent, view: &View<'_>) -> Option<Reason> {
        if let Some(reason) = self.follower.reason(object, extent) {
            return Some(reason);
        }
        let object = self.objects.get(object)?;
        let last = object.streams.get(object.last).into_iter();
        let found = last.chain(&object.streams).find(|stream| stream.has_wanted(extent));
        Some(self.narrower(found.map_or_else(|| object.reason_of_no_stream(extent), Stream::reason), view))
    }

    /// The reason of `window` of `object`, which was just wanted.
    pub(super) fn reason_for_window(
        &self,
        object: ObjectId,
        window: &Window,
        view: &View<'_>,
    ) -> Option<Reason> {
        let Some(id) = window.stream else {
            let followed = self.follower.reason(object, window.extent);
            return followed.or_else(|| Some(self.objects.get(object)?.reason_of_no_stream(window.extent)));
        };
        let stream = self.objects.get(object)?.streams.iter().find(|stream| stream.id == id)?;
        Some(self.narrower(stream.reason(), view))
    }

    /// Tells of the plan and the streams of `object`; of the stream that was read last first.
    pub(super) fn tell_streams(&self, object: ObjectId, view: &View<'_>, tell: &mut dyn FnMut(StreamReport)) {
        let active_count = self.common.shares.reading();
        if let Some(report) = self.follower.report(object) {
            tell(StreamReport { active_count, service_ns: view.device.service_high_ns(), ..report });
        }
        let Some(object) = self.objects.get(object) else { return };
        let mut streams: Vec<&Stream> = object.streams.iter().collect();
        streams.sort_by_key(|stream| Reverse(stream.last_read));
        for stream in streams {
            let report = stream.report(active_count, view);
            let why = self.narrower(Reason { class: report.class, why: report.why }, view).why;
            tell(StreamReport { why, ..report });
        }
    }

    /// A stream's share is that of the device, or of the memory where that is smaller.
    fn narrower(&self, reason: Reason, view: &View<'_>) -> Reason {
        let is_memory = reason.why == Why::LimitedByShare && self.common.shares.is_bound_by_memory(view);
        Reason { why: if is_memory { Why::LimitedByMemory } else { reason.why }, ..reason }
    }
}
