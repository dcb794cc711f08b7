//! The page cache as one call sees it, with the pages that its own steps will bring.

use alloc::vec::Vec;

use super::{PageCache, PageRead, Step};
use forerun_engine::ObjectId;

pub(super) struct Pages<'a> {
    pub(super) cache: &'a dyn PageCache,
    pub(super) object: ObjectId,
    pub(super) page_count: u64,
    steps: &'a mut Vec<Step>,
    /// Steps before it belong to earlier calls.
    first_step: usize,
}

impl<'a> Pages<'a> {
    pub(super) fn new(read: &PageRead, cache: &'a dyn PageCache, steps: &'a mut Vec<Step>) -> Pages<'a> {
        let first_step = steps.len();
        Pages { cache, object: read.object, page_count: read.page_count, steps, first_step }
    }

    pub(super) fn is_cached(&self, page: u64) -> bool {
        let is_coming = |step: &Step| match *step {
            Step::Fetch { start, count, .. } => (start..start + count).contains(&page),
            Step::Rescue { .. } => false,
        };
        self.steps[self.first_step..].iter().any(is_coming) || self.cache.is_cached(self.object, page)
    }

    /// Cached pages in a row that end before `page`, looking at most `max` back.
    pub(super) fn cached_before(&self, page: u64, max: u64) -> u64 {
        (1..=max.min(page)).take_while(|back| self.is_cached(page - back)).count() as u64
    }

    /// The first of the `max` pages from `page` on that is not cached.
    pub(super) fn next_hole(&self, page: u64, max: u64) -> Option<u64> {
        (page..page.saturating_add(max)).find(|page| !self.is_cached(*page))
    }

    /// Pages of `start .. start + count` that are not cached, up to the object's end.
    pub(super) fn missing(&self, start: u64, count: u64) -> impl Iterator<Item = u64> {
        let end = start.saturating_add(count).min(self.page_count);
        (start..end).filter(|page| !self.is_cached(*page))
    }

    /// Reads the missing pages of `start .. start + count`, up to the object's end.
    pub(super) fn fetch(&mut self, start: u64, count: u64, mark: u64) {
        if self.missing(start, count).next().is_some() {
            let end = start.saturating_add(count).min(self.page_count);
            self.steps.push(Step::Fetch { start, count: end - start, mark: mark.min(end) });
        }
    }

    pub(super) fn rescue(&mut self, start: u64, count: u64) {
        self.steps.push(Step::Rescue { start, count });
    }
}
