//! A random read: the requested pages and nothing more.

use super::{AraEvent, Call};

impl Call<'_> {
    pub(super) fn read_random(&mut self) {
        let count = self.request.min(self.ra_max.max(1));
        self.count_event(AraEvent::RandomRead, count);
        self.pages.fetch(self.page, count, self.page + count);
    }
}
