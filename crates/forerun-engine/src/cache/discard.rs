//! Bytes that somebody says are not needed.

use super::Cache;
use super::row::rows_of;
use crate::types::{BLOCK_BYTES, Extent, ObjectId};

impl Cache {
    /// Drops the blocks that lie within `extent` as a whole, but for rows that somebody
    /// copies from or waits for.
    pub(crate) fn discard(&mut self, object: ObjectId, extent: Extent) {
        let start = extent.offset.next_multiple_of(BLOCK_BYTES);
        let whole = Extent::between(start, extent.end() / BLOCK_BYTES * BLOCK_BYTES);
        for held in self.extents_of(object, whole) {
            for (index, bits) in rows_of(held.intersection(&whole)) {
                let Some(id) = self.index.get(object, index) else { continue };
                let row = &self.rows[id.0 as usize];
                if row.pin_count == 0 {
                    let gone = row.resident & bits;
                    self.free_blocks(id, gone);
                }
            }
        }
    }
}
