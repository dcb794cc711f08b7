//! One object: whose read it is, and what is wanted because of it.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::budget::{Expected, Shares};
use super::deal::Deal;
use super::detect::{Candidate, Line, Nearby, Region, Shape, Stream, Strides};
use super::ends::Ends;
use super::evidence::{Head, Heads, Lengths, Trust};
use super::window::Bounds;
use crate::cache::Cache;
use crate::device::Costs;
use crate::explain::End;
use crate::policy::Access;
use crate::types::{Extent, ObjectId, StreamId, Time};

/// Streams of one object, and those kept of one that nobody has open.
const STREAMS_MAX: usize = 128;
const STREAMS_IDLE_MAX: usize = 4;
/// A stream that was not read for so long does not stop others at its start.
const LIVE_NS: u64 = 10_000_000_000;
/// What is read through at a time without being counted, or what each request costs if that is more.
const PASSED_BYTES_MAX: u64 = 64 << 10;
/// What disorder left behind may cost so many waits besides what may be lost.
const LEFT_OUT_WAITS: u64 = 4;

/// What all objects have in common.
#[derive(Debug, Default)]
pub(super) struct Common {
    pub(super) shares: Shares,
    pub(super) heads: Heads,
    pub(super) trust: Trust,
    streams: u64,
}

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Object {
    pub(super) streams: Vec<Stream>,
    /// The stream that was read last.
    pub(super) last: usize,
    line: Line,
    strides: Strides,
    /// How long streams were that did not begin at the start.
    lengths: Lengths,
    pub(super) region: Region,
    /// Boxed, since most objects are read in order.
    pub(super) nearby: Option<Box<Nearby>>,
    reads: u64,
    /// Which of all objects' reads was its last.
    last_read: u64,
    size: u64,
    /// Fetched, and passed over since a request that leaves it out costs more.
    passed: u64,
}

impl Object {
    /// What is reserved for it that is not lost.
    pub(super) fn expected(&self) -> Expected {
        let ahead: u64 = self.streams.iter().map(Stream::expected).sum();
        Expected { ahead: ahead + self.region.filled.unread, passed: self.passed }
    }

    /// The stream that just goes on with `extent`, if it is the one that was read last or its neighbour.
    pub(super) fn next(&self, extent: Extent) -> Option<usize> {
        let near = [self.last, self.last + 1].into_iter();
        near.filter(|at| *at < self.streams.len()).find(|at| self.streams[*at].expects(extent))
    }

    /// Takes note of the read, whosesoever it is: of all objects' reads it is that `number`. Whether it begins
    /// a run.
    pub(super) fn note(&mut self, access: &Access, number: u64) -> bool {
        self.reads += 1;
        self.last_read = number;
        self.size = access.size;
        let useful = access.unread_bytes.min(access.extent.len);
        let missed = if access.missing { access.extent.len - useful } else { 0 };
        self.region.filled.note_read(useful + missed);
        if let Some(nearby) = &mut self.nearby {
            nearby.note(access.extent, access.size);
        }
        self.strides.note(access.extent)
    }

    /// Somebody came for `bytes` that were fetched, and no stream expected it: it was no loss to pass them.
    pub(super) fn come_back(&mut self, bytes: u64) {
        self.passed = self.passed.saturating_sub(bytes);
    }

    /// The stream that the read belongs to, or a new one.
    pub(super) fn stream_of(
        &mut self,
        is_new_run: bool,
        is_announced: bool,
        deal: &mut Deal<'_>,
        common: &mut Common,
        ends: &mut Ends,
    ) -> Option<usize> {
        let access = deal.access;
        let mut found = self.next(access.extent).or_else(|| self.nearest(access.extent));
        if let Some(at) = found {
            let is_expected = self.streams[at].expects(access.extent);
            // A step of a strided stream may be one of a dense stream as well.
            if is_expected && is_new_run && !self.streams[at].shape.is_dense() {
                found = self.begin_beside(deal, common, ends).or(found);
            }
        }
        if let Some(at) = found.filter(|at| self.streams[*at].leaves_out(deal.costs)) {
            self.end(at, End::LeftOut, access.object, ends);
            if !self.streams[at].shape.is_dense() {
                self.strides.doubt();
            }
            found = None;
        }
        if found.is_none() && access.missing {
            self.settle(access.object, ends);
        }
        found.or_else(|| self.begin(is_new_run, is_announced, deal, common, ends))
    }

    fn nearest(&self, extent: Extent) -> Option<usize> {
        let near = self.streams.iter().enumerate().filter_map(|(at, stream)| {
            let distance = stream.distance(extent)?;
            Some((!stream.shape.is_dense(), distance, at))
        });
        near.min().map(|(.., at)| at)
    }

    /// Takes the read as evidence, which may be enough for a stream.
    fn begin(
        &mut self,
        is_new_run: bool,
        is_announced: bool,
        deal: &mut Deal<'_>,
        common: &mut Common,
        ends: &mut Ends,
    ) -> Option<usize> {
        let access = deal.access;
        // Whoever reads an object's start most often reads on.
        let at_start = access.extent.offset == 0 || is_announced;
        if !access.missing && !at_start && !self.line.has_helped() {
            return None;
        }
        let candidate = self.take_near(access);
        let mut shape = candidate.shape(deal.costs.through).or(at_start.then_some(Shape::FORWARD));
        if shape.is_none()
            && is_new_run
            && let Some((strided, seen)) = self.strides.find()
            && strided.is_worth_it(deal.costs)
        {
            self.line.keep(candidate);
            let stream = Stream::new(strided, Extent::between(0, seen), seen, 0, access);
            return Some(self.insert(stream, deal, common, ends));
        }
        if shape.is_none() && candidate.is_new() && deal.costs.step == 0 {
            let wait = deal.account.priced(deal.costs.wait);
            let reach = self.lengths.reach(candidate.bytes, wait, self.line.count());
            shape = reach.filter(|reach| *reach > candidate.bytes).map(|_| Shape::FORWARD);
        }
        let Some(shape) = shape else {
            if let Some(bytes) = self.line.keep(candidate) {
                self.lengths.note(bytes, false);
            }
            return None;
        };
        Some(self.insert_dense(shape, &candidate, deal, common, ends))
    }

    /// The same of a read that is a step of a strided stream.
    fn begin_beside(&mut self, deal: &mut Deal<'_>, common: &mut Common, ends: &mut Ends) -> Option<usize> {
        let candidate = self.take_near(deal.access);
        let Some(shape) = candidate.shape(deal.costs.through) else {
            self.line.keep(candidate);
            return None;
        };
        Some(self.insert_dense(shape, &candidate, deal, common, ends))
    }

    fn take_near(&mut self, access: &Access) -> Candidate {
        // In blocks, since the rest of a block is there once it was fetched.
        let extent = access.extent.to_blocks().intersection(&Extent::new(0, access.size));
        self.line.take_near(extent, self.reads, access.size)
    }

    fn insert_dense(
        &mut self,
        shape: Shape,
        candidate: &Candidate,
        deal: &mut Deal<'_>,
        common: &mut Common,
        ends: &mut Ends,
    ) -> usize {
        if deal.costs.wait > deal.costs.step {
            for next in self.line.next(deal.access.size) {
                deal.bet(next, None);
            }
        }
        let way = shape.positions(candidate.extent).unwrap_or_default();
        let mut stream = Stream::new(shape, way, candidate.bytes, candidate.gap, deal.access);
        stream.is_doubted = self.line.is_accident();
        self.insert(stream, deal, common, ends)
    }

    /// The place of a new stream: that of one that is over, or was read longest ago, if there are many.
    fn insert(&mut self, mut stream: Stream, deal: &Deal<'_>, common: &mut Common, ends: &mut Ends) -> usize {
        common.streams += 1;
        stream.id = StreamId(common.streams);
        let is_done = |other: &Stream| {
            let is_same = other.shape == stream.shape && other.start == stream.start;
            other.leaves_out(deal.costs) || is_same && other.frontier >= other.shape.limit(self.size)
        };
        let mut place = self.streams.iter().position(is_done);
        if place.is_none() && self.streams.len() < STREAMS_MAX {
            self.streams.push(stream);
            return self.streams.len() - 1;
        }
        place = place.or_else(|| (0..self.streams.len()).min_by_key(|at| self.streams[*at].last_read));
        let place = place.unwrap_or(0);
        ends.note(deal.access.object, &mut self.streams[place], self.size, End::PushedOut);
        self.streams[place] = stream;
        place
    }

    /// What lies ahead of streams that nobody reads any more is lost.
    fn settle(&mut self, object: ObjectId, ends: &mut Ends) {
        for at in 0..self.streams.len() {
            if !self.streams[at].is_over && self.streams[at].is_left(self.reads) {
                self.end(at, End::ReaderLeft, object, ends);
            }
        }
    }

    /// The stream at `at` is over; how long it was says how long the next one will be.
    fn end(&mut self, at: usize, cause: End, object: ObjectId, ends: &mut Ends) {
        let stream = &mut self.streams[at];
        if core::mem::replace(&mut stream.is_over, true) {
            return;
        }
        ends.note(object, stream, self.size, cause);
        if stream.shape == Shape::FORWARD {
            let bytes = if cause == End::LeftOut {
                stream.read_bytes
            } else {
                stream.run().min(2 * stream.read_bytes)
            };
            if stream.start > 0 {
                self.lengths.note(bytes, stream.frontier >= self.size);
            }
        }
    }

    /// The stream at `at` goes on with the read, and wants what is to be kept ahead. What its reader has
    /// behind it then.
    pub(super) fn go_on(
        &mut self,
        at: usize,
        is_announced: bool,
        deal: &mut Deal<'_>,
        common: &mut Common,
    ) -> Option<Extent> {
        self.last = at;
        let (access, costs) = (deal.access, deal.costs);
        let stream = &mut self.streams[at];
        let positions = stream.shape.positions(access.extent)?;
        stream.resume(self.reads, positions.offset);
        let useful = access.unread_bytes.min(access.extent.len);
        if positions.end() < stream.frontier {
            stream.skipped = stream.skipped.saturating_sub(useful);
        }
        let passed = stream.passes(access.extent);
        if let Some(left) = stream.left_out(access, positions)
            && left.len <= deal.account.left() + LEFT_OUT_WAITS * costs.wait
        {
            deal.bet(left, Some(stream.id));
        }
        let skipped = stream.advance(access, positions);
        self.note_skipped(at, skipped, access.object, deal.view.cache, costs);
        let stream = &mut self.streams[at];
        common.shares.note(access.time, &mut stream.counted);
        if !stream.sizing.is_quiet(stream.frontier) {
            self.want(at, is_announced, deal, common);
        }
        passed
    }

    /// The stream at `at` left out `skipped` of what it had wanted.
    fn note_skipped(&mut self, at: usize, skipped: Extent, object: ObjectId, cache: &Cache, costs: &Costs) {
        if skipped.is_empty() {
            return;
        }
        let stream = &mut self.streams[at];
        let bytes = stream.unread(skipped, object, cache);
        if skipped.len > costs.gap || !stream.shape.is_dense() {
            stream.skipped += bytes;
        } else if skipped.len <= PASSED_BYTES_MAX.max(costs.through) {
            self.passed += bytes;
        }
    }

    fn want(&mut self, at: usize, is_announced: bool, deal: &mut Deal<'_>, common: &Common) {
        let (costs, account) = (deal.costs, &deal.account);
        let stream = &self.streams[at];
        let is_up = stream.shape == Shape::FORWARD;
        let lengths = if stream.start == 0 { &common.heads.lengths } else { &self.lengths };
        let wait = account.priced(costs.wait);
        let known = is_up && !is_announced;
        let reach = if known { lengths.reach(stream.run(), wait, 0) } else { None };
        let is_decided = reach.is_some_and(|reach| reach < u64::MAX);
        let own = if stream.is_dear(costs) { 0 } else { stream.trusted() };
        let trusted = account.trust(own, stream.read_len, stream.skipped, costs);
        let allowed = if is_decided { u64::MAX } else { trusted };
        // What lies ahead of it has its room already.
        let allowed = allowed.min(account.room() + stream.expected());
        let end = (stream.frontier - stream.run()).saturating_add(reach.unwrap_or(u64::MAX));
        let shares = &common.shares;
        // All that may be streams wait as well.
        let others = self.streams.len() as u64 + self.line.count();
        let bounds = Bounds {
            share: if reach.is_some() {
                shares.of_one_that_ends(deal.view)
            } else {
                shares.of_one(deal.view)
            },
            allowed: allowed.min(deal.credit.room),
            limit: self.limit(at, deal.access.time).min(end),
            reach,
            reading: shares.reading().max(others),
            is_announced,
        };
        self.streams[at].top_up(costs, &bounds, deal.windows);
    }

    /// Where another stream that goes the same way began, or the object ends.
    fn limit(&self, at: usize, now: Time) -> u64 {
        let stream = &self.streams[at];
        let limit = stream.shape.limit(self.size);
        if !stream.shape.is_dense() {
            return limit;
        }
        let is_ahead = |other: &&Stream| {
            other.shape == stream.shape
                && other.start > stream.frontier
                && now.since(other.last_read) < LIVE_NS
        };
        self.streams
            .iter()
            .filter(is_ahead)
            .map(|other| other.start)
            .min()
            .map_or(limit, |start| start.min(limit))
    }

    /// Nobody has it open any more.
    pub(super) fn on_idle(&mut self, object: ObjectId, common: &mut Common, ends: &mut Ends) {
        for at in 0..self.streams.len() {
            let stream = &mut self.streams[at];
            ends.note(object, stream, self.size, End::Closed);
        }
        common.heads.on_idle(object, self.head());
        self.streams.sort_by_key(|stream| core::cmp::Reverse(stream.last_read));
        self.streams.truncate(STREAMS_IDLE_MAX);
        self.streams.shrink_to_fit();
        self.line.clear();
        self.strides.clear();
        self.nearby = None;
        self.last = 0;
    }

    /// How far it was read from its start.
    pub(super) fn head(&self) -> Head {
        let heads = self.streams.iter().filter(|stream| stream.start == 0 && stream.shape == Shape::FORWARD);
        let bytes = heads.map(|stream| stream.frontier).max();
        Head { bytes, is_whole: bytes.is_some_and(|bytes| bytes >= self.size), last_read: self.last_read }
    }

    /// All of its streams are over.
    pub(super) fn end_all(&mut self, object: ObjectId, ends: &mut Ends) {
        self.streams.iter_mut().for_each(|stream| ends.note(object, stream, self.size, End::Forgotten));
    }

    pub(super) fn on_lost(&mut self, extent: Extent) {
        self.streams.iter_mut().for_each(|stream| stream.on_lost(extent));
        if self.region.on_lost(extent) {
            self.region.filled.lose(extent.len);
        }
    }

    pub(super) fn on_failed(&mut self, extent: Extent) {
        self.streams.iter_mut().for_each(|stream| stream.on_failed(extent));
        self.region.on_lost(extent);
    }

    /// The youngest read of no stream had a bet.
    pub(super) fn help_youngest(&mut self) {
        self.line.help_youngest();
    }
}
