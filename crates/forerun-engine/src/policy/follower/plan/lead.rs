//! The part of a plan that is ahead of its readers, and the part that may be. Lists ask for it, since the
//! bytes of a list lie in many objects. The plan also reports on itself here.

use alloc::vec::Vec;

use super::order::SPAN_BYTES;
use super::{Origin, Plan};
use crate::explain::{Class, StreamReport, Why};
use crate::policy::Reason;
use crate::types::{Extent, Time};

impl Plan {
    /// All bytes of the plan, and those that were read.
    pub(crate) fn progress(&self) -> (u64, u64) {
        (self.route.len(), self.used)
    }

    /// Whether the first byte of `extent` was ordered, and its reader has passed it by no more than
    /// `behind` bytes, if it has.
    pub(crate) fn is_ahead(&self, extent: Extent, behind: u64) -> bool {
        let Some(position) = self.position(extent) else { return false };
        self.spans
            .ahead()
            .any(|ahead| ahead.offset.saturating_sub(behind) <= position && position < ahead.end())
    }

    /// Whether the first byte of `extent` lies past all that was ordered, and no reader is followed
    /// there.
    pub(crate) fn is_beyond(&self, extent: Extent) -> bool {
        self.position(extent).is_some_and(|position| position > self.spans.ordered_before(position))
    }

    fn position(&self, extent: Extent) -> Option<u64> {
        self.route.positions(extent).next().map(|positions| positions.offset)
    }

    /// Whether nothing of it is left to be fetched or read.
    pub(crate) fn is_done(&self) -> bool {
        self.spans.are_done(self.route.len())
    }

    /// The extents that were ordered and that their readers have not passed.
    pub(crate) fn ahead(&self) -> Vec<Extent> {
        self.spans.ahead().flat_map(|positions| self.route.extents_at(positions, usize::MAX).0).collect()
    }

    /// How many bytes those are.
    pub(crate) fn ahead_bytes(&self) -> u64 {
        self.spans.ahead().map(|ahead| ahead.len).sum()
    }

    /// How many extents may be ordered now of `count_max` that all readers together may have ahead.
    pub(crate) fn room(&self, count_max: usize) -> usize {
        let span = self.spans.recent();
        let (reached, ordered) = (self.route.place(span.reached), self.route.place(span.ordered));
        (count_max / self.spans.live_count(self.used) as usize).saturating_sub(ordered - reached)
    }

    /// Halves the lead, after bytes ahead were evicted unread or readers left the plan. It grows again by
    /// the bytes that are read. It is halved at most once until more bytes are read.
    pub(crate) fn shorten(&mut self) {
        if self.shortened_at != Some(self.used) {
            self.shortened_at = Some(self.used);
            let lead = self.spans.recent().lead().min(self.lead_bytes_max);
            self.lead_bytes_max = (lead / 2).max(SPAN_BYTES);
        }
    }

    /// The reason of its windows.
    pub(super) fn reason(&self) -> Reason {
        let why = match self.origin {
            Origin::Advice | Origin::List => Why::Advised,
            Origin::Profile => Why::Planned,
        };
        Reason { class: Class::Planned, why }
    }

    /// As it is; the policy knows how many are active, and how long a fetch takes.
    pub(crate) fn report(&self) -> StreamReport {
        let span = self.spans.recent();
        let Reason { class, why } = self.reason();
        let ahead = span.ordered - span.reached;
        StreamReport {
            class,
            offset: span.reached,
            window_bytes: ahead,
            ahead_bytes: ahead,
            why,
            rate_bytes_per_s: 0,
            service_ns: 0,
            active_count: 0,
            last_read: Time(0),
        }
    }
}
