//! Which of an object's streams wants what.

use core::cmp::Reverse;

use alloc::vec::Vec;

use super::Streams;
use crate::explain::{Class, StreamReport, Why};
use crate::types::Extent;

impl Streams {
    /// What `extent` was wanted for: by the stream that was read last, by another, to fill
    /// the object, or as a bet.
    pub(in crate::policy::adaptive) fn reason(&self, extent: Extent) -> (Class, Why) {
        let last = self.streams.get(self.last).into_iter();
        let found = last.chain(&self.streams).find(|stream| stream.has_wanted(extent));
        match found {
            Some(stream) => (stream.class(), stream.why()),
            None if self.fill.as_ref().is_some_and(|fill| fill.wants(extent)) => (Class::Filled, Why::Bet),
            None => (Class::Guessed, Why::Bet),
        }
    }

    /// Tells of the streams that have wanted anything; the one that was read last first.
    pub(in crate::policy::adaptive) fn report(&self, active_count: u64, tell: &mut dyn FnMut(StreamReport)) {
        let mut reports: Vec<_> = self.streams.iter().map(|stream| stream.report(active_count)).collect();
        reports.sort_by_key(|report| Reverse(report.last_read));
        reports.into_iter().for_each(tell);
    }
}
