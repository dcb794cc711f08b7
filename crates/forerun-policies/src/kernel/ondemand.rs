//! On-demand readahead, the algorithm of Linux since 2.6.23. It is asked on a missing page and on a marked
//! one. It has one window per open file and, since 2.6.31, uses the page cache itself as history.
//= linux 6.12 mm/readahead.c

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::pages::Pages;
use super::window_size::{initial_size, next_size};
use super::{Algorithm, PageCache, PageRead, Step};
use forerun_engine::{ObjectId, ReaderId};

/// On-demand readahead; see the module's page.
#[derive(Debug)]
pub struct OnDemand {
    version: Version,
    pages_max: u64,
    /// Windows may be as large as a single request of this many pages, if that is more.
    io_pages: u64,
    states: BTreeMap<(ObjectId, ReaderId), FileReadahead>,
    /// Pages that carry the readahead mark.
    marks: BTreeSet<(ObjectId, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Version {
    Linux2_6_23,
    Linux2_6_31,
    Linux6_12,
}

impl OnDemand {
    /// As it began, with windows of at most `pages_max` pages.
    pub fn linux_2_6_23(pages_max: u64) -> OnDemand {
        OnDemand::new(Version::Linux2_6_23, pages_max)
    }

    /// With context readahead: cached pages before a missing one are taken for a
    /// stream's past.
    pub fn linux_2_6_31(pages_max: u64) -> OnDemand {
        OnDemand::new(Version::Linux2_6_31, pages_max)
    }

    /// Today's, more careful with context, and deaf to congestion.
    pub fn linux_6_12(pages_max: u64) -> OnDemand {
        OnDemand::new(Version::Linux6_12, pages_max)
    }

    /// The same on a backing device that asks for requests of up to `io_pages` pages in one piece. File
    /// systems without a disk do so with 32. A reader that asks for more than the window gets up to that at
    /// once.
    pub fn with_io_pages(self, io_pages: u64) -> OnDemand {
        OnDemand { io_pages, ..self }
    }

    fn new(version: Version, pages_max: u64) -> OnDemand {
        let pages_max = pages_max.max(1);
        OnDemand { version, pages_max, io_pages: 0, states: BTreeMap::new(), marks: BTreeSet::new() }
    }
}

impl Algorithm for OnDemand {
    fn on_page(&mut self, read: &PageRead, cache: &dyn PageCache, steps: &mut Vec<Step>) {
        let state = self.states.entry((read.object, read.reader)).or_default();
        let mut pages = Pages::new(read, cache, steps);
        let max = self.pages_max.max(self.io_pages.min(read.rest));
        let query = Query { version: self.version, page: read.page, request: read.rest, max };
        if !pages.is_cached(read.page) {
            match state.on_missing(&pages, &query) {
                Decision::Window => submit(state, &mut pages, &mut self.marks),
                Decision::AsAsked => pages.fetch(query.page, query.request, query.page + query.request),
                Decision::Nothing => {}
            }
        }
        if !self.marks.remove(&(read.object, read.page)) {
            return;
        }
        let is_put_off = self.version < Version::Linux6_12 && cache.is_congested();
        if !is_put_off && state.on_mark(&pages, &query) == Decision::Window {
            submit(state, &mut pages, &mut self.marks);
        }
    }

    fn on_end(&mut self, object: ObjectId, reader: ReaderId, last_page: u64) {
        if let Some(state) = self.states.get_mut(&(object, reader)) {
            state.previous = last_page;
        }
    }

    fn on_lost(&mut self, object: ObjectId, start: u64, count: u64) {
        let lost = (object, start)..(object, start.saturating_add(count));
        let gone: Vec<_> = self.marks.range(lost).copied().collect();
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

/// `struct file_ra_state`, in pages.
#[derive(Clone, Copy, Debug)]
struct FileReadahead {
    start: u64,
    size: u64,
    /// Pages of the window from the mark on.
    async_size: u64,
    /// The last page of the last request: before the first one at first.
    previous: u64,
}

impl Default for FileReadahead {
    fn default() -> FileReadahead {
        FileReadahead { start: 0, size: 0, async_size: 0, previous: u64::MAX }
    }
}

/// One question: `request` pages are requested from `page` on.
struct Query {
    version: Version,
    page: u64,
    request: u64,
    max: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    /// The state's window is to be read.
    Window,
    /// A random read: the requested pages, and the state stays.
    AsAsked,
    Nothing,
}

impl FileReadahead {
    fn on_missing(&mut self, pages: &Pages<'_>, query: &Query) -> Decision {
        if query.version < Version::Linux6_12 && self.is_expected(query) {
            self.advance(query);
        } else if self.is_fresh_start(query) {
            self.start = query.page;
            self.size = initial_size(query.request, query.max);
            self.async_size = match self.size.checked_sub(query.request) {
                Some(ahead) if ahead > 0 => ahead,
                _ if query.version < Version::Linux6_12 => self.size,
                _ => self.size / 2,
            };
        } else if !self.takes_context(pages, query) {
            return Decision::AsAsked;
        }
        self.merge_with_next(query);
        Decision::Window
    }

    fn on_mark(&mut self, pages: &Pages<'_>, query: &Query) -> Decision {
        if self.is_expected(query) {
            self.advance(query);
        } else {
            // Another reader's window: it continues where the cached pages of that end.
            let reach = query.max + u64::from(query.version < Version::Linux6_12);
            let Some(hole) = pages.next_hole(query.page + 1, reach) else { return Decision::Nothing };
            let request = if query.version < Version::Linux6_12 { 0 } else { query.request };
            self.start = hole;
            self.size = next_size(hole - query.page + request, query.max);
            self.async_size = self.size;
        }
        self.merge_with_next(query);
        Decision::Window
    }

    /// The mark of the state's own window, or before 6.12 the page behind it.
    fn is_expected(&self, query: &Query) -> bool {
        let end = self.start + self.size;
        query.page != 0
            && (query.page == end - self.async_size
                || query.version < Version::Linux6_12 && query.page == end)
    }

    fn advance(&mut self, query: &Query) {
        self.start += self.size;
        self.size = next_size(self.size, query.max);
        self.async_size = self.size;
    }

    fn is_fresh_start(&self, query: &Query) -> bool {
        // 2.6.23 knows page 0 only by its neighbour, which is before the first read.
        query.page == 0 && query.version > Version::Linux2_6_23
            || query.request > query.max
            || query.page.wrapping_sub(self.previous) <= 1
    }

    /// Takes the cached pages before the missing one for the past of a stream.
    fn takes_context(&mut self, pages: &Pages<'_>, query: &Query) -> bool {
        let mut cached = match query.version {
            Version::Linux2_6_23 => return false,
            _ => pages.cached_before(query.page, query.max),
        };
        let needed = if query.version < Version::Linux6_12 { 0 } else { query.request };
        if cached <= needed {
            return false;
        }
        // Everything from the start of the file on: a long sequential read.
        if cached >= query.page {
            cached *= 2;
        }
        self.start = query.page;
        if query.version < Version::Linux6_12 {
            self.size = initial_size(cached + query.request, query.max);
            self.async_size = self.size;
        } else {
            self.size = (cached + query.request).min(query.max);
            self.async_size = 1;
        }
        true
    }

    /// A window whose mark is read at once brings the one after it along.
    fn merge_with_next(&mut self, query: &Query) {
        if query.version == Version::Linux2_6_31 && self.start == query.page && self.size == self.async_size {
            self.async_size = next_size(self.size, query.max);
            self.size += self.async_size;
        }
    }
}

fn submit(state: &FileReadahead, pages: &mut Pages<'_>, marks: &mut BTreeSet<(ObjectId, u64)>) {
    let mark = state.start + state.size - state.async_size;
    // Only a page that is newly read carries the mark.
    if state.async_size > 0 && pages.missing(mark, 1).next().is_some() {
        marks.insert((pages.object, mark));
    }
    pages.fetch(state.start, state.size, mark);
}
