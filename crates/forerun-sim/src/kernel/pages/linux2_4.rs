//! Reclaim by age.
//!
//! A page that is read is active and young. A scan raises the age of used pages in steps of 3, and halves
//! that of others. Pages of age 0 go to the laundry. From there, once they are clean, they go to the
//! inactive list, where any allocation may take them. Dirty pages go round in the laundry until they are
//! written.
//= linux 2.4.9 mm/vmscan.c

use super::Pages;
use super::list::List;

const AGE_START: u8 = 2;
const AGE_STEP: u8 = 3;
const AGE_MAX: u8 = 64;
/// Scans of a list until every page must have come to age 0.
const ROUNDS: u64 = 8;
/// Pages that readahead lets reclaim look at for each page it wants freed.
const READAHEAD_EFFORT: u64 = 8;

impl Pages {
    pub(super) fn enter_2_4(&mut self, slot: u32) {
        self.lists.page(slot).age = AGE_START;
        self.lists.push(List::Active, slot);
    }

    pub(super) fn reclaim_2_4(&mut self, wanted: u64, is_demand: bool) {
        let page_count = self.lists.pages.len() as u64;
        let effort =
            if is_demand { ROUNDS * page_count } else { (READAHEAD_EFFORT * wanted).min(page_count) };
        for _ in 0..effort {
            if self.free_count() >= wanted {
                return;
            }
            self.scanned_count += 1;
            // A supply of inactive pages is kept, so that a page has a last chance.
            let clean = self.lists.len(List::Inactive);
            if clean == 0 || clean + self.lists.len(List::Laundry) < page_count / 8 {
                self.age_one();
            }
            self.launder_one();
            self.take_one();
        }
    }

    fn age_one(&mut self) {
        let Some(slot) = self.lists.tail(List::Active) else { return };
        let page = self.lists.page(slot);
        page.age = match std::mem::take(&mut page.is_referenced) {
            true => (page.age + AGE_STEP).min(AGE_MAX),
            false => page.age / 2,
        };
        let list = if page.age == 0 && !page.is_held() { List::Laundry } else { List::Active };
        self.lists.shift(list, slot);
    }

    fn launder_one(&mut self) {
        let Some(slot) = self.lists.tail(List::Laundry) else { return };
        if self.reactivate(slot) {
            return;
        }
        let page = self.lists.page(slot);
        let is_clean = !page.is_dirty && !page.is_held();
        self.laundry_count += u64::from(page.is_dirty && !page.is_written_back);
        self.lists.shift(if is_clean { List::Inactive } else { List::Laundry }, slot);
    }

    fn take_one(&mut self) {
        let Some(slot) = self.lists.tail(List::Inactive) else { return };
        if self.reactivate(slot) {
            return;
        }
        let page = self.lists.page(slot);
        if page.is_dirty || page.is_held() {
            self.lists.shift(List::Laundry, slot);
        } else {
            self.evict(slot);
        }
    }

    /// Used again since it was put aside: it is active again.
    fn reactivate(&mut self, slot: u32) -> bool {
        let page = self.lists.page(slot);
        let is_used = std::mem::take(&mut page.is_referenced);
        if is_used {
            page.age = AGE_START + AGE_STEP;
            self.lists.shift(List::Active, slot);
        }
        is_used
    }
}
