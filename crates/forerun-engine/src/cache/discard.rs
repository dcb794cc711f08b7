//! Bytes that somebody says are not needed, or not valid any more.

use alloc::vec::Vec;

use super::Cache;
use super::rows::{ROW_BYTES, rows_of};
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

    /// Drops the blocks of `extent` that no fetch is filling. Readers that are copying keep their bytes; no
    /// other reader will find them.
    pub(crate) fn invalidate(&mut self, object: ObjectId, extent: Extent) {
        for (index, bits) in rows_of(extent) {
            let Some(id) = self.index.get(object, index) else { continue };
            let row = &mut self.rows[id.0 as usize];
            if row.pin_count == 0 {
                let gone = row.resident & bits;
                self.free_blocks(id, gone);
                continue;
            }
            debug_assert_eq!(row.in_flight, 0, "disown fetches before detaching their rows");
            row.detached = true;
            self.index.remove(object, index);
            self.queues.unlink(&mut self.rows, id);
        }
    }

    /// The rows of `object` that are in the index and touch `extent`.
    pub(crate) fn extents_of(&self, object: ObjectId, extent: Extent) -> Vec<Extent> {
        let (first, end) = (extent.offset / ROW_BYTES, extent.end().div_ceil(ROW_BYTES));
        let rows = self.index.between(object, first, end);
        rows.map(|(index, _)| Extent::new(index * ROW_BYTES, ROW_BYTES)).collect()
    }
}
