//! A way that leaves something out between what it touches, at even steps.
//!
//! ```text
//!  base
//!   |==|    |=|         |==|    |=|         |==|    |=|      two elements
//!   |<---- period ----->|<---- period ----->|
//!  positions:  0 1 2      3 4 5               6 7 8
//! ```
//! The period may be negative, and elements may lie anywhere in it: streams that
//! are read in turns are one way with an element for each.

use alloc::vec::Vec;

use crate::types::{BLOCK_BYTES, Extent};

/// See the module's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Strides {
    /// The elements of the period with number 0, in the order they are read.
    elements: Vec<Extent>,
    /// From one period's bytes to the next's; never 0.
    period: i64,
    /// Bytes of all elements: in 32 bits, since thousands of streams may be kept.
    bytes: u32,
    /// Each element is read from its end to its start.
    is_down: bool,
    /// The elements do not lie even to the byte: each has a block more at its start and at its end.
    is_loose: bool,
}

impl Strides {
    /// Nothing comes of no elements, empty ones, 4 GiB of them and more, or a period of 0.
    pub(crate) fn new(elements: Vec<Extent>, period: i64) -> Option<Strides> {
        let bytes = u32::try_from(elements.iter().map(|element| element.len).sum::<u64>()).ok()?;
        let whole = elements.iter().all(|element| !element.is_empty());
        (whole && period != 0 && bytes > 0).then_some(Strides {
            elements,
            period,
            bytes,
            is_down: false,
            is_loose: false,
        })
    }

    /// The same with elements that are read from their ends if `is_down`.
    pub(crate) fn downward(self, is_down: bool) -> Strides {
        Strides { is_down, ..self }
    }

    /// The same with an element that lies where it is expected but for a block or so.
    pub(crate) fn loosened(self) -> Option<Strides> {
        let wider = |element: &Extent| {
            Some(Extent::between(element.offset.checked_sub(BLOCK_BYTES)?, element.end() + BLOCK_BYTES))
        };
        let elements = self.elements.iter().map(wider).collect::<Option<_>>()?;
        Some(Strides { is_loose: true, is_down: self.is_down, ..Strides::new(elements, self.period)? })
    }

    /// The read at `position` is the first of its element, which is to begin a block before: so the
    /// period is known the better, the more of them went by.
    pub(super) fn tune(&mut self, extent: Extent, position: u64) {
        let number = (position / self.bytes()) as i64;
        let [first] = &self.elements[..] else { return };
        let start = if self.is_down {
            (first.end() - BLOCK_BYTES) as i64
        } else {
            (first.offset + BLOCK_BYTES) as i64
        };
        let touched = if self.is_down { extent.end() } else { extent.offset } as i64;
        if self.is_loose && number > 0 && (touched - start) / number != 0 {
            self.period = (touched - start) / number;
        }
    }

    fn bytes(&self) -> u64 {
        u64::from(self.bytes)
    }

    /// How many elements a period has.
    pub(super) fn element_count(&self) -> usize {
        self.elements.len()
    }

    /// Bytes of one element, on average.
    pub(crate) fn element_bytes(&self) -> u64 {
        self.bytes() / self.elements.len() as u64
    }

    /// The positions of `extent`, if it begins in an element; what goes on after
    /// the element does not count. Of several, those nearest to `near`.
    pub(crate) fn positions(&self, extent: Extent, near: u64) -> Option<Extent> {
        let mut before = 0;
        let mut nearest: Option<Extent> = None;
        for element in &self.elements {
            let first = if self.is_down { extent.end() - 1 } else { extent.offset } as i64;
            let distance = first - element.offset as i64;
            let (number, within) =
                (distance.div_euclid(self.period), distance.rem_euclid(self.period) as u64);
            if number >= 0 && within < element.len {
                let within = if self.is_down { element.len - 1 - within } else { within };
                let position = (number as u64).saturating_mul(self.bytes()).saturating_add(before + within);
                if nearest.is_none_or(|found| position.abs_diff(near) < found.offset.abs_diff(near)) {
                    nearest = Some(Extent::new(position, extent.len.min(element.len - within)));
                }
            }
            before += element.len;
        }
        nearest
    }

    /// The first position within `among` that is in `extent`.
    pub(super) fn first_within(&self, extent: Extent, among: Extent) -> Option<u64> {
        let mut position = among.offset;
        while position < among.end() {
            let rest = self.at(position)?;
            if rest.overlaps(&extent) {
                return Some(position);
            }
            position += rest.len;
        }
        None
    }

    /// What lies at `positions`, an extent for each element.
    pub(crate) fn extents(&self, positions: Extent, mut want: impl FnMut(Extent)) {
        let mut position = positions.offset;
        while position < positions.end() {
            let Some(rest) = self.at(position) else { return };
            let len = rest.len.min(positions.end() - position);
            want(Extent::new(if self.is_down { rest.end() - len } else { rest.offset }, len));
            position += rest.len;
        }
    }

    /// What spans the periods that `positions` are in.
    pub(crate) fn span(&self, positions: Extent) -> Extent {
        let period = |position: u64| (position / self.bytes()) as i64;
        let from =
            |number: i64, offset: u64| number.saturating_mul(self.period).saturating_add_unsigned(offset);
        let (first, last) = (period(positions.offset), period(positions.end()));
        let (low, high) = if self.period > 0 { (first, last) } else { (last, first) };
        let start = self.elements.iter().map(|element| from(low, element.offset)).min().unwrap_or(0);
        let end = self.elements.iter().map(|element| from(high, element.end())).max().unwrap_or(0);
        Extent::between(start.max(0) as u64, end.max(0) as u64)
    }

    /// The position at which the first element is past an object of `size` bytes.
    pub(crate) fn limit(&self, size: u64) -> u64 {
        let periods = |element: &Extent| {
            let room = if self.period > 0 { size.saturating_sub(element.offset) } else { element.offset + 1 };
            room.div_ceil(self.period.unsigned_abs())
        };
        self.elements.iter().map(periods).max().unwrap_or(0).saturating_mul(self.bytes())
    }

    /// The first position past the element that `position` is in.
    pub(crate) fn element_end(&self, position: u64) -> u64 {
        self.at(position).map_or(position, |rest| position + rest.len)
    }

    /// The rest of the element that `position` is in; none below the offset 0.
    fn at(&self, position: u64) -> Option<Extent> {
        let number = (position / self.bytes()) as i64;
        let mut within = position % self.bytes();
        for element in &self.elements {
            if within < element.len {
                let offset = (element.offset as i64).checked_add(number.checked_mul(self.period)?)?;
                let offset = u64::try_from(offset).ok()?;
                let start = if self.is_down { offset } else { offset + within };
                return Some(Extent::new(start, element.len - within));
            }
            within -= element.len;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn check(strides: &Strides, offsets: &[u64]) {
        let mut wanted: Vec<Extent> = vec![];
        let positions = Extent::new(0, offsets.len() as u64 * 100);
        strides.extents(positions, |extent| wanted.push(extent));
        assert_eq!(wanted.iter().map(|extent| extent.offset).collect::<Vec<_>>(), offsets);
        for (index, extent) in wanted.iter().enumerate() {
            let position = index as u64 * 100;
            assert_eq!(strides.positions(*extent, position), Some(Extent::new(position, 100)));
        }
    }

    #[test]
    fn positions_and_extents_are_each_others_inverse() {
        check(&Strides::new(vec![Extent::new(50, 100)], 1000).unwrap(), &[50, 1050, 2050, 3050]);
        check(&Strides::new(vec![Extent::new(5050, 100)], -1000).unwrap(), &[5050, 4050, 3050]);
        let two = vec![Extent::new(0, 100), Extent::new(9000, 100)];
        check(&Strides::new(two, 500).unwrap(), &[0, 9000, 500, 9500, 1000, 10_000]);
    }

    #[test]
    fn elements_may_be_read_from_their_ends() {
        let strides = Strides::new(vec![Extent::new(0, 100)], 100).unwrap().downward(true);
        assert_eq!(strides.positions(Extent::new(90, 10), 0), Some(Extent::new(0, 10)));
        assert_eq!(strides.positions(Extent::new(0, 10), 0), Some(Extent::new(90, 10)));
        assert_eq!(strides.positions(Extent::new(170, 30), 0), Some(Extent::new(100, 30)));
        let mut wanted: Vec<Extent> = vec![];
        strides.extents(Extent::new(60, 70), |extent| wanted.push(extent));
        assert_eq!(wanted, [Extent::new(0, 40), Extent::new(170, 30)]);
    }

    #[test]
    fn reads_beside_the_way_have_no_position() {
        let strides = Strides::new(vec![Extent::new(5000, 100)], 1000).unwrap();
        assert_eq!(strides.positions(Extent::new(4000, 100), 0), None);
        assert_eq!(strides.positions(Extent::new(5100, 100), 0), None);
        assert_eq!(strides.positions(Extent::new(6090, 100), 0), Some(Extent::new(190, 10)));
    }

    #[test]
    fn a_way_ends_with_the_object() {
        let up = Strides::new(vec![Extent::new(500, 100)], 1000).unwrap();
        assert_eq!(up.limit(2501), 300);
        let down = Strides::new(vec![Extent::new(2500, 100)], -1000).unwrap();
        assert_eq!(down.limit(10_000), 300);
    }
}
