//! Readahead whose readers have left, or are back.

use crate::cache::{Cache, Reclaim};
use crate::types::ObjectId;

impl Cache {
    /// Unread readahead of `object` has lost its readers, and may be evicted like anything else.
    pub(crate) fn release_unread(&mut self, object: ObjectId) {
        self.set_released(object, true);
    }

    /// The object has readers again.
    pub(crate) fn reclaim_unread(&mut self, object: ObjectId) {
        if self.reclaim == Reclaim::Informed {
            self.set_released(object, false);
        }
    }

    fn set_released(&mut self, object: ObjectId, released: bool) {
        for id in self.index.of(object) {
            self.rows[id.0 as usize].released = released;
            self.queues.refresh(&mut self.rows, id);
        }
    }
}
