//! Lookups for reads: pins rows while readers use them, and records which blocks were read.

use alloc::vec::Vec;

use super::rows::{NONE, ROW_BLOCKS, ROW_BYTES, Row, RowId, mask, rows_of};
use super::{Cache, Residency};
use crate::config::Config;
use crate::types::{BLOCK_BYTES, Extent, MemoryRange, ObjectId};

/// Rows that a read of `Config::READ_BYTES_MAX` can touch.
const ROWS_MAX: usize = (Config::READ_BYTES_MAX / ROW_BYTES) as usize + 1;

/// The rows of one extent, in order of offset.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    ids: [u32; ROWS_MAX],
    count: usize,
}

impl Rows {
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<RowId>> {
        self.ids[..self.count].iter().map(|id| (*id != NONE).then_some(RowId(*id)))
    }

    fn push(&mut self, id: Option<RowId>) {
        self.ids[self.count] = id.map_or(NONE, |id| id.0);
        self.count += 1;
    }
}

/// Rows that a read has pinned; all of them are there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pins(Rows);

impl Pins {
    fn iter(&self) -> impl Iterator<Item = RowId> {
        self.0.ids[..self.0.count].iter().map(|id| RowId(*id))
    }
}

impl Cache {
    /// Looks the rows of `extent` up, once for all that is asked about them.
    pub(crate) fn locate(&self, object: ObjectId, extent: Extent) -> Rows {
        let mut rows = Rows::default();
        self.index.rows(object, extent).for_each(|(_, _, id)| rows.push(id));
        rows
    }

    /// How much of `extent`, whose rows are `rows`, is where.
    pub(crate) fn residency(&self, extent: Extent, rows: &Rows) -> Residency {
        let mut residency = Residency::default();
        for ((_, bits), id) in rows_of(extent).zip(rows.iter()) {
            let Some(RowId(id)) = id else {
                residency.missing += count_of(bits);
                continue;
            };
            let row = &self.rows[id as usize];
            residency.unread += count_of(row.unread & bits);
            residency.in_flight += count_of(row.in_flight & bits);
            residency.missing += count_of(bits & !row.held());
        }
        residency
    }

    /// Keeps rows from being evicted, all of which are there.
    pub(crate) fn pin_located(&mut self, rows: Rows) -> Pins {
        for id in rows.iter().flatten() {
            self.rows[id.0 as usize].pin_count += 1;
        }
        debug_assert!(rows.iter().all(|id| id.is_some()), "pinned a row that is not there");
        Pins(rows)
    }

    /// Keeps every row of `extent` from being evicted, and makes missing rows.
    pub(crate) fn pin(&mut self, object: ObjectId, extent: Extent) -> Pins {
        let mut rows = Rows::default();
        for (index, _) in rows_of(extent) {
            rows.push(Some(self.row_or_new(object, index)));
        }
        self.pin_located(rows)
    }

    /// Undoes a pin.
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
                self.queues.refresh(&mut self.rows, id);
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
    pub(crate) fn mark_read(&mut self, extent: Extent, pins: &Pins) {
        for ((_, bits), id) in rows_of(extent).zip(pins.iter()) {
            let row = &mut self.rows[id.0 as usize];
            let first = bits.trailing_zeros() as u8;
            let again = bits & row.resident & !row.unread & !last_read(row.last_read_block);
            row.referenced |= row.hot && again != 0;
            row.hot |= again != 0;
            if row.unread & bits != 0 {
                let is_first = row.unread == row.resident | row.in_flight;
                row.unread &= !bits;
                self.outcomes.on_awaited(row, bits);
                let pace = self.paces.get_or_default(row.object);
                if is_first {
                    pace.came_in_use(row.due);
                }
                row.due = pace.due(0, 0);
            }
            row.begun &= !bits;
            row.last_read_block = first + (bits.count_ones() as u8 - 1);
        }
        self.mark_begun(extent, pins);
    }

    /// Keeps the blocks in which `extent` begins and ends, if unread readahead lies beyond them. A stream
    /// whose reads are no whole blocks comes back for the other part of such a block.
    fn mark_begun(&mut self, extent: Extent, pins: &Pins) {
        let Some(id) = pins.iter().next() else { return };
        let object = self.rows[id.0 as usize].object;
        let (first, last) = (extent.offset / BLOCK_BYTES, (extent.end() - 1) / BLOCK_BYTES);
        let before = (!extent.offset.is_multiple_of(BLOCK_BYTES)).then(|| (first, first.wrapping_sub(1)));
        let after = (!extent.end().is_multiple_of(BLOCK_BYTES)).then_some((last, last + 1));
        for (block, beyond) in before.into_iter().chain(after) {
            let row = |block: u64| self.index.get(object, block / ROW_BLOCKS);
            let Some(id) = row(beyond) else { continue };
            let is_ahead = self.rows[id.0 as usize].unread >> (beyond % ROW_BLOCKS) & 1 == 1;
            if let Some(id) = row(block).filter(|_| is_ahead) {
                let row = &mut self.rows[id.0 as usize];
                // Of a new version nothing was read.
                row.begun |= row.resident & !row.unread & 1 << (block % ROW_BLOCKS);
            }
        }
    }

    /// Appends where the bytes of `extent` are. Its rows are pinned and its blocks resident.
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
    pub(super) fn contiguous(&self, block: u32, bits: u64) -> u32 {
        let run = (bits >> block).trailing_ones().min(ROW_BLOCKS as u32 - block);
        let slots = &self.slots[block as usize..(block + run) as usize];
        slots.iter().zip(slots[0]..).take_while(|(slot, next)| *slot == next).count() as u32
    }
}

/// How many bits are set: mostly none, and counting takes a while.
pub(super) fn count_of(bits: u64) -> u64 {
    if bits == 0 { 0 } else { u64::from(bits.count_ones()) }
}

fn last_read(block: u8) -> u64 {
    if u64::from(block) < ROW_BLOCKS { 1 << block } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::super::{Reclaim, Room};
    use super::*;
    use crate::types::Time;

    const OBJECT: ObjectId = ObjectId(1);
    const BLOCKS: u64 = 2 * ROW_BLOCKS;

    /// The blocks that stay resident in a memory of three rows. Two rows are readahead, of which `extent` is
    /// read. Then waiting readers take the free row and as much as was read.
    fn kept(extent: Extent) -> Vec<u64> {
        let mut cache = Cache::new(3 * ROW_BYTES, Reclaim::Informed);
        let all = Extent::new(0, 2 * ROW_BYTES);
        cache.record_read(Time(0), OBJECT, Extent::default());
        cache.reserve(Time(0), OBJECT, all, Room::Readahead).expect("there is room");
        cache.arrive(OBJECT, all);
        let pins = cache.pin(OBJECT, extent);
        cache.mark_read(extent, &pins);
        cache.unpin(&pins);
        cache.reserve(Time(0), ObjectId(2), Extent::new(0, ROW_BYTES), Room::Demand).expect("there is room");
        let wanted = extent.len.div_ceil(BLOCK_BYTES) - 2;
        assert!(cache.make_room(Time(0), wanted, Room::Demand));
        (0..BLOCKS).filter(|block| cache.is_held(OBJECT, block * BLOCK_BYTES)).collect()
    }

    #[test]
    fn partial_blocks_at_the_edge_of_readahead_are_kept() {
        assert_eq!(kept(Extent::new(0, 10 * BLOCK_BYTES + 100)), (10..BLOCKS).collect::<Vec<_>>());
        assert_eq!(kept(Extent::new(0, ROW_BYTES - 100)), (ROW_BLOCKS - 1..BLOCKS).collect::<Vec<_>>());
        let backward = Extent::between(20 * BLOCK_BYTES - 100, 2 * ROW_BYTES);
        assert_eq!(kept(backward), (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn of_a_new_version_nothing_was_begun() {
        let mut cache = Cache::new(3 * ROW_BYTES, Reclaim::Informed);
        let (all, begun) = (Extent::new(0, ROW_BYTES), Extent::new(0, 100));
        let bring = |cache: &mut Cache| {
            cache.reserve(Time(0), OBJECT, all, Room::Readahead).expect("there is room");
            cache.arrive(OBJECT, all);
        };
        bring(&mut cache);
        let pins = cache.pin(OBJECT, begun);
        cache.invalidate(OBJECT, all);
        bring(&mut cache);
        cache.mark_read(begun, &pins);
        cache.unpin(&pins);
        assert!(cache.rows.iter().all(|row| row.begun & row.unread == 0));
    }

    #[test]
    fn partial_blocks_without_readahead_beyond_are_evicted() {
        let both = Extent::new(0, 2 * ROW_BYTES - 100);
        assert_eq!(kept(both), []);
    }
}
