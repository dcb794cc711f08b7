//! Requests to the device, from the pages they are for to their completion.

use std::ops::Range;

use super::machine::Kernel;
use super::pages::PAGE_BYTES;
use super::task::TaskId;
use crate::device::{Direction, Notice, Request, RequestId};
use crate::source::ObjectId;

/// A request under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    object: ObjectId,
    start: u64,
    count: u64,
    /// Pages that have arrived.
    arrived_count: u64,
    direction: Direction,
}

impl Kernel<'_> {
    /// Bytes of `count` pages, less what is past the object's end.
    pub(super) fn bytes_of(&self, object: ObjectId, start: u64, count: u64) -> u64 {
        let size = self.placed[object.0 as usize].size;
        ((start + count) * PAGE_BYTES).min(size).saturating_sub(start * PAGE_BYTES)
    }

    /// Handles the device's news up to now.
    pub(super) fn listen(&mut self) {
        let mut notices = std::mem::take(&mut self.notices);
        self.device.advance(self.now, &mut notices);
        for notice in notices.drain(..) {
            match notice {
                Notice::Progress { id, bytes } => self.arrive(id, bytes / PAGE_BYTES),
                Notice::Done { id } => self.complete(id),
            }
        }
        self.notices = notices;
    }

    /// Reads what is not cached of `pages`, for `issuer`, who waits for `needed`.
    /// False if there was no memory for all of it.
    pub(super) fn fetch(
        &mut self,
        object: ObjectId,
        pages: Range<u64>,
        issuer: u32,
        needed: &Range<u64>,
    ) -> bool {
        let count_max = (self.config.request_bytes_max / PAGE_BYTES).max(1);
        let mut start = pages.start;
        for page in pages.clone() {
            let is_cached = self.pages.find(object, page).is_some();
            let is_taken = !is_cached && self.take_page(object, page, needed.contains(&page));
            if is_taken && page + 1 - start < count_max {
                continue;
            }
            let end = page + u64::from(is_taken);
            self.submit_read(object, start..end, issuer, needed);
            if !is_cached && !is_taken {
                return false;
            }
            start = page + 1;
        }
        self.submit_read(object, start..pages.end, issuer, needed);
        true
    }

    /// A page to read into.
    pub(super) fn take_page(&mut self, object: ObjectId, page: u64, is_demand: bool) -> bool {
        let slot = self.pages.allocate(object, page, is_demand);
        if let Some(slot) = slot {
            self.pages.page_mut(slot).is_coming = true;
        }
        self.report_evicted();
        slot.is_some()
    }

    pub(super) fn submit_read(
        &mut self,
        object: ObjectId,
        pages: Range<u64>,
        issuer: u32,
        needed: &Range<u64>,
    ) {
        if pages.is_empty() {
            return;
        }
        let is_demand = pages.start < needed.end && needed.start < pages.end;
        let bytes = self.submit(object, pages, Direction::Read, issuer, is_demand);
        self.read_flight_count += 1;
        if is_demand {
            self.run.demand_count += 1;
            self.run.demand_bytes += bytes;
        } else {
            self.run.readahead_count += 1;
            self.run.readahead_bytes += bytes;
        }
    }

    /// Submits a request and returns its length in bytes.
    pub(super) fn submit(
        &mut self,
        object: ObjectId,
        pages: Range<u64>,
        direction: Direction,
        issuer: u32,
        urgent: bool,
    ) -> u64 {
        let (start, count) = (pages.start, pages.end - pages.start);
        self.request_count += 1;
        let id = RequestId(self.request_count);
        let len = self.bytes_of(object, start, count);
        let address = self.placed[object.0 as usize].address + start * PAGE_BYTES;
        self.device.submit(self.now, Request { id, address, len, direction, issuer, urgent });
        self.flights.insert(id, Flight { object, start, count, arrived_count: 0, direction });
        len
    }

    /// The first `count` pages of a request are done.
    pub(super) fn arrive(&mut self, id: RequestId, count: u64) {
        let Some(flight) = self.flights.get_mut(&id) else { return };
        let Flight { object, start, direction, .. } = *flight;
        let arrived = flight.arrived_count..count.min(flight.count);
        flight.arrived_count = arrived.end.max(arrived.start);
        if direction == Direction::Write {
            self.written_back_count -= arrived.end.saturating_sub(arrived.start);
        }
        for page in arrived {
            let Some(slot) = self.pages.find(object, start + page) else { continue };
            match direction {
                Direction::Read => self.page_came(slot),
                Direction::Write => self.pages.page_mut(slot).is_written_back = false,
            }
        }
    }

    /// A request is done.
    pub(super) fn complete(&mut self, id: RequestId) {
        self.arrive(id, u64::MAX);
        let Some(flight) = self.flights.remove(&id) else { return };
        match flight.direction {
            Direction::Read => self.read_flight_count -= 1,
            Direction::Write => {
                self.write_flight_count -= 1;
                self.write_back();
                self.release_writers();
            }
        }
        let starved = std::mem::take(&mut self.starved);
        starved.into_iter().for_each(|task| self.resume(task));
    }

    fn page_came(&mut self, slot: u32) {
        self.pages.page_mut(slot).is_coming = false;
        for id in self.waiters.remove(&slot).unwrap_or_default() {
            self.tasks[id].wake(self.now);
            if self.tasks[id].is_read() {
                self.use_page(id, slot);
                self.sleep(id, self.config.page_cost_ns);
            } else {
                self.ready.push_back(id);
            }
        }
    }

    /// The event that it waits for may have happened.
    pub(super) fn resume(&mut self, id: TaskId) {
        self.tasks[id].wake(self.now);
        self.ready.push_back(id);
    }

    /// The task waits for the page in `slot`: nothing may be held back any longer.
    pub(super) fn wait_for(&mut self, id: TaskId, slot: u32) {
        self.tasks[id].waiting_since = self.now;
        self.waiters.entry(slot).or_default().push(id);
        self.device.unplug(self.now);
    }

    /// The task waits until some page can be reclaimed.
    pub(super) fn wait_for_memory(&mut self, id: TaskId) {
        self.tasks[id].waiting_since = self.now;
        self.starved.push(id);
        self.write_back();
        self.device.unplug(self.now);
    }

    /// Tells the algorithm and the numbers what reclaim has taken.
    pub(super) fn report_evicted(&mut self) {
        self.laundry_count += self.pages.take_laundry();
        let evicted = self.pages.take_evicted();
        let mut rest = evicted.as_slice();
        while let Some(first) = rest.first() {
            let follows = |(at, page): &(usize, &super::pages::Evicted)| {
                page.object == first.object && page.index == first.index + *at as u64
            };
            let count = rest.iter().enumerate().take_while(follows).count();
            self.algorithm.on_lost(first.object, first.index, count as u64);
            rest = &rest[count..];
        }
        for page in evicted.iter().filter(|page| !page.was_used) {
            self.run.wasted_bytes += self.bytes_of(page.object, page.index, 1);
        }
        self.pages.reuse(evicted);
    }
}
