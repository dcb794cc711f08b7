//! Reads: pinning rows while somebody waits for them or copies from them, and
//! remembering what has been read.

use alloc::vec::Vec;

use crate::config::Config;
use crate::types::{BLOCK_BYTES, Extent, MemoryRange, ObjectId, Time};

use super::row::{ROW_BLOCKS, ROW_BYTES, Row, RowId, rows_of};
use super::{Cache, slots::mask};

/// Rows that a read of `Config::READ_BYTES_MAX` can touch.
const PINS_MAX: usize = (Config::READ_BYTES_MAX / ROW_BYTES) as usize + 1;

/// The rows one read has pinned, in order of offset.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pins {
    rows: [u32; PINS_MAX],
    count: usize,
}

impl Pins {
    fn iter(&self) -> impl Iterator<Item = RowId> + use<> {
        let pins = self.clone();
        (0..pins.count).map(move |i| RowId(pins.rows[i]))
    }
}

impl Cache {
    /// Pins every row of `extent`, making those that are not there.
    pub(crate) fn pin(&mut self, object: ObjectId, extent: Extent) -> Pins {
        let mut pins = Pins::default();
        for (index, _) in rows_of(extent) {
            let id = self.row_or_new(object, index);
            self.rows[id.0 as usize].pin_count += 1;
            self.queues.unlink(&mut self.rows, id);
            pins.rows[pins.count] = id.0;
            pins.count += 1;
        }
        pins
    }

    /// Undoes [`Cache::pin`].
    pub(crate) fn unpin(&mut self, pins: &Pins) {
        for id in pins.iter() {
            let row = &mut self.rows[id.0 as usize];
            row.pin_count -= 1;
            if row.pin_count > 0 {
                continue;
            }
            if row.detached {
                let resident = row.resident;
                self.free_blocks(id, resident);
            } else {
                self.queues.requeue(&mut self.rows, id);
                self.drop_if_empty(id);
            }
        }
    }

    /// Whether all blocks of `extent`, whose rows are pinned, are resident.
    pub(crate) fn is_complete(&self, extent: Extent, pins: &Pins) -> bool {
        rows_of(extent)
            .zip(pins.iter())
            .all(|((_, bits), id)| self.rows[id.0 as usize].resident & bits == bits)
    }

    /// Somebody reads `extent`, whose rows are pinned.
    pub(crate) fn mark_read(&mut self, now: Time, extent: Extent, pins: &Pins) {
        for ((_, bits), id) in rows_of(extent).zip(pins.iter()) {
            let row = &mut self.rows[id.0 as usize];
            let first = bits.trailing_zeros() as u8;
            let again = bits & row.resident & !row.unread & !last_read(row.last_read_block);
            row.hot |= again != 0;
            row.unread &= !bits;
            row.last_read_block = first + (bits.count_ones() as u8 - 1);
            row.touched = now;
        }
    }

    /// Appends where the bytes of `extent` are; its rows are pinned and its
    /// blocks resident.
    pub(crate) fn memory(&self, extent: Extent, pins: &Pins, memory: &mut Vec<MemoryRange>) {
        let mut skip = extent.offset % BLOCK_BYTES;
        let mut left = extent.len;
        for ((_, bits), id) in rows_of(extent).zip(pins.iter()) {
            let row: &Row = &self.rows[id.0 as usize];
            let mut todo = bits;
            while todo != 0 {
                let block = todo.trailing_zeros();
                let count = row.contiguous(block, todo);
                todo &= !mask(block, count);
                let start = u64::from(row.slots[block as usize]) * BLOCK_BYTES + skip;
                let len = (u64::from(count) * BLOCK_BYTES - skip).min(left);
                skip = 0;
                left -= len;
                match memory.last_mut() {
                    Some(last) if last.start + last.len == start => last.len += len,
                    _ => memory.push(MemoryRange { start, len }),
                }
            }
        }
    }
}

impl Row {
    /// How many blocks from `block` on, within `bits`, lie in neighbouring slots.
    fn contiguous(&self, block: u32, bits: u64) -> u32 {
        let run = (bits >> block).trailing_ones().min(ROW_BLOCKS as u32 - block);
        let first = self.slots[block as usize];
        (1..run).find(|i| self.slots[(block + i) as usize] != first + i).unwrap_or(run)
    }
}

fn last_read(block: u8) -> u64 {
    if u64::from(block) < ROW_BLOCKS { 1 << block } else { 0 }
}
