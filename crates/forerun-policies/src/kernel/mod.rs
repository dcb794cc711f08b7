//! Readahead as kernels do it: page by page, above a page cache that the caller keeps.
//!
//! Each algorithm is one file or one folder and does not know its caller. A policy runs them over the
//! engine's cache (`kernel_policy.rs`). A simulated kernel runs the same code over a page cache with the
//! reclaim of its time.

mod ara;
mod ondemand;
mod pages;
mod stock;
mod window_size;

use alloc::vec::Vec;

pub use ara::{Ara, AraClass, AraEvent, AraEvents, AraTuning, Tally};
pub use ondemand::OnDemand;
pub use stock::Stock;

use forerun_engine::{ObjectId, ReaderId};

/// The questions that an algorithm may ask the page cache. A page is 4 KiB.
pub trait PageCache {
    /// The page is in the cache, or being read into it.
    fn is_cached(&self, object: ObjectId, page: u64) -> bool;

    /// The page is in the cache, was read, and would still be reclaimed before
    /// pages that are in use.
    fn is_inactive_and_read(&self, object: ObjectId, page: u64) -> bool;

    /// Pages that reclaim has looked at since the beginning.
    fn scanned_count(&self) -> u64;

    /// Pages that readers may fill: inactive and free ones, less the reserve.
    fn fillable_count(&self) -> u64;

    /// The device has more to do than readahead should add to.
    fn is_congested(&self) -> bool {
        false
    }
}

/// One page of a read request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRead {
    /// Whose page.
    pub object: ObjectId,
    /// Through which open file.
    pub reader: ReaderId,
    /// Which page.
    pub page: u64,
    /// Pages from `page` to the end of the request, at least 1. A request may ask for more than is read in
    /// the end.
    pub rest: u64,
    /// Whether it is the first page of its request.
    pub is_first: bool,
    /// Pages that the object has.
    pub page_count: u64,
}

/// An action that an algorithm asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Read those pages of `start .. start + count` that are not cached.
    Fetch {
        /// First page.
        start: u64,
        /// How many; never past the object's end.
        count: u64,
        /// The page whose reading will start the next; `start + count` if none
        /// will. Only to be shown: the algorithm remembers it itself.
        mark: u64,
    },
    /// Make these pages the last to be reclaimed, although they were not read again.
    Rescue {
        /// First page.
        start: u64,
        /// How many.
        count: u64,
    },
}

/// A readahead algorithm, with the state of every open file.
pub trait Algorithm: core::fmt::Debug + Send {
    /// A reader is about to look for a page. Adds the steps to do first. If the page is then not cached, it
    /// is read alone, and [`Algorithm::on_unserved`] is called. `cache` answers for the moment of the call.
    /// The algorithm itself remembers what its steps will change.
    fn on_page(&mut self, read: &PageRead, cache: &dyn PageCache, steps: &mut Vec<Step>);

    /// The page of the last [`Algorithm::on_page`] was not cached after its steps, and is read alone.
    fn on_unserved(&mut self, _read: &PageRead) {}

    /// A request ended; `last_page` was the last it really read.
    fn on_end(&mut self, _object: ObjectId, _reader: ReaderId, _last_page: u64) {}

    /// Pages `start .. start + count` have left the cache, or will not come.
    fn on_lost(&mut self, object: ObjectId, start: u64, count: u64);

    /// The reader closed the object.
    fn on_close(&mut self, object: ObjectId, reader: ReaderId);

    /// Nothing about the object matters any more.
    fn on_forget(&mut self, object: ObjectId);
}
