//! A reader who goes on through what is in memory and was read before: nothing is to be
//! decided for a while, and one place to look says so. Its stream hears of it afterwards.

use crate::policy::Access;
use crate::types::{Extent, ObjectId, Time};

/// After a longer pause it is looked again whether all is still there.
pub(super) const PAUSE_NS: u64 = 100_000_000;

/// See the module's page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coast {
    pub(super) object: ObjectId,
    /// Where it began and where it goes on.
    start: u64,
    next: u64,
    /// A read that ends here or further is no part of it.
    until: u64,
    pub(super) last_read: Time,
    pub(super) count: u64,
}

impl Coast {
    /// What follows on `access`, up to `until`.
    pub(super) fn after(access: &Access, until: u64) -> Coast {
        let next = access.extent.end();
        Coast { object: access.object, start: next, next, until, last_read: access.time, count: 0 }
    }

    /// What was read.
    pub(super) fn extent(&self) -> Extent {
        Extent::between(self.start, self.next)
    }

    /// Goes on with `access`, if that is of it.
    pub(super) fn goes_on(&mut self, access: &Access) -> bool {
        let end = access.extent.end();
        let is_of_it = self.object == access.object
            && self.next == access.extent.offset
            && end < self.until
            && !access.late
            && access.unread_bytes == 0
            && access.time.since(self.last_read) < PAUSE_NS;
        if is_of_it {
            (self.next, self.last_read) = (end, access.time);
            self.count += 1;
        }
        is_of_it
    }
}
