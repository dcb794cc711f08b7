//! Reads and writes under way.

use forerun_engine::ReaderId;

use super::pages::PAGE_BYTES;
use crate::device::Time;
use crate::source::{Deed, Step};

/// Which task: an index that is used again.
pub(super) type TaskId = usize;

/// Where a task goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It looks for its next page.
    Look,
    /// That page was not brought by readahead, and it must read it itself.
    Alone,
    /// All pages are done; only the request's cost is left.
    Ending,
}

/// A read or write of a client: it walks over its pages one by one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) step: Step,
    pub(super) reader: ReaderId,
    pub(super) phase: Phase,
    /// The page it is at.
    pub(super) page: u64,
    /// The first page, and the last one that is read or written.
    pub(super) first_page: u64,
    pub(super) last_page: u64,
    /// One past the last page that was asked for.
    pub(super) asked_end: u64,
    pub(super) waited_ns: u64,
    pub(super) waiting_since: Time,
}

impl Task {
    pub(super) fn new(step: Step, reader: ReaderId) -> Task {
        let offset = step.extent.offset;
        let first_page = offset / PAGE_BYTES;
        let last_page = (step.extent.end().max(offset + 1) - 1) / PAGE_BYTES;
        let asked = match step.deed {
            Deed::Read { asked } => asked,
            _ => 0,
        };
        let asked_end = (offset.saturating_add(asked)).div_ceil(PAGE_BYTES).max(last_page + 1);
        Task {
            step,
            reader,
            phase: Phase::Look,
            page: first_page,
            first_page,
            last_page,
            asked_end,
            waited_ns: 0,
            waiting_since: Time(0),
        }
    }

    pub(super) fn is_read(&self) -> bool {
        matches!(self.step.deed, Deed::Read { .. })
    }

    /// It waited until now.
    pub(super) fn wake(&mut self, now: Time) {
        self.waited_ns += now.since(self.waiting_since);
    }

    /// The page is done.
    pub(super) fn next_page(&mut self) {
        self.page += 1;
        self.phase = Phase::Look;
    }
}
