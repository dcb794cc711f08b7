//! A stream whose requests come in much disorder looks like reads at random at first,
//! but all of them are near one another.

use alloc::vec::Vec;

use crate::types::Extent;

/// Reads that must be near one another: fewer may be by chance.
const COUNT: usize = 6;
/// So near: as many requests as a reader's threads have under way.
const SPAN_REQUESTS: u64 = 48;
/// Of an object that is no more than so many times as large, anything is near.
const SIZE_SHARE: u64 = 8;

/// The last reads that no stream explains.
#[derive(Debug, Default)]
pub(crate) struct Zone {
    last: Vec<Extent>,
}

impl Zone {
    /// A read that no stream explains, of an object of `size` bytes. What is read in
    /// disorder, if it is.
    pub(crate) fn note(&mut self, extent: Extent, size: u64) -> Option<Extent> {
        if self.last.len() == COUNT {
            self.last.remove(0);
        }
        self.last.push(extent);
        if self.last.len() < COUNT {
            return None;
        }
        let request = self.last.iter().fold(0, |most, read| read.len.max(most));
        let span = SPAN_REQUESTS * request;
        // Of reads at random the first is too far away already.
        let is_near = |read: &Extent| read.offset.abs_diff(extent.offset) <= span;
        if SIZE_SHARE * span > size || !self.last.iter().all(is_near) {
            return None;
        }
        let start = self.last.iter().map(|read| read.offset).min()?;
        let end = self.last.iter().map(Extent::end).max()?;
        if end - start > span {
            return None;
        }
        let ups = self.last.windows(2).filter(|two| two[1].offset > two[0].offset).count();
        if ups == 0 || ups + 1 >= COUNT {
            return None;
        }
        self.last = Vec::new();
        // Whoever begins with an object in disorder did not leave out its start.
        let start = if start < span { 0 } else { start };
        Some(Extent::between(start, end))
    }

    /// Forgets.
    pub(crate) fn clear(&mut self) {
        self.last = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 1 << 30;

    fn found(numbers: &[u64]) -> Option<Extent> {
        let mut zone = Zone::default();
        numbers.iter().filter_map(|number| zone.note(Extent::new(number << 12, 4096), SIZE)).last()
    }

    #[test]
    fn disorder_is_found_where_it_is() {
        assert_eq!(
            found(&[1007, 1019, 1003, 1030, 1001, 1022]),
            Some(Extent::between(1001 << 12, 1031 << 12))
        );
        assert_eq!(found(&[7, 19, 3, 30, 11, 22]), Some(Extent::between(0, 31 << 12)));
    }

    #[test]
    fn order_and_distance_are_something_else() {
        assert_eq!(found(&[1001, 1007, 1013, 1019, 1025, 1031]), None);
        assert_eq!(found(&[7, 1019, 3, 30, 11, 22]), None);
        assert_eq!(found(&[7, 19, 3, 30, 11]), None);
    }
}
