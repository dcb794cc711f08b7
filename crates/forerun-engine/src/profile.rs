//! Profiles: the extents that the readers of an object touched first, in that order.
//!
//! The reads of one run make the plan of the next, see [`Engine::plan`](crate::Engine::plan).

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use crate::config::Config;
use crate::types::Extent;

/// A read that continues one of the last 16 extents extends it. So interleaved streams leave one extent
/// each.
const OPEN_EXTENTS_MAX: usize = 16;
/// Such an extent does not grow beyond this, so that bytes that are read late stay late.
const OPEN_BYTES_MAX: u64 = 256 << 10;

/// Records which bytes of an object are touched first, in whole blocks.
///
/// It keeps at most [`Config::PLAN_EXTENTS_MAX`] extents of 16 bytes, and as many runs of touched bytes.
/// Later bytes are left out.
///
/// Invariants:
///
/// * the extents in `order` share no bytes;
/// * `touched` holds exactly their bytes, as starts and ends of runs;
/// * `open` holds places in `order`.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    order: Vec<Extent>,
    touched: BTreeMap<u64, u64>,
    open: VecDeque<usize>,
    bytes: u64,
}

impl Recorder {
    /// With nothing touched.
    pub fn new() -> Recorder {
        Recorder::default()
    }

    /// Somebody reads `extent`, whether it is in memory or not.
    pub fn record(&mut self, extent: Extent) {
        if extent.is_empty() {
            return;
        }
        let blocks = extent.to_blocks();
        let mut at = blocks.offset;
        while at < blocks.end() {
            let run = self.touched.range(..=at).next_back().map(|(_, end)| *end);
            if let Some(end) = run.filter(|end| *end > at) {
                at = end;
                continue;
            }
            let next = self.touched.range(at..).next().map_or(u64::MAX, |(start, _)| *start);
            let fresh = Extent::between(at, blocks.end().min(next));
            if !self.append(fresh) {
                return;
            }
            self.touch(fresh);
            at = fresh.end();
        }
    }

    /// The touched extents, in the order in which they were touched first.
    pub fn extents(&self) -> &[Extent] {
        &self.order
    }

    /// Bytes that were touched.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds bytes that were not touched before; false if there is no room for them.
    fn append(&mut self, fresh: Extent) -> bool {
        let goes_on = |place: &usize| {
            let extent = self.order[*place];
            let is_last = *place + 1 == self.order.len();
            extent.end() == fresh.offset && (is_last || extent.len + fresh.len <= OPEN_BYTES_MAX)
        };
        if let Some(place) = self.open.iter().rev().copied().find(goes_on) {
            self.order[place].len += fresh.len;
        } else if self.order.len() < Config::PLAN_EXTENTS_MAX {
            if self.open.len() == OPEN_EXTENTS_MAX {
                self.open.pop_front();
            }
            self.open.push_back(self.order.len());
            self.order.push(fresh);
        } else {
            return false;
        }
        self.bytes += fresh.len;
        true
    }

    /// Joins `fresh` with the runs on either side.
    fn touch(&mut self, fresh: Extent) {
        let before = self.touched.range(..fresh.offset).next_back();
        let start = before.filter(|(_, end)| **end == fresh.offset).map_or(fresh.offset, |(start, _)| *start);
        let end = self.touched.remove(&fresh.end()).unwrap_or(fresh.end());
        self.touched.insert(start, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: u64 = crate::BLOCK_BYTES;

    #[track_caller]
    fn check(reads: &[(u64, u64)], expected: &[(u64, u64)]) {
        let mut recorder = Recorder::new();
        reads.iter().for_each(|(at, len)| recorder.record(Extent::new(at * BLOCK, len * BLOCK)));
        let extents: Vec<_> =
            recorder.extents().iter().map(|extent| (extent.offset / BLOCK, extent.len / BLOCK)).collect();
        assert_eq!(extents, expected, "{reads:?}");
        assert_eq!(recorder.bytes(), expected.iter().map(|(_, len)| len * BLOCK).sum());
    }

    #[test]
    fn extents_are_kept_in_the_order_of_first_touch() {
        check(&[(8, 2), (0, 1), (4, 1)], &[(8, 2), (0, 1), (4, 1)]);
        check(&[(0, 1), (1, 1), (2, 2)], &[(0, 4)]);
        check(&[(2, 2), (0, 6), (0, 6)], &[(2, 4), (0, 2)]);
    }

    #[test]
    fn streams_in_turns_stay_whole() {
        check(&[(0, 1), (100, 1), (1, 1), (101, 1)], &[(0, 2), (100, 2)]);
        let long = OPEN_BYTES_MAX / BLOCK;
        check(&[(0, long), (500, 1), (long, 1)], &[(0, long), (500, 1), (long, 1)]);
    }

    #[test]
    fn a_read_of_a_few_bytes_touches_their_block() {
        let mut recorder = Recorder::new();
        recorder.record(Extent::new(5000, 10));
        assert_eq!(recorder.extents(), [Extent::new(BLOCK, BLOCK)]);
    }

    #[test]
    fn it_has_a_bound() {
        let mut recorder = Recorder::new();
        (0..100_000)
            .for_each(|index| recorder.record(Extent::new(index * 7919 % 100_000 * 2 * BLOCK, BLOCK)));
        assert_eq!(recorder.extents().len(), Config::PLAN_EXTENTS_MAX);
    }
}
