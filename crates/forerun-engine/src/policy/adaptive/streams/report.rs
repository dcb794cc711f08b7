//! Which of an object's streams wants what.

use core::cmp::Reverse;

use alloc::vec::Vec;

use super::Streams;
use crate::explain::{Class, StreamReport, Why};
use crate::policy::Reason;
use crate::types::{Extent, StreamId};

impl Streams {
    /// What `extent` was wanted for: by the stream that was read last, by another, to fill
    /// the object, or as a bet.
    pub(crate) fn reason(&self, extent: Extent) -> Reason {
        let last = self.streams.get(usize::from(self.last)).into_iter();
        let found = last.chain(&self.streams).find(|stream| stream.has_wanted(extent));
        found.map_or_else(
            || self.reason_of_no_stream(extent),
            |stream| Reason { class: stream.class(), why: stream.why() },
        )
    }

    /// What `stream` wants anything for.
    pub(crate) fn reason_of_stream(&self, stream: StreamId) -> Option<Reason> {
        let last = self.streams.get(usize::from(self.last)).into_iter();
        let found = last.chain(&self.streams).find(|other| other.id() == stream)?;
        Some(Reason { class: found.class(), why: found.why() })
    }

    /// What `extent`, which no stream wants, was wanted for.
    pub(crate) fn reason_of_no_stream(&self, extent: Extent) -> Reason {
        let is_filled = self.fill.as_ref().is_some_and(|fill| fill.wants(extent));
        Reason { class: if is_filled { Class::Filled } else { Class::Guessed }, why: Why::Bet }
    }

    /// Tells of the streams that have wanted anything; the one that was read last first.
    pub(crate) fn report(&self, active_count: u64, tell: &mut dyn FnMut(StreamReport)) {
        let mut reports: Vec<_> = self.streams.iter().map(|stream| stream.report(active_count)).collect();
        reports.sort_by_key(|report| Reverse(report.last_read));
        reports.into_iter().for_each(tell);
    }
}
