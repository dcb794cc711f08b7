//! The read loop: page by page, as every Linux of the time.

use forerun_policies::kernel::{PageCache, PageRead, Step as Order};

use super::config::Unplug;
use super::machine::Kernel;
use super::pages::{PAGE_BYTES, Pages};
use super::task::{Phase, TaskId};
use crate::source::{Extent, ObjectId, Step};

impl Kernel<'_> {
    /// Counts a read's pages by where they are when it is made: cached, in flight, or neither.
    pub(super) fn count_read(&mut self, step: &Step) {
        self.run.read_count += 1;
        self.run.read_bytes += step.extent.len;
        let mut offset = step.extent.offset;
        while offset < step.extent.end() {
            let page = Extent::new(offset / PAGE_BYTES * PAGE_BYTES, PAGE_BYTES);
            let bytes = page.intersection(&step.extent).len;
            match self.pages.find(step.object, offset / PAGE_BYTES) {
                None => self.run.miss_bytes += bytes,
                Some(slot) if self.pages.page(slot).is_coming => self.run.late_bytes += bytes,
                Some(_) => self.run.hit_bytes += bytes,
            }
            offset = page.end();
        }
    }

    /// Goes from page to page until one is not there yet.
    pub(super) fn walk(&mut self, id: TaskId) {
        loop {
            let task = &self.tasks[id];
            if task.page > task.last_page {
                return self.end(id);
            }
            let found = match task.phase {
                Phase::Look => self.look(id),
                _ => self.read_alone(id),
            };
            let Some(slot) = found else { return self.wait_for_memory(id) };
            if self.pages.page(slot).is_coming {
                return self.wait_for(id, slot);
            }
            self.use_page(id, slot);
            if self.config.page_cost_ns > 0 {
                return self.sleep(id, self.config.page_cost_ns);
            }
        }
    }

    /// Asks the algorithm, does what it says, and finds the page; reads it alone
    /// if nothing else brings it. None if there is no memory for it.
    fn look(&mut self, id: TaskId) -> Option<u32> {
        let read = self.question(id);
        let found = self.pages.find(read.object, read.page);
        if found.is_none() && self.pages.take_lost(read.object, read.page) {
            self.run.thrash_count += 1;
        }
        let view =
            View { pages: &self.pages, is_congested: self.read_flight_count >= self.config.congestion_count };
        self.algorithm.on_page(&read, &view, &mut self.orders);
        if !self.orders.is_empty() {
            self.obey(id, found);
        }
        match found.or_else(|| self.pages.find(read.object, read.page)) {
            None => {
                self.algorithm.on_unserved(&read);
                self.tasks[id].phase = Phase::Alone;
                self.read_alone(id)
            }
            found => found,
        }
    }

    fn question(&self, id: TaskId) -> PageRead {
        let task = &self.tasks[id];
        PageRead {
            object: task.step.object,
            reader: task.reader,
            page: task.page,
            rest: task.asked_end - task.page,
            is_first: task.page == task.first_page,
            page_count: self.page_count(task.step.object),
        }
    }

    fn page_count(&self, object: ObjectId) -> u64 {
        self.placed[object.0 as usize].size.div_ceil(PAGE_BYTES)
    }

    /// Does what the algorithm wants, while `found`, the reader's page, stays.
    fn obey(&mut self, id: TaskId, found: Option<u32>) {
        let task = self.tasks[id];
        let needed = task.page..task.last_page + 1;
        found.into_iter().for_each(|slot| self.pages.page_mut(slot).is_pinned = true);
        let submitted_count = self.request_count;
        let mut orders = std::mem::take(&mut self.orders);
        for order in orders.drain(..) {
            match order {
                Order::Fetch { start, count, .. } => {
                    let end = (start + count).min(self.page_count(task.step.object));
                    if !self.fetch(task.step.object, start..end, task.step.client, &needed) {
                        self.report_refused(task.step.object, start..end);
                    }
                }
                Order::Rescue { start, count } => {
                    (start..start + count).for_each(|page| self.pages.rescue(task.step.object, page));
                }
            }
        }
        self.orders = orders;
        found.into_iter().for_each(|slot| self.pages.page_mut(slot).is_pinned = false);
        let is_uptodate = found.is_some_and(|slot| !self.pages.page(slot).is_coming);
        let unplugs = match self.config.unplug {
            Unplug::WhenWaiting => false,
            Unplug::WhenUptodate => is_uptodate,
            Unplug::Always => true,
        };
        if unplugs && self.request_count > submitted_count {
            self.device.unplug(self.now);
        }
    }

    /// The pages that there was no memory for will not come.
    fn report_refused(&mut self, object: ObjectId, pages: std::ops::Range<u64>) {
        for page in pages {
            if self.pages.find(object, page).is_none() {
                self.algorithm.on_lost(object, page, 1);
            }
        }
    }

    fn read_alone(&mut self, id: TaskId) -> Option<u32> {
        let task = self.tasks[id];
        let (object, page) = (task.step.object, task.page);
        if self.pages.find(object, page).is_none() && self.take_page(object, page, true) {
            self.submit_read(object, page..page + 1, task.step.client, &(page..page + 1));
        }
        self.pages.find(object, page)
    }
}

/// The page cache as an algorithm sees it.
#[derive(Debug)]
struct View<'a> {
    pages: &'a Pages,
    is_congested: bool,
}

impl PageCache for View<'_> {
    fn is_cached(&self, object: ObjectId, page: u64) -> bool {
        self.pages.find(object, page).is_some()
    }

    fn is_inactive_and_read(&self, object: ObjectId, page: u64) -> bool {
        self.pages.is_inactive_and_used(object, page)
    }

    fn scanned_count(&self) -> u64 {
        self.pages.scanned_count()
    }

    fn fillable_count(&self) -> u64 {
        self.pages.fillable_count()
    }

    fn is_congested(&self) -> bool {
        self.is_congested
    }
}
