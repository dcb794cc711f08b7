//! Whose read it is: some stream's, or evidence for a new one.

use super::deal::Deal;
use super::detect::{Candidate, DISORDER_REQUESTS, Shape, Stream};
use super::object::Object;
use crate::explain::End;
use crate::policy::Access;
use crate::types::Extent;

/// Streams of one object.
const STREAMS_MAX: usize = 128;

impl Object {
    /// The stream that just goes on with `extent`, if it is the one that was read last or its neighbour.
    fn next(&self, extent: Extent) -> Option<usize> {
        let near = [self.last, self.last + 1].into_iter();
        near.filter(|at| *at < self.streams.len()).find(|at| self.streams[*at].expects(extent))
    }

    /// The stream whose read it most likely is, and whether some stream just goes on with `extent`.
    pub(super) fn find(&self, extent: Extent) -> (Option<usize>, bool) {
        if let Some(next) = self.next(extent) {
            return (Some(next), true);
        }
        let mut is_expected = false;
        let near = self.streams.iter().enumerate().filter_map(|(at, stream)| {
            let distance = stream.distance(extent)?;
            is_expected |= distance == 0;
            Some((!stream.shape.is_dense(), distance, at))
        });
        (near.min().map(|(.., at)| at), is_expected)
    }

    /// Whether `found` or another stream has wanted some of `extent`.
    pub(super) fn awaits(&self, found: Option<usize>, extent: Extent) -> bool {
        found.is_some_and(|at| self.streams[at].awaits(extent))
            || self.streams.iter().any(|stream| stream.awaits(extent))
    }

    /// The stream that the read belongs to: the one that was found, or a new one.
    pub(super) fn stream_of(&mut self, mut found: Option<usize>, deal: &mut Deal<'_>) -> Option<usize> {
        let access = deal.access;
        if let Some(at) = found {
            // A step of a strided stream may be one of a dense stream as well.
            if self.streams[at].expects(access.extent)
                && deal.is_new_run
                && !self.streams[at].shape.is_dense()
            {
                found = self.begin_beside(deal).or(found);
            }
        }
        if let Some(at) = found.filter(|at| self.streams[*at].leaves_out(deal.costs)) {
            self.end(at, End::LeftOut, deal);
            if !self.streams[at].shape.is_dense() {
                self.strides.doubt();
            }
            found = None;
        }
        if found.is_none() && access.missing {
            self.settle(deal);
        }
        found.or_else(|| self.begin(deal))
    }

    /// Takes the read as evidence, which may be enough for a stream.
    fn begin(&mut self, deal: &mut Deal<'_>) -> Option<usize> {
        let access = deal.access;
        // A reader of an object's start most often reads on.
        let at_start = access.extent.offset == 0 || deal.is_announced || self.is_near_start(access);
        if !access.missing && !at_start && !self.line.has_helped() {
            return None;
        }
        let candidate = self.take_near(access);
        let mut shape = candidate.shape(deal.costs.through).or(at_start.then_some(Shape::FORWARD));
        if shape.is_none()
            && deal.is_new_run
            && let Some((strided, seen)) = self.strides.find()
            && strided.is_worth_it(deal.costs)
        {
            self.line.keep(candidate);
            let stream = Stream::new(strided, Extent::between(0, seen), seen, 0, access);
            return Some(self.insert(stream, deal));
        }
        if shape.is_none() && candidate.is_new() && deal.costs.step == 0 {
            let costs = deal.costs;
            let wait = deal.account().priced(costs.wait);
            let reach = self.lengths.reach(candidate.bytes, wait, self.line.count());
            shape = reach.filter(|reach| *reach > candidate.bytes).map(|_| Shape::FORWARD);
        }
        if self.is_near_start(access) {
            deal.bet(Extent::new(0, access.extent.offset), None);
        }
        let Some(shape) = shape else {
            if let Some(bytes) = self.line.keep(candidate) {
                self.lengths.note(bytes, false);
            }
            return None;
        };
        Some(self.insert_dense(shape, &candidate, deal))
    }

    /// Whether the object's first read is one of those at its start, which came out of order.
    fn is_near_start(&self, access: &Access) -> bool {
        self.reads == 1 && access.extent.offset <= DISORDER_REQUESTS * access.extent.len
    }

    /// The same of a read that is a step of a strided stream.
    fn begin_beside(&mut self, deal: &mut Deal<'_>) -> Option<usize> {
        let candidate = self.take_near(deal.access);
        let Some(shape) = candidate.shape(deal.costs.through) else {
            self.line.keep(candidate);
            return None;
        };
        Some(self.insert_dense(shape, &candidate, deal))
    }

    fn take_near(&mut self, access: &Access) -> Candidate {
        // In blocks, since the rest of a block is there once it was fetched.
        let extent = access.extent.to_blocks().intersection(&Extent::new(0, access.size));
        self.line.take_near(extent, self.reads, access.size)
    }

    fn insert_dense(&mut self, shape: Shape, candidate: &Candidate, deal: &mut Deal<'_>) -> usize {
        if deal.costs.wait > deal.costs.step {
            for next in self.line.next(deal.access.size) {
                deal.bet(next, None);
            }
        }
        let way = shape.positions(candidate.extent).unwrap_or_default();
        let mut stream = Stream::new(shape, way, candidate.bytes, candidate.gap, deal.access);
        stream.is_doubted = self.line.is_accident();
        self.insert(stream, deal)
    }

    /// The place of a new stream: that of one that is over, or was read longest ago, if there are many.
    fn insert(&mut self, mut stream: Stream, deal: &mut Deal<'_>) -> usize {
        stream.id = deal.common.next_id();
        let is_done = |other: &Stream| {
            let is_same = other.shape == stream.shape && other.start == stream.start;
            other.leaves_out(deal.costs) || is_same && other.frontier >= other.shape.limit(self.size)
        };
        let mut place = self.streams.iter().position(is_done);
        if place.is_none() && self.streams.len() < STREAMS_MAX {
            // Most objects have one stream.
            self.streams.reserve_exact(usize::from(self.streams.is_empty()));
            self.streams.push(stream);
            return self.streams.len() - 1;
        }
        place = place.or_else(|| (0..self.streams.len()).min_by_key(|at| self.streams[*at].last_read));
        let place = place.unwrap_or(0);
        deal.common.ends.note(deal.access.object, &mut self.streams[place], self.size, End::PushedOut);
        self.ahead -= self.streams[place].expected();
        self.streams[place] = stream;
        place
    }

    /// Streams that nobody reads any more end, so that the bytes ahead of them count as lost.
    fn settle(&mut self, deal: &mut Deal<'_>) {
        for at in 0..self.streams.len() {
            if !self.streams[at].is_over && self.streams[at].is_left(self.reads) {
                self.end(at, End::ReaderLeft, deal);
            }
        }
    }

    /// The stream at `at` is over; how long it was says how long the next one will be.
    fn end(&mut self, at: usize, cause: End, deal: &mut Deal<'_>) {
        let stream = &mut self.streams[at];
        self.ahead -= stream.expected();
        if core::mem::replace(&mut stream.is_over, true) {
            return;
        }
        deal.common.ends.note(deal.access.object, stream, self.size, cause);
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
}
