//! The streams of one object, told apart by where they read.
//!
//! State is kept per object, not per handle: reopening, threads, forks, reordered
//! requests and several streams on one handle all find their stream again.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem;

use super::Share;
use super::activity::Counted;
use super::candidate::Candidate;
use super::fill::Fill;
use super::guess::Guesses;
use super::ledger::Ledger;
use super::rhythm::Rhythm;
use super::shape::Shape;
use super::stream::Stream;
use crate::cache::Cache;
use crate::policy::{Access, Window};
use crate::types::{Extent, ObjectId};

/// Streams of one object; the least recently read gives way.
const STREAMS_MAX: usize = 128;
/// Candidates of one object: as many, since 128 streams may begin at once.
const CANDIDATES_MAX: usize = 128;
/// And at least, however little comes of them.
const PATIENCE_MIN: usize = 16;
/// Streams kept of an object that nobody has open.
const STREAMS_IDLE_MAX: usize = 4;
/// A stream that was not read while so many other reads were made, and while every
/// other stream could have been read so often, has ended.
const SETTLE_READS_MIN: u64 = 32;
const SETTLE_ROUNDS: u64 = 4;
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
    rhythm: Rhythm,
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
            rhythm: Rhythm::default(),
            is_new_run: false,
        }
    }
}

impl Streams {
    /// `extent` was asked for, by whomever.
    pub(super) fn note(&mut self, extent: Extent) {
        self.guesses.earn(extent.len);
        self.ledger.earn(extent.len);
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
    /// one, unless it leaves out too much, or one that begins here beside it.
    pub(super) fn go_on(&mut self, index: usize, access: &Access) -> Option<usize> {
        let stream = &mut self.streams[index];
        if stream.shape().is_dense() {
            self.patience = if stream.is_proven() { CANDIDATES_MAX } else { self.patience };
            return stream.passes(access.extent).then_some(index);
        }
        self.begin_run(access.extent);
        Some(self.begin_beside(access).unwrap_or(index))
    }

    /// Takes the read as evidence, which may be enough for a new stream.
    pub(super) fn begin(&mut self, access: &Access) -> Begun {
        self.ledger.regain(access.unread_bytes);
        // Whoever reads an object's start most often reads on.
        let at_start = access.extent.offset == 0;
        self.begin_run(access.extent);
        // Who reads at random what is in memory needs nothing ahead, and should
        // not pay for looking; what is on its way, some stream has wanted already.
        // Unless it was a guess that put it there.
        if !access.missing && !at_start && self.guessed_count == 0 {
            return Begun::Candidate(None);
        }
        // In blocks, since the rest of a block is there once it was fetched: reads
        // of a few bytes each would otherwise show up once in a while only.
        let blocks = access.extent.to_blocks().intersection(&Extent::new(0, access.size));
        let mut candidate = self.take_near(blocks);
        let shape = candidate.shape().or(at_start.then_some(Shape::Forward));
        if let Some(shape) = shape {
            self.guesses.was_right(&candidate);
            return Begun::Stream(self.insert_dense(shape, &candidate, access));
        }
        if let Some(index) = self.begin_strided(access) {
            self.keep(candidate);
            return Begun::Stream(index);
        }
        let guess = self.guesses.for_first_read(&mut candidate, access.size);
        self.ledger.lose(guess.unwrap_or_default().len);
        self.keep(candidate);
        Begun::Candidate(guess)
    }

    /// What to fetch besides for a read that is no stream's.
    pub(super) fn fill(&mut self, access: &Access, bytes_max: u64) -> Option<Extent> {
        self.fill.on_read(access, bytes_max)
    }

    /// A read that is a step of a strided stream may also be one of a dense stream:
    /// many that are read in turns first look like steps.
    fn begin_beside(&mut self, access: &Access) -> Option<usize> {
        if !self.is_new_run {
            return None;
        }
        let blocks = access.extent.to_blocks().intersection(&Extent::new(0, access.size));
        let candidate = self.take_near(blocks);
        if let Some(shape) = candidate.shape() {
            return Some(self.insert_dense(shape, &candidate, access));
        }
        self.keep(candidate);
        None
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
        cache: &Cache,
        windows: &mut Vec<Window>,
    ) {
        let stream = &mut self.streams[index];
        if stream.resume(self.read_count) {
            self.ledger.regain(stream.unread_bytes(stream.ahead(), access.object, cache));
        }
        let skipped = stream.skipped(access.extent);
        self.ledger.lose(stream.unread_bytes(skipped, access.object, cache));
        // What was skipped, or left behind by another, was not in vain after all.
        self.ledger.regain(access.unread_bytes.saturating_sub(stream.unread_bytes_of(access.extent)));
        if stream.on_read(access, share) {
            let allowed = self.ledger.window_bytes_max(stream.own_bytes(), share.terms);
            let limit = self.clear_until(index, access);
            self.streams[index].top_up(share, limit, allowed, windows);
        }
        self.streams[index].settle_turn();
    }

    /// Counts what lies ahead of streams that nobody reads any more as wasted.
    pub(super) fn settle(&mut self, object: ObjectId, cache: &Cache) {
        let live = self.streams.iter().filter(|stream| !stream.is_settled()).count() as u64;
        let patience = SETTLE_READS_MIN + SETTLE_ROUNDS * live;
        for stream in &mut self.streams {
            if !stream.is_settled() && self.read_count - stream.read_index() > patience {
                self.ledger.lose(stream.unread_bytes(stream.ahead(), object, cache));
                stream.settle();
            }
        }
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
        self.fill.on_idle();
    }

    /// The candidate near `extent` with it added, or a new one.
    fn take_near(&mut self, extent: Extent) -> Candidate {
        let near = self.candidates.iter().rposition(|candidate| candidate.is_near(extent));
        let Some(mut candidate) = near.and_then(|index| self.candidates.remove(index)) else {
            return Candidate::new(extent);
        };
        self.guessed_count -= usize::from(candidate.guessed > 0);
        candidate.add(extent);
        candidate
    }

    fn keep(&mut self, candidate: Candidate) {
        while self.candidates.len() >= self.patience
            && let Some(oldest) = self.candidates.pop_front()
        {
            self.guessed_count -= usize::from(oldest.guessed > 0);
            self.patience = (self.patience - 1).max(PATIENCE_MIN);
        }
        self.guessed_count += usize::from(candidate.guessed > 0);
        self.candidates.push_back(candidate);
    }

    /// Reads that no dense stream explains may be steps.
    fn begin_run(&mut self, extent: Extent) {
        if self.is_new_run {
            self.rhythm.begin(extent);
        }
    }

    fn insert_dense(&mut self, shape: Shape, candidate: &Candidate, access: &Access) -> usize {
        let way = shape.positions(candidate.extent(), 0).unwrap_or_default();
        let mut stream = Stream::new(shape, way, candidate.bytes(), access);
        if self.patience < CANDIDATES_MAX / 2 {
            stream.doubt();
        }
        self.insert(stream, access.size)
    }

    /// A strided stream, if the run that has just begun is in rhythm with others.
    fn begin_strided(&mut self, access: &Access) -> Option<usize> {
        let (strides, seen) = self.is_new_run.then(|| self.rhythm.find())??;
        let read = strides.positions(access.extent, seen)?;
        let way = Extent::between(0, read.offset);
        Some(self.insert(Stream::new(Shape::Strided(strides), way, way.len, access), access.size))
    }

    /// The new stream takes the place of one that is over, or that began where it
    /// begins and has come to the object's end, since somebody reads the same again.
    /// Else a new place, or that of the stream read longest ago.
    fn insert(&mut self, stream: Stream, size: u64) -> usize {
        let is_same = |other: &Stream| mem::discriminant(other.shape()) == mem::discriminant(stream.shape());
        let is_done = |other: &Stream| {
            is_same(other)
                && other.shape().is_dense()
                && other.start() == stream.start()
                && other.frontier() >= other.shape().limit(size)
        };
        let place = self.streams.iter().position(|other| other.is_over() || is_done(other));
        if place.is_none() && self.streams.len() < STREAMS_MAX {
            self.streams.push(stream);
            return self.streams.len() - 1;
        }
        let oldest = || (0..self.streams.len()).min_by_key(|index| self.streams[*index].last_read());
        let place = place.or_else(oldest).unwrap_or(0);
        let before = mem::replace(&mut self.streams[place], stream);
        self.ledger.lose(if before.is_settled() { 0 } else { before.ahead().len });
        place
    }
}
