//! Writes make pages dirty; the kernel writes them later, and lets writers wait
//! when they are too far ahead of it.
//!
//! A write of a part of a page does not read the rest of it first.

use super::machine::Kernel;
use super::pages::PAGE_BYTES;
use super::task::TaskId;
use crate::device::{Direction, Time};

impl Kernel<'_> {
    /// Makes page after page dirty until there are too many.
    pub(super) fn write(&mut self, id: TaskId) {
        loop {
            let task = self.tasks[id];
            let (object, page) = (task.step.object, task.page);
            if page > task.last_page {
                return self.end(id);
            }
            if self.dirty.count() + self.written_back_count >= self.throttle_count() {
                self.tasks[id].waiting_since = self.now;
                self.throttled.push(id);
                return self.write_back();
            }
            let known = self.pages.find(object, page);
            let found = known.or_else(|| self.pages.allocate(object, page, true));
            self.report_evicted();
            let Some(slot) = found else { return self.wait_for_memory(id) };
            if self.pages.page(slot).is_coming {
                return self.wait_for(id, slot);
            }
            self.pages.page_mut(slot).is_dirty = true;
            self.dirty.insert(self.now, object, page);
            self.use_page(id, slot);
            self.write_back();
            if self.config.page_cost_ns > 0 {
                return self.sleep(id, self.config.page_cost_ns);
            }
        }
    }

    /// Starts writing as many dirty pages as there is reason to.
    pub(super) fn write_back(&mut self) {
        let count_max = (self.config.request_bytes_max / PAGE_BYTES).max(1);
        let mut has_submitted = false;
        while self.write_flight_count < self.config.writeback.request_count_max.max(1)
            && (self.laundry_count > 0 || self.dirty.count() > self.background_count())
        {
            let Some(run) = self.dirty.take_run(count_max) else {
                self.laundry_count = 0;
                break;
            };
            for page in run.start..run.start + run.count {
                let Some(slot) = self.pages.find(run.object, page) else { continue };
                let page = self.pages.page_mut(slot);
                page.is_dirty = false;
                page.is_written_back = true;
            }
            self.written_back_count += run.count;
            self.laundry_count = self.laundry_count.saturating_sub(run.count);
            let issuer = self.run.clients.len() as u32;
            let pages = run.start..run.start + run.count;
            self.submit(run.object, pages, Direction::Write, issuer, false);
            self.write_flight_count += 1;
            has_submitted = true;
        }
        if has_submitted {
            self.device.unplug(self.now);
        }
        let interval = self.config.writeback.interval_ns.max(1);
        let next = Time((self.now.0 / interval + 1) * interval);
        self.flush_time = (self.dirty.count() > 0).then(|| self.flush_time.unwrap_or(next));
    }

    /// As many pages are written as belong to files that have been dirty for too long.
    pub(super) fn flush_expired(&mut self) {
        self.flush_time = None;
        if let Some(since) = self.now.0.checked_sub(self.config.writeback.expiry_ns) {
            self.laundry_count = self.laundry_count.max(self.dirty.count_since(Time(since)));
        }
        self.write_back();
    }

    /// Lets throttled writers go on once there is room.
    pub(super) fn release_writers(&mut self) {
        if self.dirty.count() + self.written_back_count < self.throttle_count() {
            let throttled = std::mem::take(&mut self.throttled);
            throttled.into_iter().for_each(|task| self.resume(task));
        }
    }

    fn throttle_count(&self) -> u64 {
        (self.config.pages_max * self.config.writeback.throttle_percent / 100).max(1)
    }

    /// Always below the other one: writers that wait, wait for something.
    fn background_count(&self) -> u64 {
        let count = self.config.pages_max * self.config.writeback.background_percent / 100;
        count.min(self.throttle_count() - 1)
    }
}
