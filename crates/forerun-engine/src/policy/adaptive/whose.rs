//! Whose read it is: some stream's, or evidence for a new one.

use super::deal::Deal;
use super::detect::{Candidate, DISORDER_REQUESTS, KEPT_MAX, Shape, Stream};
use super::object::Object;
use crate::ablation::Rule;
use crate::explain::End;
use crate::policy::Access;
use crate::types::Extent;

impl Object {
    /// The stream that continues with `extent`, if it is the one that was read last or its neighbour.
    fn next(&self, extent: Extent) -> Option<usize> {
        let near = [self.last, self.last + 1].into_iter();
        near.filter(|at| *at < self.streams.len()).find(|at| self.streams[*at].expects(extent))
    }

    /// The stream that the read most likely belongs to, and whether `extent` is exactly the next of some
    /// stream.
    pub(super) fn find(&self, extent: Extent, is_useful: bool) -> (Option<usize>, bool) {
        if let Some(next) = self.next(extent) {
            return (Some(next), true);
        }
        let mut is_expected = false;
        let near = self.streams.iter().enumerate().filter_map(|(at, stream)| {
            let distance = stream.distance(extent, is_useful)?;
            is_expected |= distance == 0;
            Some((!stream.shape.is_dense(), distance, at))
        });
        (near.min().map(|(.., at)| at), is_expected)
    }

    /// Whether `found` or another stream has planned some of `extent`.
    pub(super) fn awaits(&self, found: Option<usize>, extent: Extent) -> bool {
        found.is_some_and(|at| self.streams[at].awaits(extent))
            || self.streams.iter().any(|stream| stream.awaits(extent))
    }

    /// The stream that the read belongs to: the one that was found, or a new one.
    pub(super) fn stream_of(&mut self, mut found: Option<usize>, deal: &mut Deal<'_>) -> Option<usize> {
        let access = deal.access;
        if let Some(at) = found
            && self.may_begin_beside(at, deal)
            && !Rule::Beside.is_off()
        {
            found = self.begin_beside(at, deal).or(found);
        }
        if let Some(at) = found
            && deal.is_new_run
            && self.streams[at].is_off(access.extent, self.strides.last_run())
            && let Some((strided, seen)) = self.strides.find()
            && strided.begins(access.extent)
        {
            self.end(at, End::LeftOut, deal);
            let stream = Stream::new(strided, Extent::between(0, seen), seen, 0, access);
            return Some(self.insert(stream, deal));
        }
        // A reader that comes back may have left out nothing in the end.
        let is_sparse = |stream: &Stream| !stream.has_passed(access.extent) && stream.leaves_out(deal.costs);
        if let Some(at) = found.filter(|at| is_sparse(&self.streams[*at])) {
            self.end(at, End::LeftOut, deal);
            found = None;
        }
        if found.is_none() && (access.missing || deal.is_guessed) {
            self.settle(deal);
        }
        found.or_else(|| self.begin(deal))
    }

    /// Takes the read as evidence, which may be enough for a stream.
    fn begin(&mut self, deal: &mut Deal<'_>) -> Option<usize> {
        let access = deal.access;
        // A reader of an object's start most often reads on.
        let is_start = access.extent.offset == 0 && !Rule::Start.is_off();
        let at_start = is_start || deal.is_announced || self.is_near_start(access);
        if !access.missing && !at_start && !deal.is_guessed {
            return None;
        }
        let candidate = self.take_near(access);
        let is_sure = |shape: &Shape| access.missing || !shape.is_back();
        let mut shape =
            candidate.shape(deal.costs.through).filter(is_sure).or(at_start.then_some(Shape::FORWARD));
        if shape.is_none()
            && deal.is_new_run
            && let Some((strided, seen)) = self.strides.find()
            && strided.is_worth_it(deal.costs)
        {
            self.candidates.push(candidate);
            let stream = Stream::new(strided, Extent::between(0, seen), seen, 0, access);
            return Some(self.insert(stream, deal));
        }
        shape = shape.or_else(|| self.known_run(&candidate, deal));
        if self.is_near_start(access) && !deal.is_announced {
            deal.bet(Extent::new(0, access.extent.offset), None);
        }
        let Some(shape) = shape else {
            if let Some(bytes) = self.candidates.push(candidate) {
                self.lengths.record(bytes, false);
            }
            return None;
        };
        Some(self.insert_dense(shape, &candidate, deal))
    }

    /// Whether the object's first read is one of those at its start, which came out of order.
    fn is_near_start(&self, access: &Access) -> bool {
        self.reads == 1 && access.extent.offset <= DISORDER_REQUESTS * access.extent.len
    }

    /// Whether the read, which belongs to the stream at `at`, may belong to another as well. A step may
    /// begin a run, and a reader may have turned round.
    fn may_begin_beside(&self, at: usize, deal: &Deal<'_>) -> bool {
        let stream = &self.streams[at];
        match stream.shape.is_dense() {
            true => deal.access.missing && stream.has_passed(deal.access.extent),
            false => deal.access.missing || deal.is_new_run && stream.expects(deal.access.extent),
        }
    }

    /// Takes such a read as evidence for a stream beside that at `at`.
    fn begin_beside(&mut self, at: usize, deal: &mut Deal<'_>) -> Option<usize> {
        let candidate = self.take_near(deal.access);
        let goes_on = |shape: &Shape| *shape == self.streams[at].shape;
        let Some(shape) = candidate.shape(deal.costs.through).filter(|shape| !goes_on(shape)) else {
            self.candidates.push(candidate);
            return None;
        };
        Some(self.insert_dense(shape, &candidate, deal))
    }

    /// The shape of a run whose length is known by its first read.
    fn known_run(&mut self, candidate: &Candidate, deal: &mut Deal<'_>) -> Option<Shape> {
        if !candidate.is_new() || deal.costs.step > 0 {
            return None;
        }
        let costs = deal.costs;
        let wait = deal.account().priced(costs.wait);
        let reach = self.lengths.reach(candidate.bytes, wait, self.candidates.count());
        reach.filter(|reach| *reach > candidate.bytes).map(|_| Shape::FORWARD)
    }

    fn take_near(&mut self, access: &Access) -> Candidate {
        // In blocks, since the rest of a block is there once it was fetched.
        let extent = access.extent.to_blocks().intersection(&Extent::new(0, access.size));
        self.candidates.take_near(extent, self.reads, access.size)
    }

    fn insert_dense(&mut self, shape: Shape, candidate: &Candidate, deal: &mut Deal<'_>) -> usize {
        if deal.costs.wait > deal.costs.step {
            for next in self.candidates.next(deal.access.size) {
                deal.bet(next, None);
            }
        }
        let way = shape.positions(candidate.extent).unwrap_or_default();
        let mut stream = Stream::new(shape, way, candidate.bytes, candidate.gap, deal.access);
        stream.is_doubted = self.candidates.is_accident();
        stream.looked = self.candidates.looked(candidate).and_then(|looked| shape.positions(looked));
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
        if place.is_none() && self.streams.len() < KEPT_MAX {
            // Most objects have one stream.
            self.streams.reserve_exact(usize::from(self.streams.is_empty()));
            self.streams.push(stream);
            return self.streams.len() - 1;
        }
        place = place.or_else(|| (0..self.streams.len()).min_by_key(|at| self.streams[*at].last_read));
        let place = place.unwrap_or(0);
        let cause = if self.streams[place].leaves_out(deal.costs) { End::LeftOut } else { End::PushedOut };
        deal.common.ended.record_end(deal.access.object, &mut self.streams[place], self.size, cause);
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
        let ahead = stream.expected();
        self.ahead -= ahead;
        if core::mem::replace(&mut stream.is_over, true) {
            return;
        }
        if ahead == 0 {
            deal.common.shares.release(&mut stream.counted);
        }
        deal.common.ended.record_end(deal.access.object, stream, self.size, cause);
        if stream.shape.is_dense() && stream.start > 0 {
            let bytes = if cause == End::LeftOut {
                stream.read_bytes
            } else {
                stream.run().min(2 * stream.read_bytes)
            };
            let is_whole = stream.frontier >= stream.shape.limit(self.size);
            self.lengths.record(bytes + self.candidates.take_beside(stream.extent()), is_whole);
        }
    }
}
