//! The cache: the blocks in memory and in flight, and the memory budget. `eviction` makes room within the
//! budget.
//!
//! It is a table of rows: 64 blocks each, every state a bit. An index finds the row of an extent. Beside
//! them are a slot allocator and three eviction queues (`rows`).

mod audit;
mod discard;
mod eviction;
mod fill;
mod lookup;
mod outcomes;
mod queries;
mod resize;
mod rows;

use alloc::vec::Vec;

use crate::scatter::Scattered;
use crate::types::{BLOCK_BYTES, Extent, ObjectId, Time};

pub(crate) use eviction::{Reclaim, Room};
pub(crate) use fill::memory_of;
pub(crate) use lookup::Pins;
use rows::{Queue, Row, RowId};
pub(crate) use rows::{ROW_BYTES, SlotRun};

/// No window is meant to have a larger share of the memory.
const WINDOW_SHARE: u32 = 4;

/// The blocks of an extent by their state; the others are resident.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Residency {
    pub(crate) in_flight: u64,
    pub(crate) missing: u64,
    /// Resident or in flight, and read by nobody since they were fetched.
    pub(crate) unread: u64,
}

/// Invariants beside those of its parts:
///
/// * no row in the index is detached, and an empty one is pinned;
/// * slots in use = resident and in-flight blocks of all rows + blocks disowned by doomed fetches.
#[derive(Debug)]
pub(crate) struct Cache {
    reclaim: Reclaim,
    rows: Vec<Row>,
    vacant: Vec<RowId>,
    index: rows::Index,
    slots: rows::Slots,
    queues: rows::Queues,
    ghosts: eviction::Ghosts,
    /// How each object is read, since it was opened first.
    paces: Scattered<ObjectId, eviction::Pace>,
    /// Used and wasted bytes of readahead.
    outcomes: outcomes::Outcomes,
    /// The earliest time of the next search for readahead that no reader will come for.
    next_search: Time,
    /// Nor before this where it crowds the rest out.
    next_crowding: Time,
    /// The same for the search for read blocks in rows that hold readahead.
    next_sweep: Time,
    /// Slots whose blocks were invalidated while a fetch was filling them.
    disowned_count: u32,
    slots_used_peak: u32,
    /// Blocks that making room has evicted or passed over since the beginning.
    scanned_count: u64,
    /// Room was not found since this was set to false.
    pub(crate) is_short: bool,
    /// Unread extents evicted since [`Cache::take_lost`].
    lost: Vec<(ObjectId, Extent)>,
}

impl Cache {
    pub(crate) fn new(memory_bytes_max: u64, reclaim: Reclaim) -> Cache {
        let slots = (memory_bytes_max / BLOCK_BYTES) as u32;
        Cache {
            reclaim,
            rows: Vec::new(),
            vacant: Vec::new(),
            index: rows::Index::new(),
            slots: rows::Slots::new(slots),
            queues: rows::Queues::new(),
            ghosts: eviction::Ghosts::new(slots as usize / rows::ROW_BLOCKS as usize),
            paces: Scattered::default(),
            outcomes: outcomes::Outcomes::default(),
            next_search: Time(0),
            next_crowding: Time(0),
            next_sweep: Time(0),
            disowned_count: 0,
            slots_used_peak: 0,
            scanned_count: 0,
            is_short: false,
            lost: Vec::new(),
        }
    }

    pub(crate) fn used_bytes(&self) -> u64 {
        u64::from(self.slots.used_count()) * BLOCK_BYTES
    }

    pub(crate) fn used_bytes_peak(&self) -> u64 {
        u64::from(self.slots_used_peak) * BLOCK_BYTES
    }

    /// Bytes in flight, and bytes of readahead whose readers may come.
    pub(crate) fn unread_bytes_all(&self) -> u64 {
        (u64::from(self.slots.used_count()) - self.spare_count()) * BLOCK_BYTES
    }

    /// Resident blocks that hold no such readahead.
    fn spare_count(&self) -> u64 {
        [Queue::Read, Queue::Hot, Queue::Unread].map(|queue| self.queues.weight(queue)).iter().sum()
    }

    /// Somebody asks for `extent` of `object`.
    pub(crate) fn record_read(&mut self, now: Time, object: ObjectId, extent: Extent) {
        self.paces.get_or_default(object).record_read(now, extent);
    }

    /// Somebody will open `object`, and read it from its start.
    pub(crate) fn expect(&mut self, now: Time, object: ObjectId) {
        self.paces.get_or_default(object).expect(now);
        self.reclaim_unread(object);
    }

    /// Nothing about how `object` is read matters any more.
    pub(crate) fn forget_pace(&mut self, object: ObjectId) {
        self.paces.remove(object);
        self.outcomes.forget(object);
    }

    /// Blocks that making room has evicted or passed over since the beginning.
    pub(crate) fn scanned_count(&self) -> u64 {
        self.scanned_count
    }

    /// Blocks of the memory that hold nothing that was read again.
    pub(crate) fn fillable_count(&self) -> u64 {
        // Blocks beyond a budget that has fallen may be hot, and in use.
        u64::from(self.slots.count()).saturating_sub(self.queues.weight(Queue::Hot))
    }

    /// Unread extents evicted since the last call.
    pub(crate) fn take_lost(&mut self) -> Vec<(ObjectId, Extent)> {
        core::mem::take(&mut self.lost)
    }

    pub(crate) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    fn row_or_new(&mut self, object: ObjectId, index: u64) -> RowId {
        if let Some(id) = self.index.get(object, index) {
            return id;
        }
        let mut row = Row::new(object, index);
        row.hot = self.ghosts.remove(object, index);
        let id = match self.vacant.pop() {
            Some(id) => {
                self.rows[id.0 as usize] = row;
                id
            }
            None => {
                self.rows.push(row);
                RowId(self.rows.len() as u32 - 1)
            }
        };
        self.index.insert(object, index, id);
        id
    }

    /// Takes an empty, unpinned row out of the table.
    fn drop_if_empty(&mut self, id: RowId) {
        let row = &self.rows[id.0 as usize];
        if !row.is_empty() || row.pin_count > 0 {
            return;
        }
        if !row.detached {
            self.index.remove(row.object, row.index);
        }
        self.queues.unlink(&mut self.rows, id);
        self.vacant.push(id);
    }
}
