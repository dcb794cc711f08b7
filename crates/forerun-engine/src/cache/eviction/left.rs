//! Readahead that no reader will come for: finds it, and says when it is evicted.
//!
//! It mostly stays longer than blocks that were read, since a reader may still come. But it takes the place
//! of other readahead, which has a share of the memory. If it fills nearly all of that share, it would stay
//! for good and nothing more would be bet. It is then evicted first, once its reader is past it by the
//! longest window.

use super::evict::{DEMAND_SHARE, Room, SCAN_MAX, SEARCH_NS};
use super::pace::Pace;
use crate::ablation::Rule;
use crate::cache::rows::{Queue, Queues, RowId};
use crate::cache::{Cache, Reclaim, WINDOW_SHARE};
use crate::types::{BLOCK_BYTES, Time};

/// More than such a share of the memory is not read ahead on a guess.
const UNREAD_SHARE: u32 = 2;

impl Cache {
    /// Evicts a row of unread readahead: one that no reader will come for or, for a waiting reader, the
    /// oldest.
    pub(crate) fn evict_unread(&mut self, now: Time, room: Room) -> bool {
        let left = if now < self.next_search {
            None
        } else {
            self.find_left(|pace, due| Rule::Pace.is_off() || pace.is_over(now, due))
        };
        let oldest = || self.unread_rows().find(|id| self.rows[id.0 as usize].is_idle());
        let found = left.or_else(|| if room == Room::Demand { oldest() } else { None });
        if found.is_none() {
            self.next_search = self.next_search.max(Time(now.0 + SEARCH_NS));
        }
        self.free_row(found)
    }

    /// Evicts a row that no reader will come for, if such rows leave hardly any room for others.
    pub(crate) fn evict_crowding(&mut self, now: Time) -> bool {
        if Rule::Crowding.is_off() || !self.is_crowded() || now < self.next_crowding {
            return false;
        }
        let bytes = self.window_bytes_max();
        // A reader that waits for a slow fetch has not gone.
        let found = self.find_left(|pace, due| pace.is_past(due, bytes));
        if found.is_none() {
            self.next_crowding = Time(now.0 + SEARCH_NS);
        }
        self.free_row(found)
    }

    /// The share of the memory that one window may have.
    pub(crate) fn window_bytes_max(&self) -> u64 {
        u64::from(self.slots.count() / WINDOW_SHARE) * BLOCK_BYTES
    }

    /// The part of the half of the memory for unread readahead that is still free.
    pub(crate) fn spare_bytes(&self) -> u64 {
        let all = u64::from(self.slots.count() / UNREAD_SHARE) * BLOCK_BYTES;
        all.saturating_sub(self.unread_bytes_all())
    }

    /// Whether that is nearly nothing.
    fn is_crowded(&self) -> bool {
        let least = u64::from(self.slots.count() / DEMAND_SHARE) * BLOCK_BYTES;
        self.reclaim == Reclaim::Informed && self.spare_bytes() <= least
    }

    /// Finds a row of readahead that no reader will come for, by a bounded search. `is_left` judges by the
    /// pace of the object's readers and by when the row was due.
    fn find_left(&self, is_left: impl Fn(&Pace, u64) -> bool) -> Option<RowId> {
        self.unread_rows().take(SCAN_MAX).find(|id| {
            let row = &self.rows[id.0 as usize];
            row.is_idle() && self.paces.get(row.object).is_none_or(|pace| is_left(pace, row.due))
        })
    }

    pub(crate) fn unread_rows(&self) -> impl Iterator<Item = RowId> {
        core::iter::successors(self.queues.oldest(Queue::Unread), |id| Queues::after(&self.rows, *id))
    }

    /// Frees the row, if there is one. Whether it did.
    fn free_row(&mut self, found: Option<RowId>) -> bool {
        if let Some(id) = found {
            let resident = self.rows[id.0 as usize].resident;
            self.free_blocks(id, resident);
        }
        found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::ROW_BYTES;
    use crate::types::{Extent, ObjectId};

    const OBJECT: ObjectId = ObjectId(1);
    const ROWS: u64 = 64;

    /// A memory of 64 rows, of which `count` hold readahead that was passed by all the rest of it, which
    /// was read.
    fn passed(count: u64) -> Cache {
        let mut cache = Cache::new(ROWS * ROW_BYTES, Reclaim::Informed);
        let bring = |cache: &mut Cache, index: u64| {
            let extent = Extent::new(index * ROW_BYTES, ROW_BYTES);
            cache.reserve(Time(0), OBJECT, extent, Room::Demand).expect("there is room");
            cache.arrive(OBJECT, extent);
            extent
        };
        cache.record_read(Time(0), OBJECT, Extent::default());
        for index in 0..ROWS {
            let extent = bring(&mut cache, index);
            if index < count {
                continue;
            }
            cache.record_read(Time(0), OBJECT, extent);
            let pins = cache.pin(OBJECT, extent);
            cache.mark_read(extent, &pins);
            cache.unpin(&pins);
        }
        cache
    }

    /// Which goes first, in rows.
    fn first_to_go(mut cache: Cache) -> Option<u64> {
        assert!(cache.make_room(Time(0), 1, Room::Readahead));
        (0..ROWS).find(|index| !cache.is_held(OBJECT, index * ROW_BYTES))
    }

    #[test]
    fn abandoned_readahead_is_evicted_first_when_it_crowds_out_bets() {
        assert_eq!(first_to_go(passed(27)), Some(27), "there is room for more");
        assert_eq!(first_to_go(passed(28)), Some(0));
    }

    #[test]
    fn it_waits_until_as_much_was_read_as_a_window_may_have() {
        assert_eq!(first_to_go(passed(40)), Some(0));
        assert_eq!(first_to_go(passed(48)), Some(48), "a quarter of the memory was read since");
    }
}
