//! Reads without order that keep to a region of the object.
//!
//! An object is cut into areas, and each into 64 parts. A read that no stream expected marks its part as
//! missed. Region readahead fills the largest block around it whose rest takes no longer than readers have
//! waited for parts of it. If little of earlier fills was read, the block is smaller, and if much was, it
//! is larger.

use super::super::evidence::Filled;
use super::KEPT_MAX;
use crate::policy::Access;
use crate::recent::Recent;
use crate::types::Extent;

/// The least of an area, and its parts.
const AREA_BYTES_MIN: u64 = 1 << 20;
const PARTS: u64 = 64;
/// The smallest block is a sixteenth of an area.
const BLOCK_SHARE: u64 = 16;
/// Misses in a block before it is filled, unless filling has paid.
const MISSES_MIN: u64 = 4;

/// The most steps up and down that are remembered.
const STEPS_MAX: u32 = 32;
/// Readers pass over an object if they change direction less than once in this many reads.
const PASSED_SHARE: u32 = 8;

/// One area: its parts that were missed and filled.
#[derive(Debug, Default)]
struct Area {
    missed: u64,
    filled: u64,
}

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Region {
    area_shift: u32,
    areas: Recent<Area, KEPT_MAX>,
    missed_count: u64,
    /// The offset of the last read, and the recent reads that went up and down.
    last: u64,
    ups: u32,
    downs: u32,
    pub(crate) filled: Filled,
}

impl Region {
    /// A read that no stream expected. Whether it came to filled bytes.
    pub(crate) fn record_miss(&mut self, access: &Access, fits: bool) -> bool {
        self.record_step(access.extent.offset);
        let area =
            if fits { (access.size / KEPT_MAX as u64).next_power_of_two() } else { 0 }.max(AREA_BYTES_MIN);
        if self.area_shift != area.trailing_zeros() {
            self.area_shift = area.trailing_zeros();
            self.areas = Recent::default();
        }
        let offset = access.extent.offset;
        if !access.missing {
            return access.unread_bytes > 0 && self.is_filled(offset);
        }
        let bit = self.bit(offset);
        self.areas.touch(offset >> self.area_shift).missed |= bit;
        self.missed_count += 1;
        false
    }

    /// Readers pass over it: they hardly ever change direction.
    pub(crate) fn is_passed(&self) -> bool {
        let fewer = self.ups.min(self.downs);
        fewer < 2 || fewer * PASSED_SHARE < self.ups + self.downs
    }

    /// The block around the miss at `offset` that is worth filling, in an object of `size` bytes. At most
    /// `room` bytes of it are missing. A wait is worth `wait` bytes, and `fits` tells that all of the
    /// object may be kept.
    pub(crate) fn block(&self, offset: u64, size: u64, fits: bool, room: u64, wait: u64) -> Option<Extent> {
        let boost = self.filled.boost(fits, self.missed_count * wait, size, wait)?;
        let misses_min = if boost > 1 { 1 } else { MISSES_MIN };
        let mut len = (1 << self.area_shift) / BLOCK_SHARE;
        let mut more = Extent::new(offset & !(len - 1), len);
        let (mut found, mut missed, mut filled) = (None, 0, 0);
        while len <= size.next_power_of_two() {
            let block = Extent::new(offset & !(len - 1), len);
            let known = self.known(more);
            (missed, filled) = (missed + known.0, filled + known.1);
            let end = block.end().min(size);
            let rest = (end - block.offset).saturating_sub(filled * ((1 << self.area_shift) / PARTS));
            if rest > room {
                break;
            }
            if rest > 0 && missed >= misses_min && (missed * wait).saturating_mul(boost) >= rest + wait {
                found = Some(Extent::between(block.offset, end));
            }
            more = Extent::new(block.offset ^ len, len);
            len *= 2;
        }
        found
    }

    /// `extent` is being filled.
    pub(crate) fn fill(&mut self, extent: Extent) {
        for offset in self.parts(extent) {
            let bit = self.bit(offset);
            let area = self.areas.touch(offset >> self.area_shift);
            area.filled |= bit;
            area.missed &= !bit;
        }
    }

    /// Whether the part at `offset` was filled.
    pub(crate) fn is_filled(&self, offset: u64) -> bool {
        let area = self.areas.get(offset >> self.area_shift);
        self.area_shift > 0 && area.is_some_and(|area| area.filled & self.bit(offset) != 0)
    }

    /// Some of `extent` went before anybody came; whether that had been filled.
    pub(crate) fn on_lost(&mut self, extent: Extent) -> bool {
        let mut was_filled = false;
        for offset in self.parts(extent) {
            let bit = self.bit(offset);
            if let Some(area) = self.areas.get_mut(offset >> self.area_shift) {
                was_filled |= area.filled & bit != 0;
                area.filled &= !bit;
            }
        }
        was_filled
    }

    fn record_step(&mut self, offset: u64) {
        self.ups += u32::from(offset > self.last);
        self.downs += u32::from(offset < self.last);
        self.last = offset;
        if self.ups + self.downs > STEPS_MAX {
            (self.ups, self.downs) = (self.ups.div_ceil(2), self.downs.div_ceil(2));
        }
    }

    fn part_shift(&self) -> u32 {
        self.area_shift - PARTS.trailing_zeros()
    }

    fn bit(&self, offset: u64) -> u64 {
        1 << ((offset >> self.part_shift()) % PARTS)
    }

    /// Where the parts begin that `extent` touches.
    fn parts(&self, extent: Extent) -> impl Iterator<Item = u64> + use<> {
        let part = if self.area_shift == 0 { u64::MAX } else { 1 << self.part_shift() };
        let end = if self.area_shift == 0 { 0 } else { extent.end() };
        (extent.offset & !(part - 1)..end).step_by(part as usize)
    }

    /// How many parts of `block` were missed and filled.
    fn known(&self, block: Extent) -> (u64, u64) {
        let mut sum = (0, 0);
        let numbers = block.offset >> self.area_shift..=(block.end() - 1) >> self.area_shift;
        for (number, area) in numbers.filter_map(|number| Some((number, self.areas.get(number)?))) {
            let inside = block.intersection(&Extent::new(number << self.area_shift, 1 << self.area_shift));
            let first = (inside.offset >> self.part_shift()) % PARTS;
            let count = inside.len >> self.part_shift();
            let bits = if count >= PARTS { u64::MAX } else { ((1 << count) - 1) << first };
            sum.0 += u64::from((area.missed & bits).count_ones());
            sum.1 += u64::from((area.filled & bits).count_ones());
        }
        sum
    }
}
