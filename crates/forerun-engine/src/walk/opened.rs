//! Open files of walks: the part of each that is read.
//!
//! Most readers begin at the start of a file and stop somewhere. Archives, columnar files and some films
//! have their index at the end. Their readers look there first, and then at the parts that they need.

use super::directories::FileKind;
use crate::types::Extent;

/// How far before a file's end its index may begin, at most.
const TAIL_BYTES_MAX: u64 = 1 << 20;
/// A read within this many bytes of the head continues the head, since reads overtake one another.
const GAP_BYTES_MAX: u64 = 64 << 10;

/// A file of a walk that somebody has open.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) kind: FileKind,
    pub(super) size: u64,
    /// How far it was read.
    head_end: u64,
    /// From where on its tail was read.
    tail_start: Option<u64>,
    /// The part of it that was fetched before it was opened.
    fetched: Part,
}

/// Bytes at a file's beginning and at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) head: u64,
    pub(crate) tail: u64,
}

impl Part {
    pub(crate) fn bytes(&self) -> u64 {
        self.head + self.tail
    }

    /// Where they lie in a file of `size` bytes; without a tail the second is empty.
    pub(crate) fn extents(&self, size: u64) -> [Extent; 2] {
        let head = Extent::new(0, self.head.min(size));
        [head, Extent::between(size.saturating_sub(self.tail).max(head.end()), size)]
    }
}

impl Opened {
    /// One of which `fetched` was fetched before.
    pub(super) fn new(kind: FileKind, size: u64, fetched: Part) -> Opened {
        Opened { kind, size, head_end: 0, tail_start: None, fetched }
    }

    /// Somebody reads `extent`.
    pub(super) fn read(&mut self, extent: Extent) {
        let goes_on = extent.offset <= self.head_end.saturating_add(GAP_BYTES_MAX);
        if !goes_on && self.is_in_tail(extent) {
            let start = self.tail_start.unwrap_or(u64::MAX);
            self.tail_start = Some(start.min(extent.offset));
        } else if goes_on || self.tail_start.is_none() {
            self.head_end = self.head_end.max(extent.end());
        }
        // Otherwise its index has said where to look.
    }

    /// The parts that were read at both ends. A file that was read to its end is all head.
    pub(super) fn part(&self) -> Part {
        match self.tail_start {
            Some(start) if start > self.head_end => Part { head: self.head_end, tail: self.size - start },
            Some(_) => Part { head: self.size, tail: 0 },
            None => Part { head: self.head_end, tail: 0 },
        }
    }

    /// The bytes of it that were fetched and not read.
    pub(super) fn wasted_bytes(&self) -> u64 {
        let (fetched, read) = (self.fetched, self.part());
        let tail = if read.head >= self.size { 0 } else { fetched.tail.saturating_sub(read.tail) };
        fetched.head.saturating_sub(read.head) + tail
    }

    fn is_in_tail(&self, extent: Extent) -> bool {
        let from_end = self.size.saturating_sub(extent.offset);
        0 < from_end && from_end <= TAIL_BYTES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::super::directories::Listing;
    use super::*;
    use crate::types::ListedFile;

    const KIB: u64 = 1 << 10;
    const SIZE: u64 = 10_000 * KIB;

    fn read(extents: &[(u64, u64)]) -> Opened {
        let listing = Listing::new([ListedFile { size: SIZE, class: 0 }].into_iter());
        let mut opened = Opened::new(listing.kind(0), SIZE, Part::default());
        extents.iter().for_each(|(offset, len)| opened.read(Extent::new(offset * KIB, len * KIB)));
        opened
    }

    fn part(extents: &[(u64, u64)]) -> (u64, u64) {
        let part = read(extents).part();
        (part.head / KIB, part.tail / KIB)
    }

    #[test]
    fn first_reads_at_the_end_are_a_tail() {
        assert_eq!(part(&[(9996, 4), (9900, 64), (5000, 64)]), (0, 100));
        assert_eq!(part(&[(0, 4), (9996, 4), (4, 60), (5000, 64)]), (64, 4));
    }

    #[test]
    fn a_read_through_to_the_end_is_a_head() {
        assert_eq!(part(&[(0, 5000), (5000, 5000)]), (10_000, 0));
        assert_eq!(part(&[(9000, 1000), (0, 5000), (5000, 5000)]), (10_000, 0));
        assert_eq!(part(&[(5000, 5)]), (5005, 0));
    }

    #[test]
    fn fetched_and_unread_bytes_are_wasted() {
        let mut opened = read(&[(0, 4), (9996, 4)]);
        opened.fetched = Part { head: 64 * KIB, tail: 8 * KIB };
        assert_eq!(opened.wasted_bytes(), 64 * KIB);
        opened.read(Extent::new(0, SIZE));
        assert_eq!(opened.wasted_bytes(), 0);
    }

    #[test]
    fn parts_never_overlap() {
        let part = Part { head: 60, tail: 50 };
        assert_eq!(part.extents(100), [Extent::new(0, 60), Extent::new(60, 40)]);
        assert_eq!(part.extents(30), [Extent::new(0, 30), Extent::new(30, 0)]);
        assert_eq!(part.extents(1000), [Extent::new(0, 60), Extent::new(950, 50)]);
    }
}
