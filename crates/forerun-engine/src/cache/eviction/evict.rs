//! Making room. Eviction order: blocks read once, then blocks read again. Unread readahead goes only for a
//! reader that waits. Under the rules of other software, readahead is evicted like blocks that were read.

use alloc::vec::Vec;

use crate::cache::Cache;
use crate::cache::rows::{Queue, RowId, SlotRun, mask};
use crate::types::{BLOCK_BYTES, Extent, ObjectId, Time};

/// The order in which blocks are evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reclaim {
    /// The cache knows which readahead still has a reader.
    Informed,
    /// Two lists, as in page caches. Blocks leave in the order in which they came, read or not. Blocks that
    /// were read again stay, as long as they are not most of the memory.
    TwoLists,
}

/// The purpose for which room is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// A reader waits: anything that nobody is copying or filling may go.
    Demand,
    /// Readahead: never at the cost of other readahead whose reader still approaches it.
    Readahead,
}

/// This share of the slots is left for readers that wait.
pub(crate) const DEMAND_SHARE: u32 = 16;

/// Rows looked at in the unread queue before readahead goes without.
pub(crate) const SCAN_MAX: usize = 64;
/// The pause after a search that found nothing.
pub(crate) const SEARCH_NS: u64 = 1_000_000;

impl Cache {
    /// Frees slots until `count` are free; says whether that worked.
    pub(crate) fn make_room(&mut self, now: Time, count: u64, room: Room) -> bool {
        while u64::from(self.slots.free_count()) < count || !self.leaves_enough(count, room) {
            let free_before = self.slots.free_count();
            let evicted = if self.leaves_enough(count, room) {
                self.evict_crowding(now)
                    || self.evict_read()
                    || self.evict_behind(now, room)
                    || self.evict_unread(now, room)
            } else {
                self.evict_behind(now, room) || self.evict_unread(now, room)
            };
            if !evicted {
                self.is_short = true;
                return false;
            }
            self.scanned_count += u64::from(self.slots.free_count() - free_before);
        }
        true
    }

    /// Whether waiting readers will find room without unread readahead once `count` slots are taken.
    fn leaves_enough(&self, count: u64, room: Room) -> bool {
        let left = u64::from(self.slots.free_count()) + self.spare_count();
        let any_may_go = room == Room::Demand || self.reclaim == Reclaim::TwoLists;
        any_may_go || left >= count + u64::from(self.slots.count() / DEMAND_SHARE)
    }

    /// Resident blocks of `extent` that were not read again become the last of their kind to be evicted.
    pub(crate) fn rescue(&mut self, object: ObjectId, extent: Extent) {
        for (_, _, id) in self.index.rows(object, extent) {
            if let Some(id) = id
                && self.rows[id.0 as usize].queue == Queue::Read
            {
                self.queues.requeue(&mut self.rows, id);
            }
        }
    }

    /// Frees the slots of `gone`, a part of the row's resident blocks.
    pub(crate) fn free_blocks(&mut self, id: RowId, gone: u64) {
        let row = &mut self.rows[id.0 as usize];
        let wasted = gone & row.unread;
        self.outcomes.on_gone(row, gone);
        row.resident &= !gone;
        row.unread &= !gone;
        row.begun &= !gone;
        let mut left = gone;
        while left != 0 {
            let block = left.trailing_zeros();
            let count = row.contiguous(block, left);
            self.slots.give_run(SlotRun { first: row.slots[block as usize], count });
            left &= !mask(block, count);
        }
        let (object, offset) = (row.object, row.offset());
        self.record_lost(object, offset, wasted);
        self.queues.refresh(&mut self.rows, id);
        self.drop_if_empty(id);
    }

    /// Evicts one row of blocks that were read. Rows that were read once go first, unless rows that were
    /// read again hold more than three quarters of all read blocks.
    fn evict_read(&mut self) -> bool {
        let (read, hot) = (self.queues.weight(Queue::Read), self.queues.weight(Queue::Hot));
        let order = if hot > 3 * read { [Queue::Hot, Queue::Read] } else { [Queue::Read, Queue::Hot] };
        let Some(id) = order.into_iter().find_map(|queue| self.oldest_idle(queue)) else { return false };
        let row = &self.rows[id.0 as usize];
        if row.unread == 0 && self.reclaim == Reclaim::Informed {
            self.ghosts.add(row.object, row.index);
        }
        self.free_blocks(id, row.resident);
        true
    }

    /// The row of a queue that waited longest, leaving out rows that somebody is
    /// copying from and passing once over those that were read again.
    fn oldest_idle(&mut self, queue: Queue) -> Option<RowId> {
        for _ in 0..2 * self.queues.count(queue) {
            let id = self.queues.oldest(queue)?;
            let row = &mut self.rows[id.0 as usize];
            if row.pin_count == 0 && !row.referenced {
                return Some(id);
            }
            row.referenced = false;
            self.scanned_count += u64::from(row.resident.count_ones());
            self.queues.requeue(&mut self.rows, id);
        }
        None
    }

    /// Evicts the read blocks of a row that also holds unread ones. If such blocks hold much memory, it
    /// evicts those of all such rows: many streams may have their rows before the first of them.
    fn evict_behind(&mut self, now: Time, room: Room) -> bool {
        let is_behind = |id: &RowId| {
            let row = &self.rows[id.0 as usize];
            row.pin_count == 0 && row.spare() != 0
        };
        let is_much = self.queues.weight(Queue::Unread) >= u64::from(self.slots.count() / DEMAND_SHARE);
        let found: Vec<RowId> = if self.queues.weight(Queue::Unread) == 0 {
            Vec::new()
        } else if is_much && now >= self.next_sweep {
            let mut left = self.slots.count() / DEMAND_SHARE;
            let is_wanted = |id: &RowId| {
                let is_wanted = left > 0;
                left = left.saturating_sub(self.rows[id.0 as usize].spare().count_ones());
                is_wanted
            };
            self.unread_rows().filter(is_behind).take_while(is_wanted).collect()
        } else {
            let scan_max = if room == Room::Demand { usize::MAX } else { SCAN_MAX };
            self.unread_rows().take(scan_max).find(is_behind).into_iter().collect()
        };
        for id in &found {
            let spare = self.rows[id.0 as usize].spare();
            self.free_blocks(*id, spare);
        }
        if found.is_empty() {
            self.next_sweep = Time(now.0 + SEARCH_NS);
        }
        !found.is_empty()
    }

    fn record_lost(&mut self, object: ObjectId, offset: u64, mut bits: u64) {
        while bits != 0 {
            let start = bits.trailing_zeros();
            let count = (bits >> start).trailing_ones();
            bits &= !mask(start, count);
            let extent = Extent::new(offset + u64::from(start) * BLOCK_BYTES, u64::from(count) * BLOCK_BYTES);
            match self.lost.last_mut() {
                Some((owner, last)) if *owner == object && last.end() == extent.offset => {
                    last.len += extent.len
                }
                _ => self.lost.push((object, extent)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::ROW_BYTES;

    const ROW: u64 = ROW_BYTES;

    /// A cache of three rows, of which each of the first three of an object is there.
    fn full(reclaim: Reclaim) -> Cache {
        let mut cache = Cache::new(3 * ROW, reclaim);
        cache.record_read(Time(0), ObjectId(1), Extent::default());
        for index in 0..3 {
            let extent = Extent::new(index * ROW, ROW);
            cache.reserve(Time(0), ObjectId(1), extent, Room::Demand).expect("there is room");
            cache.arrive(ObjectId(1), extent);
        }
        cache
    }

    fn held(cache: &Cache) -> [bool; 3] {
        [0, 1, 2].map(|index| cache.is_held(ObjectId(1), index * ROW))
    }

    #[test]
    fn the_first_to_come_is_the_first_to_go() {
        let mut cache = full(Reclaim::TwoLists);
        assert!(cache.make_room(Time(0), 1, Room::Readahead));
        assert_eq!(held(&cache), [false, true, true], "although nobody has read it");
        let mut cache = full(Reclaim::Informed);
        assert!(!cache.make_room(Time(0), 1, Room::Readahead), "its reader may come");
    }

    #[test]
    fn rescued_blocks_are_evicted_last() {
        let mut cache = full(Reclaim::TwoLists);
        cache.rescue(ObjectId(1), Extent::new(0, 4096));
        assert!(cache.make_room(Time(0), 1, Room::Readahead));
        assert_eq!(held(&cache), [true, false, true]);
    }
}
