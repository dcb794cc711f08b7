//! Why the window is as large as it is, in a word.

use super::{Shape, Stream};
use crate::explain::{Class, StreamReport, Why};
use crate::types::Extent;

/// What decided the window; kept from when it was decided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reason {
    /// When it was reconsidered.
    sized: Why,
    /// And when it was topped up.
    limited: Why,
    window: u64,
    rate: u64,
    service_ns: u64,
}

impl Default for Reason {
    fn default() -> Reason {
        Reason { sized: Why::FirstWindow, limited: Why::FirstWindow, window: 0, rate: 0, service_ns: 0 }
    }
}

impl Stream {
    /// The first window is that long; streams here are expected to end after `reach`.
    pub(super) fn begin_reason(&mut self, reach: Option<u64>) {
        self.reason.sized = match reach {
            _ if self.is_announced => Why::Advised,
            Some(_) if self.shape.is_dense() => Why::EndKnown,
            _ => Why::FirstWindow,
        };
    }

    /// The window is being reconsidered.
    pub(super) fn note_turn(&mut self, rate: u64, service_ns: u64) {
        // The first time is with the first read, and says nothing.
        if self.turn_count > 0 {
            self.reason.sized = if self.late { Why::Growing } else { Why::Steady };
            self.reason.rate = rate;
        }
        self.reason.service_ns = service_ns;
    }

    /// It is about to be cut to `max`.
    pub(super) fn note_share(&mut self, max: u64) {
        if self.window >= max {
            self.reason.sized = Why::LimitedByShare;
        }
    }

    /// The window is about to be topped up, up to position `limit` and while it is not more
    /// than `allowed`.
    pub(crate) fn note_limits(&mut self, limit: u64, allowed: u64) {
        let room = limit.saturating_sub(self.frontier);
        let window = self.window.min(allowed);
        self.reason.window = window.min(room);
        self.reason.limited = if room <= window {
            Why::EndKnown
        } else if allowed < self.window {
            Why::LimitedByLedger
        } else if self.is_disordered() {
            Why::Disordered
        } else {
            self.reason.sized
        };
    }

    pub(crate) fn class(&self) -> Class {
        match &self.shape {
            Shape::Forward => Class::Forward,
            Shape::Backward => Class::Backward,
            Shape::Strided(strides) if strides.element_count() == 1 => Class::Strided,
            Shape::Strided(_) => Class::TwoLevel,
        }
    }

    pub(crate) fn why(&self) -> Why {
        self.reason.limited
    }

    /// Whether it has wanted some of `extent`, which its reader may have passed since.
    pub(crate) fn has_wanted(&self, extent: Extent) -> bool {
        let wanted = Extent::between(self.start, self.planned);
        let at = self.shape.positions(extent, self.frontier);
        at.is_some_and(|positions| positions.overlaps(&wanted))
            || self.shape.first_within(extent, self.ahead()).is_some()
    }

    /// As it is; `active_count` streams are active.
    pub(crate) fn report(&self, active_count: u64) -> StreamReport {
        let mut offset = self.frontier;
        match self.shape {
            Shape::Forward => {}
            Shape::Backward => {
                self.shape.extents(Extent::new(self.frontier, 1), 1, |extent| offset = extent.end());
            }
            Shape::Strided(_) => {
                self.shape.extents(Extent::new(self.frontier, 1), 1, |extent| offset = extent.offset);
            }
        }
        StreamReport {
            class: self.class(),
            offset,
            window_bytes: self.reason.window,
            ahead_bytes: self.ahead().len,
            why: self.why(),
            rate_bytes_per_s: self.reason.rate,
            service_ns: self.reason.service_ns,
            active_count,
            last_read: self.last_read,
        }
    }
}
