//! Runs a kernel's readahead over the engine's own cache. It tells each read to the algorithm page by page.
//! Pages that the algorithm wants beyond the request become windows.

use alloc::vec::Vec;

use forerun_engine::{
    BLOCK_BYTES, CustomPolicy, Extent, ObjectId, PolicyRead, PolicyRules, PolicyView, ReaderId, Wishes,
};

use crate::kernel::{Algorithm, PageCache, PageRead, Step};

#[derive(Debug)]
pub(crate) struct KernelPolicy<A> {
    algorithm: A,
    /// Between calls empty, kept for its memory.
    steps: Vec<Step>,
}

impl<A: Algorithm> KernelPolicy<A> {
    pub(crate) fn new(algorithm: A) -> KernelPolicy<A> {
        KernelPolicy { algorithm, steps: Vec::new() }
    }
}

/// The engine's cache, with the pages that the request so far will bring into it.
struct CacheView<'a> {
    view: &'a PolicyView<'a>,
    coming: &'a [Extent],
}

impl PageCache for CacheView<'_> {
    fn is_cached(&self, object: ObjectId, page: u64) -> bool {
        let offset = page * BLOCK_BYTES;
        self.coming.iter().any(|extent| extent.offset <= offset && offset < extent.end())
            || self.view.is_held(object, offset)
    }

    fn is_inactive_and_read(&self, object: ObjectId, page: u64) -> bool {
        self.view.is_read_once(object, page * BLOCK_BYTES)
    }

    fn scanned_count(&self) -> u64 {
        self.view.scanned_count()
    }

    fn fillable_count(&self) -> u64 {
        self.view.fillable_count()
    }
}

/// A large request is thousands of pages: those that follow one another stay one extent.
fn add_page(coming: &mut Vec<Extent>, page: u64) {
    let extent = Extent::new(page * BLOCK_BYTES, BLOCK_BYTES);
    match coming.last_mut() {
        Some(last) if last.end() == extent.offset => last.len += BLOCK_BYTES,
        _ => coming.push(extent),
    }
}

impl<A: Algorithm> CustomPolicy for KernelPolicy<A> {
    fn rules(&self) -> PolicyRules {
        PolicyRules::Kernel
    }

    fn on_read(&mut self, read: &PolicyRead, view: &PolicyView<'_>, wishes: &mut Wishes) {
        let PolicyRead { object, reader, extent, size, .. } = *read;
        let first_page = extent.offset / BLOCK_BYTES;
        let end_page = extent.end().div_ceil(BLOCK_BYTES);
        let mut coming = Vec::new();
        for page in first_page..end_page {
            let read = PageRead {
                object,
                reader,
                page,
                rest: end_page - page,
                is_first: page == first_page,
                page_count: size.div_ceil(BLOCK_BYTES),
            };
            let pages = CacheView { view, coming: &coming };
            self.algorithm.on_page(&read, &pages, &mut self.steps);
            for step in self.steps.drain(..) {
                let (start, count, mark) = match step {
                    Step::Fetch { start, count, mark } => (start, count, mark),
                    Step::Rescue { start, count } => {
                        wishes.rescue(Extent::new(start * BLOCK_BYTES, count * BLOCK_BYTES));
                        continue;
                    }
                };
                let wanted = Extent::new(start * BLOCK_BYTES, count * BLOCK_BYTES);
                coming.push(wanted);
                // The engine itself fetches the bytes of the request.
                if start < first_page || start + count > end_page {
                    wishes.read_ahead_with_trigger(wanted, mark * BLOCK_BYTES);
                }
            }
            if !(CacheView { view, coming: &coming }).is_cached(object, page) {
                self.algorithm.on_unserved(&read);
                add_page(&mut coming, page);
            }
        }
        self.algorithm.on_end(object, reader, end_page - 1);
    }

    fn on_lost(&mut self, object: ObjectId, extent: Extent) {
        let first_page = extent.offset / BLOCK_BYTES;
        let end_page = extent.end().div_ceil(BLOCK_BYTES);
        self.algorithm.on_lost(object, first_page, end_page - first_page);
    }

    fn on_close(&mut self, object: ObjectId, reader: ReaderId) {
        self.algorithm.on_close(object, reader);
    }

    fn on_forget(&mut self, object: ObjectId) {
        self.algorithm.on_forget(object);
    }
}
