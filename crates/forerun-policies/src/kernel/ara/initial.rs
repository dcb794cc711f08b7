//! The start of a file: small files come whole.

use super::{AraClass, Call, chunk::Size};
use forerun_engine::BLOCK_BYTES;

impl Call<'_> {
    pub(super) fn start_file(&mut self) {
        let size = self.request.max(self.tuning.pages_initial());
        let ra = size.min(self.shared.thrash_bytes / BLOCK_BYTES);
        self.submit(AraClass::Initial, 0, 0, Size { ra, la: ra / 8 });
    }
}
