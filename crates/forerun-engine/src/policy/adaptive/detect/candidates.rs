//! Reads of no stream, in the order in which they came: some of them will be streams.
//!
//! Many interleaved readers all read once before any of them reads again. If the oldest reads turn out to
//! be streams, in order, the next ones most likely will too.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::{Candidate, KEPT_MAX};
use crate::ablation::Rule;
use crate::types::Extent;

/// Streams that must begin in order before the next one is predicted.
const IN_ORDER_MIN: u32 = 2;
/// Parts of one accident. Accidents come in clusters: this many times the average, and at most two for each read.
const ONE: i64 = 1 << 16;
const CLUSTER: i64 = 4;

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    candidates: VecDeque<Candidate>,
    /// How many in a row continued in the order in which they came.
    in_order: u32,
    /// The streams that may still begin by chance if all reads are random, in parts of [`ONE`]. That
    /// depends on the number of candidates, their size and the size of the object.
    accidents: i64,
}

impl Candidates {
    /// The candidate near the object's read number `index` with that added, or a new one.
    pub(crate) fn take_near(&mut self, extent: Extent, index: u64, size: u64) -> Candidate {
        let places = (size / extent.len.max(1)).max(1) as i64;
        let share = CLUSTER * self.candidates.len() as i64 * ONE / places;
        self.accidents += share.min(2 * ONE);
        let around = Candidate::around(extent);
        let youngest = |part: &[Candidate]| part.iter().rposition(|candidate| candidate.is_near(&around));
        let (older, younger) = self.candidates.as_slices();
        let near = youngest(younger).map(|at| older.len() + at).or_else(|| youngest(older));
        self.in_order = if near == Some(0) { self.in_order + 1 } else { 0 };
        let Some(mut candidate) = near.and_then(|at| self.candidates.remove(at)) else {
            return Candidate::new(extent, index);
        };
        candidate.is_helped = false;
        candidate.add(extent, index);
        candidate
    }

    /// Where the reader of `begun` has looked, right before it began there or after that.
    pub(crate) fn looked(&self, begun: &Candidate) -> Option<Extent> {
        self.candidates.iter().rev().take(2).find(|other| begun.is_beside(other)).map(|other| other.extent)
    }

    /// Takes out those right beside `extent`, whose bytes they are.
    pub(crate) fn take_beside(&mut self, extent: Extent) -> u64 {
        let mut bytes = 0;
        self.candidates.retain(|Candidate { extent: other, .. }| {
            let is_beside = other.end() == extent.offset || extent.end() == other.offset;
            bytes += if is_beside { other.len } else { 0 };
            !is_beside
        });
        bytes
    }

    /// It is no stream yet. The length of the one that gives way, which came to nothing.
    pub(crate) fn push(&mut self, candidate: Candidate) -> Option<u64> {
        let is_full = self.candidates.len() == KEPT_MAX;
        let oldest = if is_full { self.candidates.pop_front() } else { None };
        self.candidates.push_back(candidate);
        oldest.map(|oldest| oldest.bytes)
    }

    /// A stream begins. Returns the extents that the next candidates will most likely read, each as long as
    /// its reads.
    pub(crate) fn next(&mut self, size: u64) -> Vec<Extent> {
        if self.in_order < IN_ORDER_MIN || Rule::Line.is_off() {
            return Vec::new();
        }
        let first = self.candidates.iter_mut().take(2_usize.saturating_pow(self.in_order));
        let next = first.filter(|candidate| !candidate.is_helped).map(|candidate| {
            candidate.is_helped = true;
            let start = candidate.extent.end().min(size);
            Extent::between(start, start.saturating_add(candidate.bytes).min(size))
        });
        next.collect()
    }

    /// A stream begins. Whether it may well be an accident.
    pub(crate) fn is_accident(&mut self) -> bool {
        self.accidents -= ONE;
        self.accidents >= 0 && !Rule::Chance.is_off()
    }

    /// More is fetched on the strength of the youngest.
    pub(crate) fn help_youngest(&mut self) {
        if let Some(youngest) = self.candidates.back_mut() {
            youngest.is_helped = true;
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.candidates.len() as u64
    }

    pub(crate) fn clear(&mut self) {
        *self = Candidates::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 1 << 30;

    fn read(candidates: &mut Candidates, offset: u64) {
        let candidate = candidates.take_near(Extent::new(offset, 4096), 1, SIZE);
        if candidate.is_new() {
            candidates.push(candidate);
        }
    }

    #[test]
    fn those_in_line_are_helped_when_the_first_went_on() {
        let mut candidates = Candidates::default();
        (0..64).for_each(|index| read(&mut candidates, index << 20));
        read(&mut candidates, 4096);
        assert!(candidates.next(SIZE).is_empty());
        read(&mut candidates, (1 << 20) + 4096);
        let next = candidates.next(SIZE);
        assert_eq!((next.len(), next[1]), (4, Extent::new((3 << 20) + 4096, 4096)));
        read(&mut candidates, (30 << 20) + 4096);
        assert!(candidates.next(SIZE).is_empty(), "out of order there is no opinion");
    }

    #[test]
    fn neighbours_in_a_small_object_are_no_surprise() {
        let mut candidates = Candidates::default();
        (0..100).for_each(|index| read(&mut candidates, index << 23));
        assert!(!candidates.is_accident(), "in a large one they are");
        let mut candidates = Candidates::default();
        for index in 0..100 {
            let candidate = candidates.take_near(Extent::new((index * 37 % 64) << 20, 1 << 14), 1, 64 << 20);
            candidates.push(candidate);
        }
        assert!(candidates.is_accident());
    }
}
