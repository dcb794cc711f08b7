//! The extents of a plan, by their offset and by their order.
//!
//! Positions count the plan's bytes in its order.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::config::Config;
use crate::types::Extent;

/// Invariants:
///
/// * `extents` share no bytes, and none is empty;
/// * `starts[i]` is the sum of the lengths before `extents[i]`;
/// * `by_offset` holds every place in `extents`, by offset.
#[derive(Debug, Default)]
pub(super) struct Route {
    extents: Vec<Extent>,
    starts: Vec<u64>,
    by_offset: Vec<u32>,
    len: u64,
}

impl Route {
    /// `extents` in that order, in whole blocks below `size`, each byte once.
    pub(super) fn new<'a>(extents: impl IntoIterator<Item = &'a Extent>, size: u64) -> Route {
        let mut route = Route::default();
        let mut taken: BTreeMap<u64, u64> = BTreeMap::new();
        for extent in extents {
            let within = extent.intersection(&Extent::new(0, size));
            if within.is_empty() {
                continue;
            }
            let wanted = within.to_blocks();
            let mut at = wanted.offset;
            while at < wanted.end() && route.extents.len() < Config::PLAN_EXTENTS_MAX {
                let run = taken.range(..=at).next_back().map(|(_, end)| *end);
                if let Some(end) = run.filter(|end| *end > at) {
                    at = end;
                    continue;
                }
                let next = taken.range(at..).next().map_or(u64::MAX, |(start, _)| *start);
                let fresh = Extent::between(at, wanted.end().min(next));
                taken.insert(fresh.offset, fresh.end());
                route.push(fresh);
                at = fresh.end();
            }
        }
        route.by_offset = (0..route.extents.len() as u32).collect();
        route.by_offset.sort_by_key(|place| route.extents[*place as usize].offset);
        route
    }

    fn push(&mut self, extent: Extent) {
        match self.extents.last_mut() {
            Some(last) if last.end() == extent.offset => last.len += extent.len,
            _ => {
                self.starts.push(self.len);
                self.extents.push(extent);
            }
        }
        self.len += extent.len;
    }

    /// The plan's bytes.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn extents(&self) -> &[Extent] {
        &self.extents
    }

    /// The place of the extent at `position`.
    pub(super) fn place(&self, position: u64) -> usize {
        self.starts.partition_point(|start| *start <= position).saturating_sub(1)
    }

    /// Whether an extent begins at `position`.
    pub(super) fn begins_at(&self, position: u64) -> bool {
        self.starts.binary_search(&position).is_ok()
    }

    /// The positions of the extent at `place`.
    pub(super) fn positions_of(&self, place: usize) -> Extent {
        Extent::new(self.starts[place], self.extents[place].len)
    }

    /// The positions of `extent`'s bytes that are part of it, extent by extent.
    pub(super) fn positions(&self, extent: Extent) -> impl Iterator<Item = Extent> + '_ {
        let at = |place: &u32| self.extents[*place as usize];
        let first = self.by_offset.partition_point(|place| at(place).end() <= extent.offset);
        self.by_offset[first..].iter().take_while(move |place| at(place).offset < extent.end()).map(
            move |place| {
                let whole = self.extents[*place as usize];
                let part = whole.intersection(&extent);
                Extent::new(self.starts[*place as usize] + part.offset - whole.offset, part.len)
            },
        )
    }

    /// The extents at `positions`, in order, at most `count_max` of them, and the position where they end.
    pub(super) fn extents_at(&self, positions: Extent, count_max: usize) -> (Vec<Extent>, u64) {
        let first = self.place(positions.offset);
        let mut found = Vec::new();
        let mut end = positions.offset;
        for place in first..self.extents.len() {
            let (whole, start) = (self.extents[place], self.starts[place]);
            if start >= positions.end() || found.len() == count_max {
                break;
            }
            let part = Extent::new(start, whole.len).intersection(&positions);
            found.push(Extent::new(whole.offset + part.offset - start, part.len));
            end = part.end();
        }
        (found, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: u64 = crate::BLOCK_BYTES;

    fn extent((at, len): &(u64, u64)) -> Extent {
        Extent::new(at * BLOCK, len * BLOCK)
    }

    fn route(extents: &[(u64, u64)]) -> Route {
        let extents: Vec<_> = extents.iter().map(extent).collect();
        Route::new(&extents, 1000 * BLOCK)
    }

    #[test]
    fn every_byte_is_there_once() {
        let route = route(&[(10, 4), (12, 4), (0, 20), (999, 9)]);
        let expected: Vec<_> = [(10, 6), (0, 10), (16, 4), (999, 1)].iter().map(extent).collect();
        assert_eq!(route.extents(), expected);
        assert_eq!(route.len(), 21 * BLOCK);
        let past = [Extent::new(BLOCK + 1, 1), Extent::new(5, 0)];
        assert_eq!(Route::new(&past, BLOCK).len(), 0);
    }

    #[test]
    fn positions_and_extents_are_each_others_inverse() {
        let route = route(&[(10, 4), (0, 2), (20, 4)]);
        let positions: Vec<_> = route.positions(extent(&(1, 20))).collect();
        assert_eq!(positions, [(5, 1), (0, 4), (6, 1)].map(|position| extent(&position)));
        let (extents, end) = route.extents_at(extent(&(3, 4)), 9);
        assert_eq!(extents, [(13, 1), (0, 2), (20, 1)].map(|extent_| extent(&extent_)));
        assert_eq!(end, 7 * BLOCK);
        assert_eq!(route.extents_at(extent(&(3, 4)), 1), (alloc::vec![extent(&(13, 1))], 4 * BLOCK));
    }
}
