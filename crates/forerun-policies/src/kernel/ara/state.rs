//! Sequential reading with a valid state.
//!
//! Unread pages move through the page cache as through a pipe. The pages that reclaim has scanned tell how
//! far the pipe moved while this stream read from one mark to the next. The pages that the stream reads
//! during one pass of the pipe follow by proportion. More than those would not survive ahead of it.

use super::{AraClass, AraEvent, Call, chunk::Size};

impl Call<'_> {
    pub(super) fn go_on(&mut self) {
        let chunk = self.stream.chunk;
        let (ratio, pipe) = (self.tuning.ratio_percent, self.pages.cache.fillable_count());
        let ahead = chunk.readahead_index - self.page;
        let stream_shift = chunk.invoke_interval();
        let global_shift = (self.pages.cache.scanned_count() - chunk.age) | 1;

        // The rounding of the original: its figures depend on it.
        let affordable = stream_shift * (pipe / 512) * ratio * 5 / global_shift;
        let remaining = stream_shift * pipe.saturating_sub(global_shift) / global_shift;
        if self.is_present && remaining <= ahead {
            return self.rescue(ahead);
        }
        if affordable <= ahead {
            return self.count_event(AraEvent::ReadaheadShrink, ahead);
        }
        let ra = affordable - ahead;
        let growth = self.request + self.ra_max / 16 + (2 + ratio / 64) * chunk.size();
        let size = Size { ra, la: ra / 8 }.limited(self.ra_max.min(growth), ahead);
        if self.is_present && chunk.size() * 9 / 8 >= size.ra {
            self.shared.learn_thrash(size.ra);
        }
        self.submit(AraClass::State, self.page, chunk.readahead_index, size);
    }
}
