//! Reads that just move a stream on: all of it is there, and nothing more is to be wanted.

use super::{Shape, Stream};
use crate::policy::Access;
use crate::policy::adaptive::coast::{Coast, PAUSE_NS};

impl Stream {
    /// Whether nothing more is to be wanted for the reader of `access`, if all of that is
    /// there and was read before: such a read just moves the stream on.
    pub(crate) fn glides(&self, access: &Access) -> bool {
        let end = access.extent.end();
        matches!(self.shape, Shape::Forward)
            && self.frontier == access.extent.offset
            && end < self.glides_until(access.size)
            && access.time.since(self.last_read) < PAUSE_NS
            && self.failed == u64::MAX
            && !self.is_settled
            && !self.is_disordered()
    }

    /// A read that ends here or further does more than that, in an object of `size` bytes.
    pub(crate) fn glides_until(&self, size: u64) -> u64 {
        let end = if self.planned >= size { self.turn.min(size + 1) } else { 0 };
        self.quiet_until.max(end)
    }

    /// It glided on and on.
    pub(crate) fn land(&mut self, coast: &Coast) {
        let extent = coast.extent();
        self.density.note(extent.len, extent.end().saturating_sub(self.frontier));
        self.counted.rest(coast.last_read);
        self.read_index += coast.count;
        self.last_read = coast.last_read;
        self.read_bytes += extent.len;
        self.frontier = self.frontier.max(extent.end());
        self.planned = self.planned.max(self.frontier);
    }
}
