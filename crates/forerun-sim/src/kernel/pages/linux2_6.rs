//! Reclaim with two lists.
//!
//! A page that is read enters the inactive list, and is evicted at its tail. If it is used a second time
//! before that, it moves to the active list. That list gives pages back while it is the longer one.
//= linux 2.6.28 mm/vmscan.c

use super::Pages;
use super::list::List;

/// Pages that readahead lets reclaim look at for each page it wants freed.
const READAHEAD_EFFORT: u64 = 4;

impl Pages {
    pub(super) fn touch_2_6(&mut self, slot: u32) {
        let page = self.lists.page(slot);
        if page.list == List::Inactive && page.is_referenced {
            page.is_referenced = false;
            self.lists.shift(List::Active, slot);
        } else {
            page.is_referenced = true;
        }
    }

    pub(super) fn reclaim_2_6(&mut self, wanted: u64, is_demand: bool) {
        let page_count = self.lists.pages.len() as u64;
        let effort = if is_demand { 2 * page_count } else { (READAHEAD_EFFORT * wanted).min(page_count) };
        for scanned in 0..effort {
            if self.free_count() >= wanted {
                return;
            }
            self.deactivate(scanned > page_count);
            let Some(slot) = self.lists.tail(List::Inactive) else { return };
            self.scanned_count += 1;
            let page = self.lists.page(slot);
            if !page.is_held() && !page.is_dirty {
                self.evict(slot);
                continue;
            }
            self.laundry_count += u64::from(page.is_dirty && !page.is_written_back);
            self.lists.shift(List::Inactive, slot);
        }
    }

    fn deactivate(&mut self, is_forced: bool) {
        if !is_forced && self.lists.len(List::Active) <= self.lists.len(List::Inactive) {
            return;
        }
        if let Some(slot) = self.lists.tail(List::Active) {
            self.lists.page(slot).is_referenced = false;
            self.lists.shift(List::Inactive, slot);
        }
    }
}
