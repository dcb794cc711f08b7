//! A chunk: pages that are read ahead at once, and how they are submitted.

use super::{AraClass, AraEvent, Call};

/// The smallest readahead, in pages.
//= adaptive readahead V16: VM_MIN_READAHEAD
pub(super) const PAGES_MIN: u64 = 4;

/// The newest chunk of an open file.
///
/// Invariant: `la_index <= ra_index` unless the pages between were cached, and
/// `ra_index <= lookahead_index <= readahead_index`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chunk {
    /// Where reading was when it was decided.
    pub(super) la_index: u64,
    /// Its first page.
    pub(super) ra_index: u64,
    /// Its mark: reading this page starts the next.
    pub(super) lookahead_index: u64,
    /// One past its last page.
    pub(super) readahead_index: u64,
    /// Pages that reclaim had looked at when it was submitted.
    pub(super) age: u64,
    pub(super) class: AraClass,
}

impl Chunk {
    pub(super) fn size(&self) -> u64 {
        self.readahead_index - self.ra_index
    }

    /// Pages that were read from one decision to the next.
    pub(super) fn invoke_interval(&self) -> u64 {
        self.lookahead_index.saturating_sub(self.la_index)
    }

    pub(super) fn has(&self, page: u64) -> bool {
        (self.la_index..self.readahead_index).contains(&page)
    }
}

/// Pages to read ahead, and how many of them lie behind the mark.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) ra: u64,
    pub(super) la: u64,
}

impl Size {
    /// Cut to `limit`, with the mark far enough from the last that the time
    /// between the two can be measured. `ahead` pages lie between here and it.
    pub(super) fn limited(self, limit: u64, ahead: u64) -> Size {
        let ra = self.ra.min(limit);
        let la = self.la.min(ra);
        let shift = ahead + ra - la;
        Size { ra, la: la - (ra / 4).saturating_sub(shift) }
    }
}

impl Call<'_> {
    /// Makes `size` pages from `start` on the stream's chunk and reads them;
    /// `la_index` is where reading is.
    pub(super) fn submit(&mut self, class: AraClass, la_index: u64, start: u64, size: Size) {
        let file_end = self.pages.page_count;
        let mut chunk = Chunk {
            la_index,
            ra_index: start,
            lookahead_index: start + size.ra - size.la,
            readahead_index: start + size.ra,
            age: self.pages.cache.scanned_count(),
            class,
        };
        let reaches_end = chunk.readahead_index + PAGES_MIN + size.ra / 4 > file_end;
        if reaches_end {
            chunk.readahead_index = file_end.max(start);
            chunk.lookahead_index = chunk.lookahead_index.min(chunk.readahead_index);
        }
        if self.tuning.is_loop {
            chunk.lookahead_index = chunk.readahead_index;
        }
        self.stream.chunk = chunk;
        if chunk.size() > 0 {
            self.read_chunk(&chunk);
            if reaches_end {
                self.count_event(AraEvent::ReadaheadEof, chunk.size());
            }
        }
    }

    fn read_chunk(&mut self, chunk: &Chunk) {
        let mut new_count = 0;
        for page in self.pages.missing(chunk.ra_index, chunk.size()) {
            // Only a page that is newly read carries the mark.
            let is_marked = page == chunk.lookahead_index;
            self.shared.fresh.insert(self.pages.object, page, chunk.class, is_marked);
            new_count += 1;
        }
        self.pages.fetch(chunk.ra_index, chunk.size(), chunk.lookahead_index);
        let cached_count = chunk.size() - new_count;
        if new_count > 0 {
            self.count_event(AraEvent::Readahead, new_count);
        }
        if cached_count > 0 {
            self.count_event(AraEvent::IoCacheHit, cached_count);
        }
        if chunk.lookahead_index < chunk.readahead_index {
            self.count_event(AraEvent::Lookahead, chunk.readahead_index - chunk.lookahead_index);
        }
    }

    /// Makes `count` pages from the present one on the last to be reclaimed.
    pub(super) fn rescue(&mut self, count: u64) {
        if count > 0 {
            self.pages.rescue(self.page, count);
            self.count_event(AraEvent::ReadaheadRescue, count);
        }
    }
}
