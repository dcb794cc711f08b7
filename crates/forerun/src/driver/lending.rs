//! Readahead that a front end copies into a cache of its own.

use std::sync::Arc;

use forerun_engine::{Extent, MemoryRange, ReaderId};

use super::{Driver, Loan, Object};

impl Driver {
    /// As [`Engine::unread_bytes`](forerun_engine::Engine::unread_bytes).
    pub(crate) fn unread_bytes(&self, object: &Object, extent: Extent, from_end: bool) -> u64 {
        self.lock.look().engine.unread_bytes(object.id, extent, from_end)
    }

    /// As [`Engine::peek`](forerun_engine::Engine::peek); nothing of an object that has changed.
    pub(crate) fn peek(
        &self,
        object: &Object,
        extent: Extent,
        ranges: &mut Vec<MemoryRange>,
    ) -> Option<Loan> {
        if object.changed.get().is_some() {
            return None;
        }
        let mut state = self.lock.look();
        let read = state.engine.peek(object.id, extent, ranges)?;
        Some(state.loans.lend(read))
    }

    /// `reader` has come past `extents` in the front end's cache.
    pub(crate) fn consume(self: &Arc<Driver>, object: &Object, reader: ReaderId, extents: &[Extent]) {
        let now = self.now();
        if let Some(learner) = &self.learner {
            extents.iter().for_each(|extent| learner.note(now, object.id, &object.name, *extent));
        }
        self.step(|state, _| {
            state.advance(now);
            extents.iter().for_each(|extent| state.engine.consume(now, object.id, reader, *extent));
        });
    }
}
