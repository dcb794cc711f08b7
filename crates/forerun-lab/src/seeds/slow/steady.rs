//! Stock readahead as it would be if it never learnt that its pages are lost.

use forerun_engine::ReaderId;
use forerun_policies::kernel::{Algorithm, PageCache, PageRead, Step};
use forerun_sim::source::ObjectId;

use crate::seeds::scene::stock;

/// Stock readahead that is not told of a page that is missing, so that its windows
/// never shrink.
#[derive(Debug)]
pub(super) struct Steady(Box<dyn Algorithm>);

impl Steady {
    /// With windows of at most so many bytes.
    pub(super) fn new(window_bytes_max: u64) -> Steady {
        Steady(stock(window_bytes_max))
    }
}

impl Algorithm for Steady {
    fn on_page(&mut self, read: &PageRead, cache: &dyn PageCache, steps: &mut Vec<Step>) {
        self.0.on_page(read, cache, steps);
    }

    fn on_unserved(&mut self, _: &PageRead) {}

    fn on_lost(&mut self, object: ObjectId, start: u64, count: u64) {
        self.0.on_lost(object, start, count);
    }

    fn on_close(&mut self, object: ObjectId, reader: ReaderId) {
        self.0.on_close(object, reader);
    }

    fn on_forget(&mut self, object: ObjectId) {
        self.0.on_forget(object);
    }
}
