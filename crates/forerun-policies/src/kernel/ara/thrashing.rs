//! Pages ahead of the reader were evicted.

use super::{AraClass, AraEvent, Call, chunk::Size};

impl Call<'_> {
    pub(super) fn recover(&mut self) {
        let chunk = self.stream.chunk;
        let size = if self.page < chunk.ra_index {
            // Of an older chunk: exactly the lost pages.
            chunk.ra_index - self.page
        } else {
            // This many pages survived: that is the threshold itself.
            let survived = self.page - chunk.ra_index;
            self.shared.learn_thrash(survived);
            survived * 3 / 4
        };
        self.count_event(AraEvent::ReadaheadThrash, chunk.readahead_index - self.page);
        if self.pages.is_cached(self.page - 1) {
            self.count_event(AraEvent::ReadaheadMutilate, chunk.readahead_index - self.page);
        }
        let ra = size.min(self.ra_max);
        self.submit(AraClass::Thrashing, self.page, self.page, Size { ra, la: ra / 8 });
    }
}
