//! One window of readahead that waits to be dispatched.

use super::Payer;
use crate::explain::Class;
use crate::types::{Extent, ObjectId};

/// A window of readahead, or the rest of one, whom it is for, and the class of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Queued {
    pub(crate) object: ObjectId,
    pub(crate) extent: Extent,
    pub(crate) class: Class,
    pub(crate) payer: Payer,
}

impl Queued {
    /// The rest of it from `offset` on.
    pub(crate) fn from(self, offset: u64) -> Queued {
        Queued { extent: Extent::between(offset, self.extent.end()), ..self }
    }

    /// Whether it has some of `extent` of `object`, or begins or ends beside it.
    pub(super) fn touches(&self, object: ObjectId, extent: Extent) -> bool {
        self.object == object && self.extent.offset <= extent.end() && extent.offset <= self.extent.end()
    }
}
