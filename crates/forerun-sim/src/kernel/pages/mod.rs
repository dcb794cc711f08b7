//! The page cache: what is in memory, and what leaves it first.

mod linux2_4;
mod linux2_6;
mod list;
mod table;

use super::config::{KernelConfig, Reclaim};
use crate::source::ObjectId;
use list::{List, Lists};
use table::Table;

pub(crate) use list::Page;

/// Bytes of a page.
pub(crate) const PAGE_BYTES: u64 = 4096;

/// A page that has left the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evicted {
    pub(crate) object: ObjectId,
    pub(crate) index: u64,
    /// Somebody had read or written it.
    pub(crate) was_used: bool,
}

/// The page cache. Every call is O(1) but for reclaim, which pays for the pages
/// it frees.
#[derive(Debug)]
pub(crate) struct Pages {
    reclaim: Reclaim,
    pages_max: u64,
    /// Fewer free pages than `.0` make reclaim free some until there are `.1`.
    watermarks: (u64, u64),
    table: Table,
    lists: Lists,
    free: Vec<u32>,
    /// Pages that reclaim has looked at.
    scanned_count: u64,
    /// Dirty pages that reclaim came across since somebody asked.
    laundry_count: u64,
    evicted: Vec<Evicted>,
    used_count_peak: u64,
}

impl Pages {
    pub(crate) fn new(config: &KernelConfig) -> Pages {
        let pages_max = config.pages_max.max(16);
        // The square root of 16 times the memory, all in KiB: 5 MiB for 2 GiB.
        //= linux 2.6.10 mm/page_alloc.c
        let pages_min = (pages_max * 4 * 16).isqrt() / 4;
        Pages {
            reclaim: config.reclaim,
            pages_max,
            watermarks: (pages_min * 5 / 4, pages_min * 3 / 2),
            table: Table::default(),
            lists: Lists::new(),
            free: Vec::new(),
            scanned_count: 0,
            laundry_count: 0,
            evicted: Vec::new(),
            used_count_peak: 0,
        }
    }

    pub(crate) fn find(&self, object: ObjectId, index: u64) -> Option<u32> {
        self.table.get(object, index)
    }

    pub(crate) fn page(&self, slot: u32) -> &Page {
        &self.lists.pages[slot as usize]
    }

    pub(crate) fn page_mut(&mut self, slot: u32) -> &mut Page {
        self.lists.page(slot)
    }

    /// A slot for a page that is not in the cache. Readahead (`is_demand` false)
    /// gives up early; a reader is refused only if every page is held or dirty.
    pub(crate) fn allocate(&mut self, object: ObjectId, index: u64, is_demand: bool) -> Option<u32> {
        if self.free_count() <= self.watermarks.0 {
            self.free_some(is_demand);
        }
        let slot = self.free_slot()?;
        *self.lists.page(slot) = Page::new(object, index);
        self.table.insert(object, index, slot);
        match self.reclaim {
            Reclaim::Linux2_4 => self.enter_2_4(slot),
            Reclaim::Linux2_6 => self.lists.push(List::Inactive, slot),
        }
        self.used_count_peak = self.used_count_peak.max(self.pages_max - self.free_count());
        Some(slot)
    }

    /// A client used the page; `is_new` if it did not use it just before.
    pub(crate) fn touch(&mut self, slot: u32, is_new: bool) {
        let was_used = std::mem::replace(&mut self.lists.page(slot).is_used, true);
        if !is_new {
            return;
        }
        match self.reclaim {
            // The first use is what it was read for.
            Reclaim::Linux2_4 => self.lists.page(slot).is_referenced |= was_used,
            Reclaim::Linux2_6 => self.touch_2_6(slot),
        }
    }

    /// Makes an inactive page the last to be reclaimed.
    pub(crate) fn rescue(&mut self, object: ObjectId, index: u64) {
        if let Some(slot) = self.find(object, index)
            && self.page(slot).list == List::Inactive
        {
            self.lists.shift(List::Inactive, slot);
        }
    }

    /// Whether the page had been evicted before anybody used it; says so once.
    pub(crate) fn take_lost(&mut self, object: ObjectId, index: u64) -> bool {
        self.table.take_lost(object, index)
    }

    /// The pages that were evicted since the last call.
    pub(crate) fn take_evicted(&mut self) -> Vec<Evicted> {
        std::mem::take(&mut self.evicted)
    }

    /// Gives the memory of the list back.
    pub(crate) fn reuse(&mut self, mut evicted: Vec<Evicted>) {
        evicted.clear();
        self.evicted = evicted;
    }

    /// How many dirty pages reclaim has met since the last call.
    pub(crate) fn take_laundry(&mut self) -> u64 {
        std::mem::take(&mut self.laundry_count)
    }

    pub(crate) fn is_inactive_and_used(&self, object: ObjectId, index: u64) -> bool {
        self.find(object, index).is_some_and(|slot| {
            let page = self.page(slot);
            page.is_used && page.list != List::Active
        })
    }

    pub(crate) fn scanned_count(&self) -> u64 {
        self.scanned_count
    }

    /// Inactive and free pages, less the reserve.
    pub(crate) fn fillable_count(&self) -> u64 {
        let inactive = self.lists.len(List::Inactive) + self.lists.len(List::Laundry);
        (inactive + self.free_count()).saturating_sub(self.watermarks.0)
    }

    pub(crate) fn bytes_peak(&self) -> u64 {
        self.used_count_peak * PAGE_BYTES
    }

    /// Pages that nobody used, in no order.
    pub(crate) fn unused(&self) -> impl Iterator<Item = &Page> {
        let used = |page: &&Page| page.is_used || self.find(page.object, page.index).is_none();
        self.lists.pages.iter().filter(move |page| !used(page))
    }

    fn free_count(&self) -> u64 {
        self.pages_max - self.lists.pages.len() as u64 + self.free.len() as u64
    }

    fn free_slot(&mut self) -> Option<u32> {
        if let Some(slot) = self.free.pop() {
            return Some(slot);
        }
        let slot = self.lists.pages.len() as u32;
        (u64::from(slot) < self.pages_max).then(|| {
            self.lists.pages.push(Page::new(ObjectId(0), 0));
            slot
        })
    }

    fn free_some(&mut self, is_demand: bool) {
        let wanted = self.watermarks.1.max(1);
        match self.reclaim {
            Reclaim::Linux2_4 => self.reclaim_2_4(wanted, is_demand),
            Reclaim::Linux2_6 => self.reclaim_2_6(wanted, is_demand),
        }
    }

    fn evict(&mut self, slot: u32) {
        self.lists.remove(slot);
        let page = self.lists.page(slot);
        let evicted = Evicted { object: page.object, index: page.index, was_used: page.is_used };
        self.table.remove(evicted.object, evicted.index, !evicted.was_used);
        self.evicted.push(evicted);
        self.free.push(slot);
    }
}

#[cfg(test)]
mod tests;
