//! Adaptive readahead of 2006 (version 16 of Fengguang Wu's patches): sizes follow the speed of each stream
//! and the turnover of the page cache.
//!
//! It is asked on a missing page and on a marked one. The first method that applies decides, one file each.
//! The order is [`initial`], [`state`], [`thrashing`], [`backward`], [`context`], [`random`]; [`nfsd`] comes
//! before them for a server's reads. Its tunable "ratio 1", the algorithm before it, is
//! [`Stock`](super::Stock). Its waiting for sleeping laptop disks is left out.
//= adaptive readahead V16

mod backward;
mod chunk;
mod context;
mod event_counts;
mod fresh;
mod initial;
mod nfsd;
mod random;
mod state;
mod thrashing;
mod tuning;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::pages::Pages;
use super::{Algorithm, PageCache, PageRead, Step};
use forerun_engine::{BLOCK_BYTES, ObjectId, ReaderId};

use chunk::Chunk;
pub use event_counts::{AraClass, AraEvent, AraEvents, Tally};
use fresh::Fresh;
pub use tuning::AraTuning;

/// Adaptive readahead; see the module's page.
#[derive(Debug)]
pub struct Ara {
    tuning: AraTuning,
    streams: BTreeMap<(ObjectId, ReaderId), OpenFile>,
    shared: Shared,
}

impl Ara {
    /// With nothing known yet.
    pub fn new(tuning: AraTuning) -> Ara {
        let shared = Shared {
            thrash_bytes: tuning.pages_max() * BLOCK_BYTES,
            fresh: Fresh::default(),
            events: AraEvents::default(),
        };
        Ara { tuning: tuning.limited(), streams: BTreeMap::new(), shared }
    }

    /// Counts of all events so far.
    pub fn events(&self) -> &AraEvents {
        &self.shared.events
    }
}

/// The state of one open file.
#[derive(Clone, Copy, Debug)]
struct OpenFile {
    chunk: Chunk,
    /// The last page really read: before the first one at first.
    previous: u64,
}

/// State that all open files share.
#[derive(Debug)]
struct Shared {
    /// How much of a stream survives in the page cache, a running estimate.
    thrash_bytes: u64,
    fresh: Fresh,
    events: AraEvents,
}

impl Shared {
    /// Slowly up, fast down.
    fn learn_thrash(&mut self, pages: u64) {
        let (old, new) = (self.thrash_bytes, pages * BLOCK_BYTES);
        let weight = if new > old { 127 } else { 7 };
        self.thrash_bytes = (old * weight + new) / (weight + 1);
    }
}

/// One question to the methods: a page is missing, or it carries the mark.
struct Call<'a> {
    tuning: &'a AraTuning,
    stream: &'a mut OpenFile,
    shared: &'a mut Shared,
    pages: Pages<'a>,
    page: u64,
    /// Pages from `page` on that are asked for.
    request: u64,
    is_present: bool,
    /// Bounds of a chunk, in pages.
    ra_min: u64,
    ra_max: u64,
}

impl Algorithm for Ara {
    fn on_page(&mut self, read: &PageRead, cache: &dyn PageCache, steps: &mut Vec<Step>) {
        let (object, page) = (read.object, read.page);
        let key = (object, read.reader);
        let stream =
            self.streams.entry(key).or_insert(OpenFile { chunk: Chunk::default(), previous: u64::MAX });
        let is_present = cache.is_cached(object, page);
        let was_marked = self.shared.on_page(object, page, is_present);
        if was_marked && cache.is_congested() {
            self.shared.events.add(stream.chunk.class, AraEvent::IoCongestion, read.rest);
        } else if was_marked || !is_present {
            let fillable = cache.fillable_count();
            let ra_max = self.tuning.pages_max().min(fillable / 2);
            let mut call = Call {
                tuning: &self.tuning,
                stream,
                shared: &mut self.shared,
                pages: Pages::new(read, cache, steps),
                page,
                request: read.rest,
                is_present,
                // 16 KiB with little memory, 64 KiB from 1 GiB on.
                ra_min: (4 + fillable / 16_384).min(16).min(ra_max / 8),
                ra_max,
            };
            call.decide();
        }
        stream.previous = page;
        self.shared.take(object, page);
    }

    fn on_end(&mut self, object: ObjectId, reader: ReaderId, last_page: u64) {
        if let Some(stream) = self.streams.get_mut(&(object, reader)) {
            stream.previous = last_page;
        }
    }

    fn on_lost(&mut self, object: ObjectId, start: u64, count: u64) {
        self.shared.fresh.remove_run(object, start, count);
    }

    fn on_close(&mut self, object: ObjectId, reader: ReaderId) {
        self.streams.remove(&(object, reader));
    }

    fn on_forget(&mut self, object: ObjectId) {
        self.streams.retain(|(owner, _), _| *owner != object);
        self.shared.fresh.forget(object);
    }
}

impl Call<'_> {
    fn decide(&mut self) {
        let chunk = self.stream.chunk;
        let follows = self.page == self.stream.previous.wrapping_add(1);
        if self.tuning.ratio_percent == 0 {
            self.read_random();
        } else if self.tuning.is_nfsd && !self.is_present {
            self.serve_then_look();
        } else if self.page == 0 {
            self.start_file();
        } else if follows && self.page == chunk.lookahead_index {
            self.go_on();
        } else if follows && !self.is_present && chunk.has(self.page) {
            self.recover();
        } else {
            self.guess();
        }
    }

    /// The stream's state says nothing.
    fn guess(&mut self) {
        let is_settled = !self.is_present && self.read_backward() || self.read_by_context();
        if !is_settled && self.is_present {
            self.count_event(AraEvent::LookaheadIgnore, self.request);
        } else if !is_settled {
            self.read_random();
        }
    }

    /// Counts an event for the stream's class.
    fn count_event(&mut self, event: AraEvent, pages: u64) {
        self.shared.events.add(self.stream.chunk.class, event, pages);
    }
}
