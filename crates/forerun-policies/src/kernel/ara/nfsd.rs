//! An NFS server's reads, out of order and without an open file. The request is served first. Cached pages
//! around it then show whether it belongs to a stream. So concurrent server threads do not read the same
//! pages ahead.

use super::Call;

impl Call<'_> {
    pub(super) fn serve_then_look(&mut self) {
        self.read_random();
        let end = self.page + self.request.min(self.ra_max.max(1));
        let has_past = self.page > 0 && self.pages.is_cached(self.page - 1);
        if has_past && end < self.pages.page_count && !self.pages.is_cached(end) {
            self.read_after(end);
        }
    }
}
