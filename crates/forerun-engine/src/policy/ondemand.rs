//! Linux 6.12's readahead: a state per open file, marks on pages, and the page
//! cache itself as history.
//= linux 6.12 mm/readahead.c

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::{Access, Policy, View, Window};
use crate::types::{BLOCK_BYTES, Extent, ObjectId, ReaderId};

/// `struct file_ra_state`, in pages.
#[derive(Clone, Copy, Debug)]
struct State {
    start: u64,
    size: u64,
    async_size: u64,
    /// Page of the last byte read; far away at first.
    previous: u64,
}

impl Default for State {
    fn default() -> State {
        State { start: 0, size: 0, async_size: 0, previous: u64::MAX >> 12 }
    }
}

#[derive(Debug)]
pub(crate) struct OnDemand {
    pages_max: u64,
    states: BTreeMap<(ObjectId, ReaderId), State>,
    /// Pages that carry the readahead mark.
    marks: BTreeSet<(ObjectId, u64)>,
}

impl OnDemand {
    pub(crate) fn new(window_bytes_max: u64) -> OnDemand {
        let pages_max = (window_bytes_max / BLOCK_BYTES).max(1);
        OnDemand { pages_max, states: BTreeMap::new(), marks: BTreeSet::new() }
    }
}

/// One read: the pages it finds cached are those in the cache and those its own
/// windows will bring.
struct Pages<'a> {
    view: &'a View<'a>,
    object: ObjectId,
    pages: u64,
    windows: &'a mut Vec<Window>,
}

impl Pages<'_> {
    fn is_cached(&self, page: u64) -> bool {
        let offset = page * BLOCK_BYTES;
        self.windows.iter().any(|window| window.extent.offset <= offset && offset < window.extent.end())
            || self.view.cache.is_held(self.object, offset)
    }

    /// Cached pages in a row that end before `page`, looking at most `max` back.
    fn cached_before(&self, page: u64, max: u64) -> u64 {
        (0..max.min(page)).take_while(|i| self.is_cached(page - 1 - i)).count() as u64
    }

    /// The first page from `page` on, at most `max` further, that is not cached.
    fn next_hole(&self, page: u64, max: u64) -> Option<u64> {
        (page..page.saturating_add(max)).find(|page| !self.is_cached(*page))
    }

    fn submit(&mut self, state: &State, marks: &mut BTreeSet<(ObjectId, u64)>) {
        let end = (state.start + state.size).min(self.pages);
        let mark = state.start + state.size - state.async_size;
        // Only a page that is newly read carries the mark.
        if mark < end && state.async_size > 0 && !self.is_cached(mark) {
            marks.insert((self.object, mark));
        }
        let extent = Extent::between(state.start * BLOCK_BYTES, end * BLOCK_BYTES);
        self.windows.push(Window { extent, mark: mark * BLOCK_BYTES });
    }
}

impl State {
    /// `page` is missing and `request` pages from it on are wanted. False if it
    /// is to be read as asked.
    fn on_missing(&mut self, pages: &Pages<'_>, page: u64, request: u64, max: u64) -> bool {
        if page == 0 || request > max || page.wrapping_sub(self.previous) <= 1 {
            self.start = page;
            self.size = initial_size(request, max);
            self.async_size = if self.size > request { self.size - request } else { self.size / 2 };
            return true;
        }
        let mut cached = pages.cached_before(page, max);
        if cached <= request {
            return false;
        }
        if cached >= page {
            cached *= 2;
        }
        self.start = page;
        self.size = (cached + request).min(max);
        self.async_size = 1;
        true
    }

    /// The marked page `page` is read. False if there is nothing to do.
    fn on_mark(&mut self, pages: &Pages<'_>, page: u64, request: u64, max: u64) -> bool {
        if page == self.start + self.size - self.async_size {
            self.start += self.size;
            self.size = self.size.max(next_size(self.size, max));
        } else {
            let Some(hole) = pages.next_hole(page + 1, max) else { return false };
            self.start = hole;
            self.size = next_size(hole - page + request, max);
        }
        self.async_size = self.size;
        true
    }
}

fn initial_size(request: u64, max: u64) -> u64 {
    let size = request.next_power_of_two();
    if size <= max / 32 {
        size * 4
    } else if size <= max / 4 {
        size * 2
    } else {
        max
    }
}

fn next_size(size: u64, max: u64) -> u64 {
    if size < max / 16 {
        size * 4
    } else if size <= max / 2 {
        size * 2
    } else {
        max
    }
}

impl Policy for OnDemand {
    fn on_read(&mut self, access: &Access, view: &View<'_>, windows: &mut Vec<Window>) {
        let max = self.pages_max;
        let state = self.states.entry((access.object, access.reader)).or_default();
        let end = access.extent.end().div_ceil(BLOCK_BYTES);
        let pages_in_object = access.size.div_ceil(BLOCK_BYTES);
        let mut pages = Pages { view, object: access.object, pages: pages_in_object, windows };
        let mut page = access.extent.offset / BLOCK_BYTES;
        while page < end {
            let request = end - page;
            if !pages.is_cached(page) {
                if !state.on_missing(&pages, page, request, max) {
                    break;
                }
                pages.submit(state, &mut self.marks);
            }
            if self.marks.remove(&(access.object, page)) && state.on_mark(&pages, page, request, max) {
                pages.submit(state, &mut self.marks);
            }
            page += 1;
        }
        state.previous = (access.extent.end() - 1) / BLOCK_BYTES;
    }

    fn on_lost(&mut self, object: ObjectId, extent: Extent) {
        let pages = extent.offset / BLOCK_BYTES..extent.end().div_ceil(BLOCK_BYTES);
        let gone: Vec<_> = self.marks.range((object, pages.start)..(object, pages.end)).copied().collect();
        for mark in gone {
            self.marks.remove(&mark);
        }
    }

    fn on_close(&mut self, object: ObjectId, reader: ReaderId) {
        self.states.remove(&(object, reader));
    }

    fn on_forget(&mut self, object: ObjectId) {
        self.states.retain(|(owner, _), _| *owner != object);
        self.marks.retain(|(owner, _)| *owner != object);
    }
}
