//! Where an object was missed, and filled, of late.
//!
//! Areas of one size, each with a bit for each 64th of it; the one that nothing happened in for
//! longest gives way. A few of them are all there is: where there are many more places to
//! read than memory, hardly any is read twice before it is forgotten.

use alloc::vec::Vec;

use super::account::Evidence;
use crate::types::Extent;

/// Areas of one object.
const AREAS_MAX: usize = 128;
/// The least size.
const AREA_BYTES_MIN: u64 = 1 << 20;
const PARTS: u64 = 64;

#[derive(Clone, Copy, Debug, Default)]
struct Area {
    index: u64,
    /// Parts in which reads began that had to wait.
    missed: u64,
    /// Parts that were filled and not lost since.
    filled: u64,
    /// On what it was filled last.
    mark: Evidence,
}

/// See the module's page.
#[derive(Debug)]
pub(super) struct Areas {
    area_bytes: u64,
    /// The one that something happened in last is the last one.
    list: Vec<Area>,
}

/// What is known of an extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) missed_count: u64,
    pub(super) filled_bytes: u64,
}

impl Default for Areas {
    fn default() -> Areas {
        Areas { area_bytes: AREA_BYTES_MIN, list: Vec::new() }
    }
}

impl Areas {
    /// Makes areas so large that `bytes` have room in the list; others are forgotten.
    pub(super) fn fit(&mut self, bytes: u64) {
        let area_bytes = (bytes / AREAS_MAX as u64).next_power_of_two().max(AREA_BYTES_MIN);
        if area_bytes != self.area_bytes {
            *self = Areas { area_bytes, list: Vec::new() };
        }
    }

    pub(super) fn clear(&mut self) {
        self.list = Vec::new();
    }

    pub(super) fn part_bytes(&self) -> u64 {
        self.area_bytes / PARTS
    }

    /// A read at `offset` had to wait.
    pub(super) fn miss(&mut self, offset: u64) {
        let bit = self.bits(offset / self.area_bytes, Extent::new(offset, 1));
        self.touch(offset / self.area_bytes).missed |= bit;
    }

    /// `extent`, of whole parts, is fetched: what was missed there is no evidence any more.
    pub(super) fn fill(&mut self, extent: Extent, mark: Evidence) {
        for index in extent.offset / self.area_bytes..extent.end().div_ceil(self.area_bytes) {
            let bits = self.bits(index, extent);
            let area = self.touch(index);
            area.filled |= bits;
            area.mark = mark;
            area.missed &= !bits;
        }
    }

    /// Some of `extent` is gone, which begins and ends in one area; on what that had been filled,
    /// if it was.
    pub(super) fn lose(&mut self, extent: Extent) -> Option<Evidence> {
        let (area_bytes, mut mark) = (self.area_bytes, None);
        for place in 0..self.list.len() {
            let index = self.list[place].index;
            if index >= extent.offset / area_bytes && index * area_bytes < extent.end() {
                let bits = self.bits(index, extent);
                let area = &mut self.list[place];
                mark = mark.or((area.filled & bits != 0).then_some(area.mark));
                area.filled &= !bits;
            }
        }
        mark
    }

    /// On what the bytes at `offset` were filled, if they were.
    pub(super) fn mark(&self, offset: u64) -> Option<Evidence> {
        let index = offset / self.area_bytes;
        let bit = self.bits(index, Extent::new(offset, 1));
        let found = self.list.iter().rev().find(|area| area.index == index && area.filled & bit != 0);
        found.map(|area| area.mark)
    }

    /// What is known of `extent`, of whole parts.
    pub(super) fn known(&self, extent: Extent) -> Known {
        let (mut missed_count, mut filled_count) = (0, 0);
        let (first, end) = (extent.offset / self.area_bytes, extent.end().div_ceil(self.area_bytes));
        let known = self.list.iter().rev().filter(|area| (first..end).contains(&area.index));
        // Once as many were found as there are, there are no more: it is asked about those
        // that something happened in just now.
        for area in known.take((end - first) as usize) {
            let bits = self.bits(area.index, extent);
            missed_count += u64::from((area.missed & bits).count_ones());
            filled_count += u64::from((area.filled & bits).count_ones());
        }
        Known { missed_count, filled_bytes: filled_count * self.part_bytes() }
    }

    /// The bits of `extent` in the area of that number.
    fn bits(&self, index: u64, extent: Extent) -> u64 {
        let start = index * self.area_bytes;
        let inside = extent.intersection(&Extent::new(start, self.area_bytes));
        if inside.is_empty() {
            return 0;
        }
        let first = (inside.offset - start) / self.part_bytes();
        let count = (inside.end() - start).div_ceil(self.part_bytes()) - first;
        (u64::MAX >> (PARTS - count)) << first
    }

    /// The area of that number, as the last in the list.
    fn touch(&mut self, index: u64) -> &mut Area {
        let found = self.list.iter().rposition(|area| area.index == index);
        let area = match found {
            Some(place) => self.list.remove(place),
            None => Area { index, ..Area::default() },
        };
        if self.list.len() == AREAS_MAX {
            self.list.remove(0);
        }
        self.list.push(area);
        let last = self.list.len() - 1;
        &mut self.list[last]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    #[test]
    fn what_was_missed_and_filled_is_known_by_parts() {
        let mut areas = Areas::default();
        [0, 4 * KIB, 20 * KIB, 1000 * KIB, 1030 * KIB].into_iter().for_each(|offset| areas.miss(offset));
        let missed = |areas: &Areas, extent| areas.known(extent).missed_count;
        assert_eq!(missed(&areas, Extent::new(0, 64 * KIB)), 2);
        assert_eq!(missed(&areas, Extent::new(0, MIB)), 3);
        assert_eq!(missed(&areas, Extent::new(0, 4 * MIB)), 4);
        let fair = Evidence::of(1, 1).unwrap();
        areas.fill(Extent::new(512 * KIB, MIB), fair);
        assert_eq!(missed(&areas, Extent::new(0, 4 * MIB)), 2);
        assert_eq!(areas.known(Extent::new(0, 4 * MIB)).filled_bytes, MIB);
        assert_eq!(areas.lose(Extent::new(MIB, 4 * KIB)), Some(fair));
        assert_eq!(areas.lose(Extent::new(MIB, 4 * KIB)), None);
        assert_eq!([1000 * KIB, MIB, 0].map(|offset| areas.mark(offset)), [Some(fair), None, None]);
    }

    #[test]
    fn the_oldest_gives_way() {
        let mut areas = Areas::default();
        (0..200).for_each(|index| areas.miss(index * MIB));
        assert_eq!(areas.known(Extent::new(0, 256 * MIB)).missed_count, AREAS_MAX as u64);
        assert_eq!(areas.known(Extent::new(199 * MIB, MIB)).missed_count, 1);
        areas.fit(512 * MIB);
        assert_eq!(areas.part_bytes(), 64 * KIB);
        assert_eq!(areas.known(Extent::new(0, 256 * MIB)).missed_count, 0);
    }
}
