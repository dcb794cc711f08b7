//! Reads that may turn out to be a stream.

use crate::cache::Cache;
use crate::policy::adaptive::stream::Shape;
use crate::types::{Extent, ObjectId};

/// Requests of disorder that still belong together while evidence is gathered:
/// eight threads that each take the next request stay within it.
const DISORDER_REQUESTS: u64 = 8;
/// Reads that only ever go up and leave something out are a stream after so many:
/// fewer may be even steps.
const SPARSE_COUNT: u32 = 6;

/// A few reads near one another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) start: u64,
    pub(crate) end: u64,
    bytes: u64,
    count: u32,
    /// Steps to what follows right after, to what lies right before, and upward.
    adjacent_up: u32,
    adjacent_down: u32,
    up: u32,
    /// Where the read before was.
    last: u64,
    /// The object's read that was its last, and how many lay between two at most.
    read_index: u64,
    read_gap: u64,
    /// Bytes that were read ahead on the strength of its first read alone.
    pub(super) guessed: u64,
    /// More was, since much is read near there.
    pub(crate) is_bet_on: bool,
}

impl Candidate {
    pub(crate) fn new(extent: Extent) -> Candidate {
        Candidate {
            start: extent.offset,
            end: extent.end(),
            bytes: extent.len,
            count: 1,
            adjacent_up: 0,
            adjacent_down: 0,
            up: 0,
            last: extent.offset,
            read_index: 0,
            read_gap: 0,
            guessed: 0,
            is_bet_on: false,
        }
    }

    /// Whether a read of `extent` could belong to it.
    pub(crate) fn is_near(&self, extent: Extent) -> bool {
        let slack = DISORDER_REQUESTS * extent.len;
        let (low, high) = (extent.offset.saturating_sub(slack), extent.offset.saturating_add(slack));
        // Asked in one: of reads at random half are above, and to guess which takes a processor longer
        // than all the rest.
        let (above, below) = (self.end.wrapping_sub(low) as i64, high.wrapping_sub(self.start) as i64);
        above.min(below) >= 0
    }

    pub(crate) fn add(&mut self, extent: Extent) {
        self.adjacent_up += u32::from(extent.offset == self.end);
        self.adjacent_down += u32::from(extent.end() == self.start);
        self.up += u32::from(extent.offset >= self.last);
        self.last = extent.offset;
        self.start = self.start.min(extent.offset);
        self.end = self.end.max(extent.end());
        self.bytes += extent.len;
        self.count += 1;
    }

    /// The same with all of the `run` that its last read is the end of.
    pub(crate) fn after(self, run: Extent) -> Candidate {
        let mut whole = Candidate::new(Extent::between(run.offset, self.last));
        whole.add(Extent::between(self.last, run.end()));
        Candidate { read_index: self.read_index, read_gap: self.read_gap, ..whole }
    }

    /// It was read, by the object's read number `index`.
    pub(crate) fn note_index(&mut self, index: u64) {
        self.read_gap = if self.is_new() { 0 } else { self.read_gap.max(index - self.read_index) };
        self.read_index = index;
    }

    /// Every how many of the object's reads is one of it.
    pub(crate) fn read_gap(&self) -> u64 {
        self.read_gap
    }

    /// Two reads in order are a stream, either way; in disorder, three that fill at
    /// least half of what they span. Reads at random almost never do either.
    pub(crate) fn shape(&self) -> Option<Shape> {
        let steps = self.count - 1;
        let in_order = steps > 0 && (self.adjacent_up == steps || self.adjacent_down == steps);
        let enough = if self.up == steps { SPARSE_COUNT } else { 3 };
        let filled = self.count >= enough && 2 * self.bytes >= self.end - self.start;
        let forward = self.up * 2 >= steps;
        (in_order || filled).then_some(if forward { Shape::Forward } else { Shape::Backward })
    }

    /// What it spans.
    pub(crate) fn extent(&self) -> Extent {
        Extent::between(self.start, self.end)
    }

    /// What follows may be in memory although nobody came for it yet.
    pub(crate) fn is_guessed(&self) -> bool {
        self.guessed > 0 || self.is_bet_on
    }

    /// Whether nothing beside it was read, as far as is known: else it is part of something longer.
    pub(crate) fn is_alone(&self, object: ObjectId, cache: &Cache) -> bool {
        !cache.is_read(object, self.end) && !cache.is_read(object, self.start.wrapping_sub(1))
    }

    /// Nothing is known but one read.
    pub(crate) fn is_new(&self) -> bool {
        self.count == 1
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(offsets: &[u64], expected: &str) {
        let mut candidate = Candidate::new(Extent::new(offsets[0], 10));
        offsets[1..].iter().for_each(|offset| candidate.add(Extent::new(*offset, 10)));
        let found = match candidate.shape() {
            Some(Shape::Forward) => "forward",
            Some(Shape::Backward) => "backward",
            _ => "nothing",
        };
        assert_eq!(found, expected, "{offsets:?}");
    }

    #[test]
    fn two_in_order_are_a_stream_either_way() {
        check(&[100, 110], "forward");
        check(&[100, 90], "backward");
        check(&[100, 120], "nothing");
        check(&[100, 80], "nothing");
    }

    #[test]
    fn three_in_disorder_are_a_stream() {
        check(&[120, 100, 110], "forward");
        check(&[100, 120, 110], "forward");
        check(&[120, 100, 80], "backward");
        check(&[100, 180, 140], "nothing");
    }

    #[test]
    fn what_leaves_something_out_takes_longer() {
        check(&[100, 120, 130, 150, 160], "nothing");
        check(&[100, 120, 130, 150, 160, 170], "forward");
    }
}
