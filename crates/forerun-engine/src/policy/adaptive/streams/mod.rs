//! The streams of one object, told apart by where they read.
//!
//! State is kept per object, not per handle: reopening, threads, forks, reordered
//! requests and several streams on one handle all find their stream again. [`begin`]
//! makes streams, [`ends`] tells when they are over.

mod begin;
mod ends;
mod report;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem;

use super::Share;
use super::account::Trust;
use super::activity::Counted;
use super::candidate::Candidate;
use super::fill::{Fill, Price};
use super::guess::Guesses;
use super::ledger::{Ledger, Terms};
use super::procession::Procession;
use super::rhythm::Rhythm;
use super::runs::Runs;
use super::shape::Shape;
use super::stream::Stream;
use super::zone::Zone;
use crate::cache::Cache;
use crate::policy::{Access, Window};
use crate::types::{BLOCK_BYTES, Extent, ObjectId};

/// Candidates of one object: as many, since 128 streams may begin at once.
const CANDIDATES_MAX: usize = 128;
/// Streams kept of an object that nobody has open.
const STREAMS_IDLE_MAX: usize = 4;
/// What disorder left behind is fetched until so much was wasted too much.
const CLEARING_BYTES_MAX: u64 = 8 << 20;
/// What the cache is asked for at once.
const PIECE_BYTES: u64 = 512 << 10;
/// A stream that was not read for so long does not stop others at its start.
const LIVE_NS: u64 = 10_000_000_000;

#[derive(Debug)]
pub(super) struct Streams {
    streams: Vec<Stream>,
    /// The stream that was read last.
    last: usize,
    candidates: VecDeque<Candidate>,
    /// Candidates kept: fewer, the more of them came to nothing, since among many
    /// reads at random some are neighbours by chance.
    patience: usize,
    /// Candidates that a guess was made for.
    guessed_count: usize,
    guesses: Guesses,
    ledger: Ledger,
    fill: Fill,
    /// Reads of the object so far.
    read_count: u64,
    /// Which of all objects' reads was its last.
    last_read_index: u64,
    /// The object's size in bytes at its last read.
    size: u64,
    rhythm: Rhythm,
    runs: Runs,
    procession: Procession,
    zone: Zone,
    /// Wanted besides what a stream wants: those in line, and what was left behind.
    aside: Vec<Extent>,
    /// The read under way began a new run.
    is_new_run: bool,
}

/// What a read that belongs to no stream started.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begun {
    /// The stream at this place.
    Stream(usize),
    /// No more than a candidate, and perhaps a guess at what it reads next.
    Candidate(Option<Extent>),
}

impl Default for Streams {
    fn default() -> Streams {
        Streams {
            streams: Vec::new(),
            last: 0,
            candidates: VecDeque::new(),
            patience: CANDIDATES_MAX,
            guessed_count: 0,
            guesses: Guesses::default(),
            ledger: Ledger::default(),
            fill: Fill::default(),
            read_count: 0,
            last_read_index: 0,
            size: 0,
            rhythm: Rhythm::default(),
            runs: Runs::default(),
            procession: Procession::default(),
            zone: Zone::default(),
            aside: Vec::new(),
            is_new_run: false,
        }
    }
}

impl Streams {
    /// Somebody reads: it is the read of all objects with number `index`.
    pub(super) fn note(&mut self, access: &Access, index: u64, terms: Terms) {
        let extent = access.extent;
        self.last_read_index = index;
        let useful = access.unread_bytes.min(extent.len);
        let missed = if access.missing { extent.len - useful } else { 0 };
        self.guesses.earn(useful);
        self.fill.earn(useful + missed);
        self.ledger.earn(useful, missed, terms);
        self.read_count += 1;
        self.is_new_run = !self.rhythm.goes_on(extent);
    }

    /// The stream whose reader this is: of those near enough, the nearest; those
    /// that leave something out only if there is no other.
    pub(super) fn find(&self, access: &Access) -> Option<usize> {
        if self.streams.get(self.last).is_some_and(|stream| stream.expects(access.extent)) {
            return Some(self.last);
        }
        let near = self.streams.iter().enumerate().filter_map(|(index, stream)| {
            Some(((!stream.shape().is_dense(), stream.distance(access.extent)?), index))
        });
        near.min().map(|(_, index)| index)
    }

    /// The stream that goes on with a read that belongs to the one at `index`: that
    /// one, unless it leaves out too much, where `gap_bytes` are as dear as a request, or
    /// one that begins here beside it.
    pub(super) fn go_on(&mut self, index: usize, access: &Access, gap_bytes: u64) -> Option<usize> {
        let stream = &mut self.streams[index];
        if stream.shape().is_dense() {
            self.patience = if stream.is_proven() { CANDIDATES_MAX } else { self.patience };
            return stream.passes(access.extent, gap_bytes).then_some(index);
        }
        self.begin_run(access.extent);
        Some(self.begin_beside(access).unwrap_or(index))
    }

    /// Whether a read of `extent` is just what comes next of the stream at `index`.
    pub(super) fn expects(&self, index: usize, extent: Extent) -> bool {
        self.streams[index].expects(extent)
    }

    /// A read that no stream expected; what to fetch besides.
    pub(super) fn fill(
        &mut self,
        access: &Access,
        price: &Price,
        trust: &mut Trust,
        cache: &Cache,
    ) -> Option<Extent> {
        self.fill.note(access, price, trust);
        let (wanted, evidence) = self.fill.next(access, price, trust)?;
        let bytes = missing_bytes(access.object, wanted, cache);
        self.fill.begin(wanted, access.size, evidence, bytes, price, trust);
        Some(wanted)
    }

    /// What all streams remember of being counted.
    pub(super) fn activity_mut(&mut self) -> impl Iterator<Item = &mut Counted> {
        self.streams.iter_mut().map(Stream::activity_mut)
    }

    /// The stream at `index`, which is being read.
    pub(super) fn read_at(&mut self, index: usize) -> &mut Stream {
        self.last = index;
        &mut self.streams[index]
    }

    /// The reader of the stream at `index` asks for `access.extent`; adds what to
    /// read ahead to `windows`.
    pub(super) fn read(
        &mut self,
        index: usize,
        access: &Access,
        share: &Share,
        heads: &Runs,
        cache: &Cache,
        windows: &mut Vec<Window>,
    ) {
        self.size = access.size;
        for extent in self.aside.drain(..) {
            self.ledger.lose(missing_bytes(access.object, extent, cache));
            windows.push(Window { extent, mark: extent.offset });
        }
        let stream = &mut self.streams[index];
        let was_over = stream.resume(self.read_count);
        if was_over {
            self.ledger.regain(stream.unread_bytes(stream.ahead(), access.object, cache));
        }
        let skipped = stream.skipped(access.extent);
        // What is cheaper to read than to leave out is not wasted.
        if skipped.len > share.gap_bytes || !stream.shape().is_dense() {
            let bytes = stream.unread_bytes(skipped, access.object, cache);
            // Whoever comes to what is left of a stream did not leave it.
            stream.note_skipped(if was_over { 0 } else { bytes });
            self.ledger.lose(bytes);
        }
        // What was skipped, or left behind by another, was not in vain after all.
        self.regain(access);
        let stream = &self.streams[index];
        let known = if stream.start() == 0 { heads } else { &self.runs };
        let is_forward = matches!(stream.shape(), Shape::Forward);
        let own = stream.own_bytes_with(access.extent);
        let reach = if is_forward {
            known.reach(own, self.ledger.priced(share.wait_bytes, share.terms), 0)
        } else {
            None
        };
        let share = &if reach.is_some() { share.with_known_end() } else { *share };
        let stream = &mut self.streams[index];
        let may_clear = self.ledger.debt(share.terms) <= CLEARING_BYTES_MAX;
        if let Some(extent) = stream.left_out(access)
            && may_clear
        {
            self.ledger.lose(missing_bytes(access.object, extent, cache));
            windows.push(Window { extent, mark: extent.offset });
        }
        if stream.on_read(access, share, reach) {
            let (own, skipped) = (stream.run_bytes(), stream.skipped_bytes());
            let allowed = self.ledger.window_bytes_max(own, skipped, self.at_risk(index), share.terms);
            // How far a stream goes whose end is known, its price has decided.
            let is_known = reach.is_some_and(|end| end < u64::MAX);
            let is_decided = is_known && self.ledger.trusts_known_ends(share.terms);
            let allowed = if is_decided { u64::MAX } else { allowed };
            let likely_end = self.streams[index].start().saturating_add(reach.unwrap_or(u64::MAX));
            let limit = self.clear_until(index, access).min(likely_end);
            self.streams[index].top_up(share, limit, allowed, windows);
        }
        self.streams[index].settle_turn();
    }

    /// What other streams than the one at `index` have wanted that may be no streams at
    /// all: it is not wasted yet, but should not be bet twice.
    fn at_risk(&self, index: usize) -> u64 {
        let others = self.streams.iter().enumerate().filter(|(place, _)| *place != index);
        let doubtful = others.filter(|(_, stream)| !stream.is_settled() && !stream.is_proven());
        doubtful.map(|(_, stream)| stream.ahead().len).sum()
    }

    /// Somebody came for what had been counted as wasted: what no stream awaits.
    fn regain(&mut self, access: &Access) {
        if access.unread_bytes == 0 {
            return;
        }
        let live = self.streams.iter().filter(|stream| !stream.is_settled());
        let awaited: u64 = live.map(|stream| stream.unread_bytes_of(access.extent)).sum();
        self.ledger.regain(access.unread_bytes.saturating_sub(awaited));
    }

    /// The position at which the stream has to stop reading ahead: at the end of
    /// the object, or where another stream that is being read began. The reader
    /// most likely stops there too; if it goes on, it passes that start and is
    /// free again.
    pub(super) fn clear_until(&self, index: usize, access: &Access) -> u64 {
        let stream = &self.streams[index];
        let limit = stream.shape().limit(access.size);
        if !stream.shape().is_dense() {
            return limit;
        }
        let others = self.streams.iter().enumerate().filter(|(other, ahead)| {
            *other != index
                && mem::discriminant(ahead.shape()) == mem::discriminant(stream.shape())
                && ahead.start() >= stream.frontier()
                && access.time.since(ahead.last_read()) < LIVE_NS
        });
        others.map(|(_, ahead)| ahead.start()).fold(limit, u64::min)
    }

    pub(super) fn on_lost(&mut self, extent: Extent) {
        for stream in &mut self.streams {
            self.ledger.lose(stream.on_lost(extent));
        }
        self.fill.on_lost(extent);
    }

    pub(super) fn on_failed(&mut self, extent: Extent) {
        for stream in &mut self.streams {
            stream.on_failed(extent);
        }
        self.fill.on_lost(extent);
    }

    /// Keeps little of an object that nobody reads: thousands are remembered.
    pub(super) fn shrink(&mut self) {
        self.streams.sort_by_key(|stream| core::cmp::Reverse(stream.last_read()));
        self.streams.truncate(STREAMS_IDLE_MAX);
        self.streams.shrink_to_fit();
        self.last = 0;
        self.candidates = VecDeque::new();
        self.guessed_count = 0;
        self.rhythm.clear();
        self.zone.clear();
        self.fill.on_idle();
    }
}

/// Bytes of `extent` that fetching it would bring.
fn missing_bytes(object: ObjectId, extent: Extent, cache: &Cache) -> u64 {
    let blocks = extent.to_blocks();
    let starts = (blocks.offset..blocks.end()).step_by(PIECE_BYTES as usize);
    let pieces = starts.map(|start| Extent::between(start, (start + PIECE_BYTES).min(blocks.end())));
    pieces.map(|piece| cache.tally(piece, &cache.locate(object, piece)).missing * BLOCK_BYTES).sum()
}
