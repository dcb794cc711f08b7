//! The streams of one object, told apart by where they read.
//!
//! State is kept per object, not per handle: reopening, threads, forks, reordered
//! requests and several streams on one handle all find their stream again.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::candidate::Candidate;
use super::forward::Forward;
use super::guess::Guesses;
use crate::policy::Access;
use crate::types::Extent;

/// Streams of one object; the least recently read gives way.
const STREAMS_MAX: usize = 128;
/// Candidates of one object: as many, since 128 streams may begin at once.
const CANDIDATES_MAX: usize = 128;
/// Streams kept of an object that nobody has open.
const STREAMS_IDLE_MAX: usize = 4;
/// A stream that was not read for so long does not stop others at its start.
const LIVE_NS: u64 = 10_000_000_000;

#[derive(Debug, Default)]
pub(super) struct Streams {
    streams: Vec<Forward>,
    /// The stream that was read last.
    last: usize,
    candidates: VecDeque<Candidate>,
    /// Candidates that a guess was made for.
    guessed_count: usize,
    guesses: Guesses,
}

/// What a read that belongs to no stream started.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begun {
    /// The stream at this place.
    Stream(usize),
    /// No more than a candidate, and perhaps a guess at what it reads next.
    Candidate(Option<Extent>),
}

impl Streams {
    /// `bytes` were asked for, by whomever.
    pub(super) fn note(&mut self, bytes: u64) {
        self.guesses.earn(bytes);
    }

    /// The stream whose reader this is: of those near enough, the nearest.
    pub(super) fn find(&self, access: &Access) -> Option<usize> {
        let offset = access.extent.offset;
        if self.streams.get(self.last).is_some_and(|stream| stream.frontier() == offset) {
            return Some(self.last);
        }
        let near = self.streams.iter().enumerate().filter(|(_, stream)| stream.covers(access.extent));
        near.min_by_key(|(_, stream)| stream.distance(offset)).map(|(index, _)| index)
    }

    /// Takes the read as evidence, which may be enough for a new stream.
    pub(super) fn begin(&mut self, access: &Access) -> Begun {
        // Whoever reads an object's start most often reads on.
        let at_start = access.extent.offset == 0;
        // Who reads at random what is in memory needs nothing ahead, and should
        // not pay for looking; unless it was a guess that put it there.
        if !access.late && !at_start && self.guessed_count == 0 {
            return Begun::Candidate(None);
        }
        // In blocks, since the rest of a block is there once it was fetched: reads
        // of a few bytes each would otherwise show up once in a while only.
        let blocks = access.extent.to_blocks().intersection(&Extent::new(0, access.size));
        let mut candidate = self.take_near(blocks);
        if at_start || candidate.is_stream() {
            self.guesses.was_right(&candidate);
            return Begun::Stream(self.insert(Forward::new(&candidate, access), access.size));
        }
        let guess = self.guesses.for_first_read(&mut candidate, access.size);
        self.keep(candidate);
        Begun::Candidate(guess)
    }

    /// The stream at `index`, which is being read.
    pub(super) fn read_at(&mut self, index: usize) -> &mut Forward {
        self.last = index;
        &mut self.streams[index]
    }

    /// Where the stream has to stop reading ahead: at the end of the object, or
    /// where another stream that is being read began. The reader most likely
    /// stops there too; if it goes on, it passes that start and is free again.
    pub(super) fn clear_until(&self, index: usize, access: &Access) -> u64 {
        let frontier = self.streams[index].frontier().max(access.extent.end());
        let others = self.streams.iter().enumerate().filter(|(other, stream)| {
            *other != index && stream.start() >= frontier && access.time.since(stream.last_read()) < LIVE_NS
        });
        others.map(|(_, stream)| stream.start()).fold(access.size, u64::min)
    }

    pub(super) fn on_lost(&mut self, extent: Extent) {
        for stream in &mut self.streams {
            stream.on_lost(extent);
        }
    }

    pub(super) fn on_failed(&mut self, extent: Extent) {
        for stream in &mut self.streams {
            stream.on_failed(extent);
        }
    }

    /// Keeps little of an object that nobody reads: thousands are remembered.
    pub(super) fn shrink(&mut self) {
        self.streams.sort_by_key(|stream| core::cmp::Reverse(stream.last_read()));
        self.streams.truncate(STREAMS_IDLE_MAX);
        self.streams.shrink_to_fit();
        self.last = 0;
        self.candidates = VecDeque::new();
        self.guessed_count = 0;
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
        if self.candidates.len() == CANDIDATES_MAX
            && let Some(oldest) = self.candidates.pop_front()
        {
            self.guessed_count -= usize::from(oldest.guessed > 0);
        }
        self.guessed_count += usize::from(candidate.guessed > 0);
        self.candidates.push_back(candidate);
    }

    /// The new stream takes the place of one that began where it begins and has
    /// come to the object's end: somebody reads the same again. Else a new place,
    /// or that of the stream read longest ago.
    fn insert(&mut self, stream: Forward, size: u64) -> usize {
        let done = |other: &Forward| other.start() == stream.start() && other.frontier() >= size;
        let place = self.streams.iter().position(done);
        if place.is_none() && self.streams.len() < STREAMS_MAX {
            self.streams.push(stream);
            return self.streams.len() - 1;
        }
        let oldest = || (0..self.streams.len()).min_by_key(|index| self.streams[*index].last_read());
        let place = place.or_else(oldest).unwrap_or(0);
        self.streams[place] = stream;
        place
    }
}
