//! A new stream, and whose place it takes.

use core::mem;

use super::{CANDIDATES_MAX, Ends, Streams};
use crate::cache::Cache;
use crate::explain::End;
use crate::policy::Access;
use crate::policy::adaptive::amounts::Terms;
use crate::policy::adaptive::evidence::Candidate;
use crate::policy::adaptive::stream::{Shape, Stream};
use crate::types::{Extent, StreamId};

/// Streams of one object; the least recently read gives way.
const STREAMS_MAX: usize = 128;

impl Streams {
    /// A stream that `candidate` is enough for.
    pub(super) fn insert_dense(
        &mut self,
        shape: Shape,
        candidate: &Candidate,
        access: &Access,
        ends: &mut Ends,
        cache: &Cache,
    ) -> usize {
        let way = shape.positions(candidate.extent(), 0).unwrap_or_default();
        let mut stream = Stream::new(shape, way, candidate.bytes(), access);
        stream.note_gap(candidate.read_gap());
        if self.chance.explains_another() {
            stream.doubt_altogether();
        } else if usize::from(self.patience) < CANDIDATES_MAX / 2 {
            stream.doubt();
        }
        self.insert(stream, access, ends, cache)
    }

    /// The stream at `index`, of which one read is known, goes the other way.
    pub(super) fn turn_round(&mut self, index: usize, access: &Access, cache: &Cache) {
        let before = &self.streams[index];
        self.ledger.lose(before.unread_bytes(before.ahead(), access.object, cache));
        let mut stream = before.turned_round(access);
        stream.set_id(StreamId(self.last_read_index));
        self.briefs.note(index, &stream);
        self.streams[index] = stream;
    }

    /// A strided stream, if the run that has just begun is in rhythm with others.
    pub(super) fn begin_strided(&mut self, access: &Access, ends: &mut Ends, cache: &Cache) -> Option<usize> {
        let (strides, seen) = self.is_new_run.then(|| self.rhythm.find())??;
        let read = strides.positions(access.extent, seen)?;
        let way = Extent::between(0, read.offset);
        let stream = Stream::new(Shape::Strided(strides), way, way.len, access);
        Some(self.insert(stream, access, ends, cache))
    }

    /// The same in place of the strided stream at `index`, whose elements turn out to be longer.
    pub(super) fn begin_longer(
        &mut self,
        index: usize,
        access: &Access,
        ends: &mut Ends,
        cache: &Cache,
    ) -> Option<usize> {
        let known = self.streams[index].element_bytes()?;
        let (strides, _) = self.is_new_run.then(|| self.rhythm.find())??;
        if strides.element_bytes() <= known { None } else { self.begin_strided(access, ends, cache) }
    }

    /// A stream in much disorder, if the last reads that no stream explains are one: with all that
    /// it spans, as far as that may be wasted.
    pub(super) fn begin_disordered(
        &mut self,
        candidate: &Candidate,
        access: &Access,
        terms: &Terms,
        ends: &mut Ends,
        cache: &Cache,
    ) -> Option<usize> {
        let zone = self.zone.note(access.extent, access.size)?;
        if zone.len > self.ledger.left(terms) {
            return None;
        }
        self.aside.push(zone);
        let way = Extent::between(zone.offset, zone.offset);
        let stream = Stream::new(Shape::Forward, way, candidate.bytes(), access);
        Some(self.insert(stream, access, ends, cache))
    }

    /// The new stream takes the place of one that is over, or that began where it
    /// begins and has come to the object's end, since somebody reads the same again.
    /// Else a new place, or that of the stream read longest ago.
    fn insert(&mut self, mut stream: Stream, access: &Access, ends: &mut Ends, cache: &Cache) -> usize {
        stream.set_id(StreamId(self.last_read_index));
        let is_same = |other: &Stream| mem::discriminant(other.shape()) == mem::discriminant(stream.shape());
        let is_done = |other: &Stream| {
            is_same(other)
                && other.shape().is_dense()
                && other.start() == stream.start()
                && other.frontier() >= other.shape().limit(access.size)
        };
        let place = self.streams.iter().position(|other| other.is_over(self.through_bytes) || is_done(other));
        if place.is_none() && self.streams.len() < STREAMS_MAX {
            self.briefs.note(self.streams.len(), &stream);
            // Most objects have one, and thousands of objects may be open.
            if self.streams.len() == self.streams.capacity() {
                self.streams.reserve_exact(self.streams.len().max(1));
            }
            self.streams.push(stream);
            return self.streams.len() - 1;
        }
        let oldest = || (0..self.streams.len()).min_by_key(|index| self.streams[*index].last_read());
        let place = place.or_else(oldest).unwrap_or(0);
        self.briefs.note(place, &stream);
        let mut before = mem::replace(&mut self.streams[place], stream);
        if !before.is_settled() {
            // Bytes that a neighbour has read since are no waste.
            self.ledger.lose(before.unread_bytes(before.ahead(), access.object, cache));
        }
        ends.note(access.object, &mut before, access.size, self.through_bytes, End::PushedOut);
        place
    }
}
