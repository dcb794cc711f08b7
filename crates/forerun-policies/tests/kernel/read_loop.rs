//! A kernel's read loop over a page cache that never loses a page unless told to.

use forerun_engine::{ObjectId, ReaderId};
use forerun_policies::kernel::{Algorithm, PageCache, PageRead, Step};

pub(crate) const OBJECT: ObjectId = ObjectId(1);
pub(crate) const READER: ReaderId = ReaderId(1);

pub(crate) struct Cache {
    /// How often each page was read, of those that are cached.
    pages: Vec<Option<u32>>,
    pub(crate) scanned_count: u64,
    pub(crate) fillable_count: u64,
    pub(crate) is_congested: bool,
}

impl Cache {
    fn count(&self, page: u64) -> Option<u32> {
        *self.pages.get(page as usize)?
    }
}

impl PageCache for Cache {
    fn is_cached(&self, _: ObjectId, page: u64) -> bool {
        self.count(page).is_some()
    }

    fn is_inactive_and_read(&self, _: ObjectId, page: u64) -> bool {
        self.count(page) == Some(1)
    }

    fn scanned_count(&self) -> u64 {
        self.scanned_count
    }

    fn fillable_count(&self) -> u64 {
        self.fillable_count
    }

    fn is_congested(&self) -> bool {
        self.is_congested
    }
}

/// One file, one reader, and what it cost so far.
pub(crate) struct Loop<A: ?Sized> {
    pub(crate) algorithm: Box<A>,
    pub(crate) cache: Cache,
    pub(crate) page_count: u64,
    /// Runs of missing pages: what a disk gets.
    pub(crate) io_count: u64,
    /// Fetches of which something was missing.
    pub(crate) window_count: u64,
    pub(crate) pages_count: u64,
    /// The runs, as (page, pages), oldest first.
    pub(crate) fetched: Vec<(u64, u64)>,
    /// The pages that were kept from reclaim.
    pub(crate) rescued: Vec<(u64, u64)>,
}

impl<A: Algorithm + ?Sized> Loop<A> {
    /// With 256 MiB of memory.
    pub(crate) fn new(algorithm: Box<A>, page_count: u64) -> Loop<A> {
        let cache = Cache {
            pages: vec![None; page_count as usize],
            scanned_count: 0,
            fillable_count: 65_536,
            is_congested: false,
        };
        Loop {
            algorithm,
            cache,
            page_count,
            io_count: 0,
            window_count: 0,
            pages_count: 0,
            fetched: Vec::new(),
            rescued: Vec::new(),
        }
    }

    /// Asks for `count` pages from `page` on.
    pub(crate) fn read(&mut self, page: u64, count: u64) {
        self.read_partly(page, count, count);
    }

    /// Asks for `asked` pages, of which `done` are read in the end.
    pub(crate) fn read_partly(&mut self, first: u64, asked: u64, done: u64) {
        let end = (first + asked).min(self.page_count);
        let done_end = (first + done).min(end);
        let mut steps = Vec::new();
        for page in first..done_end {
            let read = PageRead {
                object: OBJECT,
                reader: READER,
                page,
                rest: end - page,
                is_first: page == first,
                page_count: self.page_count,
            };
            self.algorithm.on_page(&read, &self.cache, &mut steps);
            for step in steps.drain(..) {
                match step {
                    Step::Fetch { start, count, .. } => self.fetch(start, count),
                    Step::Rescue { start, count } => self.rescued.push((start, count)),
                }
            }
            if !self.cache.is_cached(OBJECT, page) {
                self.algorithm.on_unserved(&read);
                self.fetch(page, 1);
            }
            *self.cache.pages[page as usize].get_or_insert(0) += 1;
        }
        self.algorithm.on_end(OBJECT, READER, done_end - 1);
    }

    /// Reclaim takes these pages.
    pub(crate) fn lose(&mut self, start: u64, count: u64) {
        let end = (start + count).min(self.page_count);
        self.cache.pages[start as usize..end as usize].fill(None);
        self.cache.scanned_count += count;
        self.algorithm.on_lost(OBJECT, start, count);
    }

    /// Reads what is missing: one I/O for each run of missing pages.
    fn fetch(&mut self, start: u64, count: u64) {
        assert!(start + count <= self.page_count, "a fetch past the end: {start}+{count}");
        let fetched_before = self.fetched.len();
        let mut run = 0;
        for page in start..start + count {
            if self.cache.is_cached(OBJECT, page) {
                self.submit(page, &mut run);
            } else {
                self.cache.pages[page as usize] = Some(0);
                run += 1;
            }
        }
        self.submit(start + count, &mut run);
        self.window_count += u64::from(self.fetched.len() > fetched_before);
    }

    fn submit(&mut self, end: u64, run: &mut u64) {
        if *run > 0 {
            self.io_count += 1;
            self.pages_count += *run;
            self.fetched.push((end - *run, *run));
            *run = 0;
        }
    }
}
