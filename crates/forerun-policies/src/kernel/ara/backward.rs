//! Reading backward: the pages before the last page read, growing threefold, without a mark.

use super::{AraClass, Call, chunk::Size};

impl Call<'_> {
    /// False if this is no such read.
    pub(super) fn read_backward(&mut self) -> bool {
        let (page, previous, chunk) = (self.page, self.stream.previous, self.stream.chunk);
        let reach = self.request + self.tuning.hit_rate;
        if page >= previous || (page + 2 * reach) <= previous {
            return false;
        }
        let (anchor, size) = if chunk.class == AraClass::Backward && chunk.has(previous) {
            (chunk.la_index, reach + 2 * chunk.size())
        } else {
            (previous, 2 * reach)
        };
        let ra = size.min(self.ra_max).min(anchor);
        let start = anchor - ra;
        if page < start {
            return false;
        }
        self.submit(AraClass::Backward, start, start, Size { ra, la: 0 });
        true
    }
}
