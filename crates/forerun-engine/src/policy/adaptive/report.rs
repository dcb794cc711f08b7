//! Reports of the readahead and its reasons.

use core::cmp::Reverse;

use alloc::vec::Vec;

use super::Adaptive;
use super::budget::Account;
use super::detect::Stream;
use crate::explain::{AccountReport, Class, StreamReport};
use crate::policy::{Reason, View};
use crate::types::{Extent, ObjectId};

impl Stream {
    pub(super) fn class(&self) -> Class {
        match (self.shape.is_dense(), self.shape.is_back()) {
            (true, false) => Class::Forward,
            (true, true) => Class::Backward,
            _ => Class::Strided,
        }
    }

    /// The reason of its windows.
    pub(super) fn reason(&self) -> Reason {
        Reason { class: self.class(), why: self.sizing.why }
    }

    fn report(&self, active_count: u64, view: &View<'_>) -> StreamReport {
        let Reason { class, why } = self.reason();
        let mut offset = self.frontier;
        self.shape.extents(Extent::new(self.frontier, 1), 1, |extent| {
            offset = if self.shape.is_back() && self.shape.is_dense() { extent.end() } else { extent.offset };
        });
        StreamReport {
            class,
            offset,
            window_bytes: self.sizing.kept,
            ahead_bytes: self.ahead().len,
            why,
            rate_bytes_per_s: self.rate(),
            service_ns: view.device.service_high_ns(),
            active_count,
            last_read: self.last_read,
        }
    }
}

impl Adaptive {
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
            tell(stream.report(active_count, view));
        }
    }

    /// The account of `object`, by which the streams and bets there are decided.
    pub(super) fn account_of(&self, object: ObjectId, view: &View<'_>) -> Option<AccountReport> {
        let state = self.objects.get(object)?;
        let account = Account::of(object, state.size, state.expected(), view);
        Some(account.report(view.device.costs().wait))
    }
}
