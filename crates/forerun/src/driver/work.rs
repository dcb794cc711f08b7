//! The work that a turn leaves to its thread.

use std::sync::Arc;

use forerun_backend::Result;
use forerun_engine::{MemoryRange, ReadId, Time};
use futures::future::AbortHandle;

use super::fetch::Start;
use super::lock::Loan;
use super::waiter::Waiter;

/// The outcome of starting a read.
#[derive(Debug)]
pub(crate) enum Begun {
    /// Its bytes are lent.
    Hit(Loan),
    Waits(ReadId),
}

/// A read that waited is over: its bytes, where they lie.
pub(crate) type Answered = (Waiter, Result<(Loan, Vec<MemoryRange>)>);

/// The actions that the engine asks for. They are carried out without the lock.
#[derive(Default)]
pub(crate) struct Work {
    pub(crate) starts: Vec<Start>,
    /// Paths that somebody opens soon.
    pub(crate) expected: Vec<Arc<str>>,
    pub(crate) cancels: Vec<AbortHandle>,
    pub(crate) answers: Vec<Answered>,
    /// When to come back even if nothing happens, unless that was said before.
    pub(crate) alarm: Option<Time>,
}

impl Work {
    pub(crate) fn is_empty(&self) -> bool {
        self.starts.is_empty() && self.cancels.is_empty() && self.answers.is_empty() && self.alarm.is_none()
    }
}
