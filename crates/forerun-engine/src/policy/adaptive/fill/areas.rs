//! Where an object was missed, and filled, of late.
//!
//! Areas of one size, each with a bit for each 64th of it; the one that nothing happened in for
//! longest gives way. A few of them are all there is: where there are many more places to
//! read than memory, hardly any is read twice before it is forgotten.

use core::ops::{AddAssign, Range};

use super::account::Evidence;
use crate::recent::Recent;
use crate::types::Extent;

/// Areas of one object.
const AREAS_MAX: usize = 128;
/// The least size.
const AREA_BYTES_MIN: u64 = 1 << 20;
const PARTS: u64 = 64;

#[derive(Debug, Default)]
struct Area {
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
    /// Areas have two to the power of that bytes: every read asks in which it is.
    area_shift: u32,
    known: Recent<Area, AREAS_MAX>,
}

/// What is known of an extent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) missed_count: u64,
    pub(super) filled_bytes: u64,
}

impl AddAssign for Known {
    fn add_assign(&mut self, other: Known) {
        self.missed_count += other.missed_count;
        self.filled_bytes += other.filled_bytes;
    }
}

impl Default for Areas {
    fn default() -> Areas {
        Areas { area_shift: AREA_BYTES_MIN.trailing_zeros(), known: Recent::default() }
    }
}

impl Areas {
    /// Makes areas so large that `bytes` have room in the list; others are forgotten.
    pub(super) fn fit(&mut self, bytes: u64) {
        let area_bytes = (bytes / AREAS_MAX as u64).next_power_of_two().max(AREA_BYTES_MIN);
        let area_shift = area_bytes.trailing_zeros();
        if area_shift != self.area_shift {
            *self = Areas { area_shift, known: Recent::default() };
        }
    }

    pub(super) fn clear(&mut self) {
        self.known = Recent::default();
    }

    pub(super) fn part_bytes(&self) -> u64 {
        self.area_bytes() / PARTS
    }

    /// A read at `offset` had to wait.
    pub(super) fn miss(&mut self, offset: u64) {
        let bit = self.bit(offset);
        self.known.touch(offset >> self.area_shift).missed |= bit;
    }

    /// `extent`, of whole parts, is fetched: what was missed there is no evidence any more.
    pub(super) fn fill(&mut self, extent: Extent, mark: Evidence) {
        for index in self.indices(extent) {
            let bits = self.bits(index, extent);
            let area = self.known.touch(index);
            area.filled |= bits;
            area.mark = mark;
            area.missed &= !bits;
        }
    }

    /// Some of `extent` is gone, which begins and ends in one area; on what that had been filled,
    /// if it was.
    pub(super) fn lose(&mut self, extent: Extent) -> Option<Evidence> {
        let mut mark = None;
        for index in self.indices(extent) {
            let bits = self.bits(index, extent);
            let Some(area) = self.known.get_mut(index) else { continue };
            mark = mark.or((area.filled & bits != 0).then_some(area.mark));
            area.filled &= !bits;
        }
        mark
    }

    /// On what the bytes at `offset` were filled, if they were.
    pub(super) fn mark(&self, offset: u64) -> Option<Evidence> {
        let area = self.known.get(offset >> self.area_shift)?;
        (area.filled & self.bit(offset) != 0).then_some(area.mark)
    }

    /// In how many parts of the block of `len` bytes around `offset`, which is of whole areas, reads
    /// began that had to wait.
    pub(super) fn missed_around(&self, offset: u64, len: u64) -> u64 {
        // Its own area is known most often, so it is the first, and hardly ever the others.
        let indices = (0..len >> self.area_shift).map(|beside| (offset >> self.area_shift) ^ beside);
        indices
            .filter_map(|index| self.known.get(index))
            .map(|area| u64::from(area.missed.count_ones()))
            .sum()
    }

    /// What is known of `extent`, of whole parts.
    pub(super) fn known(&self, extent: Extent) -> Known {
        let (mut missed_count, mut filled_count) = (0, 0);
        for index in self.indices(extent) {
            let Some(area) = self.known.get(index) else { continue };
            let bits = self.bits(index, extent);
            missed_count += u64::from((area.missed & bits).count_ones());
            filled_count += u64::from((area.filled & bits).count_ones());
        }
        Known { missed_count, filled_bytes: filled_count * self.part_bytes() }
    }

    fn area_bytes(&self) -> u64 {
        1 << self.area_shift
    }

    /// The numbers of the areas in which `extent` lies.
    fn indices(&self, extent: Extent) -> Range<u64> {
        extent.offset >> self.area_shift..(extent.end() + self.area_bytes() - 1) >> self.area_shift
    }

    /// The bit of the part in which `offset` is, in its area.
    fn bit(&self, offset: u64) -> u64 {
        1 << ((offset >> self.part_shift()) % PARTS)
    }

    /// The bits of `extent` in the area of that number.
    fn bits(&self, index: u64, extent: Extent) -> u64 {
        let inside = extent.intersection(&Extent::new(index << self.area_shift, self.area_bytes()));
        if inside.is_empty() {
            return 0;
        }
        let first = inside.offset >> self.part_shift();
        let last = (inside.end() - 1) >> self.part_shift();
        (u64::MAX >> (PARTS - 1 - (last - first))) << (first % PARTS)
    }

    fn part_shift(&self) -> u32 {
        self.area_shift - PARTS.trailing_zeros()
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
        assert_eq!(areas.missed_around(3000 * KIB, 4 * MIB), 4);
        assert_eq!(areas.missed_around(5 * MIB, 4 * MIB), 0, "of the block beside");
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
