//! Blocks coming in: reserved, arriving, given up.

use alloc::vec::Vec;

use crate::types::{BLOCK_BYTES, Extent, MemoryRange, ObjectId, Time};

use super::rows::{mask, rows_of};
use super::{Cache, Reclaim, Room, SlotRun};

impl Cache {
    /// Reserves slots for the blocks of `extent`, all of which are missing, and marks them as in flight.
    /// `None` if there is no room of that kind; the cache is then unchanged.
    pub(crate) fn reserve(
        &mut self,
        now: Time,
        object: ObjectId,
        extent: Extent,
        room: Room,
    ) -> Option<Vec<SlotRun>> {
        let count = extent.len.div_ceil(BLOCK_BYTES);
        if !self.make_room(now, count, room) {
            return None;
        }
        let reach = self.window_bytes_max();
        let mut runs: Vec<SlotRun> = Vec::new();
        for (index, bits) in rows_of(extent) {
            let id = self.row_or_new(object, index);
            let mut left = bits;
            while left != 0 {
                let run = self.slots.allocate(left.count_ones())?;
                // The blocks of one extent lie side by side.
                let block = left.trailing_zeros();
                let places = block as usize..(block + run.count) as usize;
                self.rows[id.0 as usize].slots[places]
                    .iter_mut()
                    .zip(run.first..)
                    .for_each(|(place, slot)| *place = slot);
                left &= !mask(block, run.count);
                push_run(&mut runs, run);
            }
            let row = &mut self.rows[id.0 as usize];
            debug_assert_eq!((row.resident | row.in_flight) & bits, 0, "a block fetched twice");
            row.in_flight |= bits;
            row.unread |= bits;
            row.released = self.reclaim == Reclaim::TwoLists;
            row.due = self.paces.get(object).map_or(0, |pace| pace.due(row.offset(), reach));
            self.queues.refresh(&mut self.rows, id);
        }
        self.slots_used_peak = self.slots_used_peak.max(self.slots.used_count());
        Some(runs)
    }

    /// The blocks of `extent`, in flight until now, are in memory.
    pub(crate) fn arrive(&mut self, object: ObjectId, extent: Extent) {
        for (_, bits, id) in self.index.rows(object, extent) {
            let Some(id) = id else { continue };
            let row = &mut self.rows[id.0 as usize];
            debug_assert_eq!(row.in_flight & bits, bits, "arrived without being in flight");
            row.in_flight &= !bits;
            row.resident |= bits;
            self.queues.refresh(&mut self.rows, id);
        }
    }

    /// The blocks of `extent`, in flight until now, will not come.
    pub(crate) fn give_up(&mut self, object: ObjectId, extent: Extent) {
        for (index, bits) in rows_of(extent) {
            let Some(id) = self.index.get(object, index) else { continue };
            let row = &mut self.rows[id.0 as usize];
            debug_assert_eq!(row.in_flight & bits, bits, "given up without being in flight");
            row.in_flight &= !bits;
            row.unread &= !bits;
            self.outcomes.close(row, bits);
            let mut left = bits;
            while left != 0 {
                self.slots.give_one(row.slots[left.trailing_zeros() as usize]);
                left &= left - 1;
            }
            self.queues.refresh(&mut self.rows, id);
            self.drop_if_empty(id);
        }
    }

    /// The blocks of `extent` leave the cache while their fetch still fills
    /// their slots; [`Cache::give_disowned`] takes those back when it has ended.
    pub(crate) fn disown(&mut self, object: ObjectId, extent: Extent) {
        for (index, bits) in rows_of(extent) {
            let Some(id) = self.index.get(object, index) else { continue };
            let row = &mut self.rows[id.0 as usize];
            debug_assert_eq!(row.in_flight & bits, bits, "disowned without being in flight");
            row.in_flight &= !bits;
            row.unread &= !bits;
            self.outcomes.close(row, bits);
            self.disowned_count += bits.count_ones();
            self.queues.refresh(&mut self.rows, id);
            self.drop_if_empty(id);
        }
    }

    /// Reserves as many slots as `extent` has blocks, for a hedged fetch of the same bytes. The slots are
    /// disowned. `None` if there is no room of that kind.
    pub(crate) fn reserve_spare(&mut self, now: Time, extent: Extent, room: Room) -> Option<Vec<SlotRun>> {
        let mut left = extent.len.div_ceil(BLOCK_BYTES) as u32;
        if !self.make_room(now, u64::from(left), room) {
            return None;
        }
        self.disowned_count += left;
        let mut runs: Vec<SlotRun> = Vec::new();
        while left > 0 {
            let run = self.slots.allocate(left)?;
            left -= run.count;
            push_run(&mut runs, run);
        }
        self.slots_used_peak = self.slots_used_peak.max(self.slots.used_count());
        Some(runs)
    }

    /// The fetch that fills the disowned slots of `runs` now brings the blocks of `extent`, all of which are
    /// in flight. Their former slots are disowned.
    pub(crate) fn exchange(&mut self, object: ObjectId, extent: Extent, runs: &[SlotRun]) {
        let mut slots = runs.iter().flat_map(|run| run.first..run.first + run.count);
        for (index, bits) in rows_of(extent) {
            let Some(id) = self.index.get(object, index) else { continue };
            let row = &mut self.rows[id.0 as usize];
            debug_assert_eq!(row.in_flight & bits, bits, "exchanged without being in flight");
            let mut left = bits;
            while left != 0
                && let Some(slot) = slots.next()
            {
                row.slots[left.trailing_zeros() as usize] = slot;
                left &= left - 1;
            }
        }
    }

    /// Takes back the slots of disowned blocks: those of `runs` past the first
    /// `skip` blocks.
    pub(crate) fn give_disowned(&mut self, runs: &[SlotRun], skip: u64) {
        let mut skip = skip as u32;
        for run in runs {
            let skipped = skip.min(run.count);
            skip -= skipped;
            for slot in run.first + skipped..run.first + run.count {
                self.slots.give_one(slot);
                self.disowned_count -= 1;
            }
        }
    }
}

/// The bytes of `runs`, of which the last is cut so that all make `len`.
pub(crate) fn memory_of(runs: &[SlotRun], mut len: u64) -> Vec<MemoryRange> {
    let mut memory = Vec::with_capacity(runs.len());
    for run in runs {
        let bytes = (u64::from(run.count) * BLOCK_BYTES).min(len);
        memory.push(MemoryRange { start: u64::from(run.first) * BLOCK_BYTES, len: bytes });
        len -= bytes;
    }
    memory
}

fn push_run(runs: &mut Vec<SlotRun>, run: SlotRun) {
    match runs.last_mut() {
        Some(last) if last.first + last.count == run.first => last.count += run.count,
        _ => runs.push(run),
    }
}
