//! Linux 2.6.10 to 2.6.22: a current window and one ahead of it, per open file, with the weaknesses it had.
//!
//! It trusts the request: after a request that is cut short it is ahead of its reader. It sees requests and
//! windows, not pages.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::pages::Pages;
use super::window_size::{initial_size, next_size};
use super::{Algorithm, PageCache, PageRead, Step};
use forerun_engine::{ObjectId, ReaderId};

/// Pages found cached in a row after which a file counts as cached.
//= linux 2.6.10 mm/readahead.c
const CACHE_HIT_MAX: u64 = 256;
/// The smallest window that misses shrink to, in pages: 16 KiB.
//= linux 2.6.10 mm/readahead.c
const PAGES_MIN: u64 = 4;

/// Two-window readahead; see the module's page.
#[derive(Debug)]
pub struct Stock {
    pages_max: u64,
    states: BTreeMap<(ObjectId, ReaderId), FileWindows>,
}

impl Stock {
    /// With windows of at most `pages_max` pages.
    pub fn new(pages_max: u64) -> Stock {
        Stock { pages_max: pages_max.max(1), states: BTreeMap::new() }
    }
}

/// A run of pages; an empty one is no window.
#[derive(Clone, Copy, Debug, Default)]
struct PageRun {
    start: u64,
    size: u64,
}

#[derive(Clone, Copy, Debug)]
struct FileWindows {
    current: PageRun,
    ahead: PageRun,
    /// The last page that it takes for read: before the first one at first.
    previous: u64,
    /// The page of the same request at which it wants to be asked again.
    next: u64,
    /// Pages found cached since something was last missing.
    cache_hit_count: u64,
    /// A page that was read ahead was lost: the next window is smaller.
    has_missed: bool,
    /// All seems to be cached: nothing is read ahead until a page is missing.
    is_in_cache: bool,
}

impl Default for FileWindows {
    fn default() -> FileWindows {
        FileWindows {
            current: PageRun::default(),
            ahead: PageRun::default(),
            previous: u64::MAX,
            next: 0,
            cache_hit_count: 0,
            has_missed: false,
            is_in_cache: false,
        }
    }
}

impl Algorithm for Stock {
    fn on_page(&mut self, read: &PageRead, cache: &dyn PageCache, steps: &mut Vec<Step>) {
        let state = self.states.entry((read.object, read.reader)).or_default();
        if read.is_first || read.page == state.next {
            let mut pages = Pages::new(read, cache, steps);
            state.on_request(&mut pages, read.page, read.rest, self.pages_max);
            state.next = state.previous.wrapping_add(1);
        }
    }

    fn on_unserved(&mut self, read: &PageRead) {
        if let Some(state) = self.states.get_mut(&(read.object, read.reader)) {
            state.has_missed = true;
            state.is_in_cache = false;
            state.cache_hit_count = 0;
        }
    }

    fn on_lost(&mut self, _: ObjectId, _: u64, _: u64) {}

    fn on_close(&mut self, object: ObjectId, reader: ReaderId) {
        self.states.remove(&(object, reader));
    }

    fn on_forget(&mut self, object: ObjectId) {
        self.states.retain(|(owner, _), _| *owner != object);
    }
}

impl FileWindows {
    fn on_request(&mut self, pages: &mut Pages<'_>, mut page: u64, mut request: u64, max: u64) {
        // The rest of a page whose beginning was read last time.
        if page == self.previous {
            request -= 1;
            page += u64::from(request > 0);
        }
        let is_sequential = page == self.previous.wrapping_add(1);
        self.previous = page;
        let count = request.min(max);
        if count == 0 || self.is_in_cache {
            return;
        }
        self.previous += count - 1;
        if !is_sequential {
            self.turn_off();
            self.fetch(pages, PageRun { start: page, size: count }, page + count);
        } else if self.current.size == 0 {
            self.current = PageRun { start: page, size: initial_size(count, max) };
            if self.fetch(pages, self.current, page + self.current.size) && request >= max {
                self.read_ahead(pages, max, true);
            }
        } else {
            self.advance(pages, max);
        }
    }

    /// Sequential reading continues.
    fn advance(&mut self, pages: &mut Pages<'_>, max: u64) {
        if self.ahead.size == 0 && !self.read_ahead(pages, max, false) {
            return;
        }
        if self.previous < self.ahead.start {
            return;
        }
        self.current = self.ahead;
        if self.read_ahead(pages, max, false) {
            self.previous = self.previous.min(self.ahead.start + self.ahead.size - 1);
        }
    }

    /// Starts the window behind the current one. False if that came to nothing.
    fn read_ahead(&mut self, pages: &mut Pages<'_>, max: u64, is_forced: bool) -> bool {
        let start = self.current.start + self.current.size;
        self.ahead = PageRun { start, size: self.next_size(max) };
        // On a busy device only requested pages are worth the wait.
        let may_skip = !is_forced && self.previous < start;
        let started = !(may_skip && pages.cache.is_congested()) && self.fetch(pages, self.ahead, start);
        if !started && !is_forced {
            self.ahead = PageRun::default();
        }
        started
    }

    fn next_size(&mut self, max: u64) -> u64 {
        if !core::mem::take(&mut self.has_missed) {
            return next_size(self.current.size, max);
        }
        self.current.size.saturating_sub(2).max(PAGES_MIN).min(max)
    }

    /// False if the file turned out to be cached and readahead was turned off.
    fn fetch(&mut self, pages: &mut Pages<'_>, window: PageRun, mark: u64) -> bool {
        if pages.missing(window.start, window.size).next().is_some() {
            self.cache_hit_count = 0;
            pages.fetch(window.start, window.size, mark);
            return true;
        }
        self.cache_hit_count += window.size;
        if self.cache_hit_count < CACHE_HIT_MAX {
            return true;
        }
        self.turn_off();
        self.is_in_cache = true;
        false
    }

    fn turn_off(&mut self) {
        self.current = PageRun::default();
        self.ahead = PageRun::default();
        self.has_missed = false;
        self.is_in_cache = false;
    }
}
