//! Which kinds of file a walker opens, and how much of them is read.

use alloc::vec::Vec;

use super::directories::FileKind;
use super::opened::{Opened, Part};
use crate::types::Extent;

/// The most kinds with scores of their own; others share one score.
const KINDS_MAX: usize = 16;
/// The score of a kind counts its last openings and omissions, up to this number.
const SCORE_MAX: i32 = 32;
/// The rest of a larger file is for the policy, once it is being read.
const WHOLE_BYTES_MAX: u64 = 1 << 20;

/// A value for each kind, and one for all together.
#[derive(Clone, Debug, Default)]
struct ByKind<T> {
    kinds: Vec<(FileKind, T)>,
    all: T,
}

impl<T: Default> ByKind<T> {
    fn get(&self, kind: FileKind) -> Option<&T> {
        self.kinds.iter().find(|(known, _)| *known == kind).map(|(_, value)| value)
    }

    /// Changes the value of `kind`, and that of all kinds.
    fn change(&mut self, kind: FileKind, change: impl Fn(&mut T)) {
        change(&mut self.all);
        if self.get(kind).is_none() && self.kinds.len() < KINDS_MAX {
            self.kinds.push((kind, T::default()));
        }
        self.kinds.iter_mut().filter(|(known, _)| *known == kind).for_each(|(_, value)| change(value));
    }
}

/// Which kinds a walker opens: how many more files it opened than it left out, up to [`SCORE_MAX`]
/// either way.
#[derive(Clone, Debug, Default)]
pub(super) struct Kinds(ByKind<i32>);

impl Kinds {
    /// A file was opened; `again` if it had been counted as left out.
    pub(super) fn open(&mut self, kind: FileKind, again: bool) {
        self.0.change(kind, |score| *score = (*score + 1 + i32::from(again)).min(SCORE_MAX));
    }

    /// A file was left out.
    pub(super) fn skip(&mut self, kind: FileKind) {
        self.0.change(kind, |score| *score = (*score - 1).max(-SCORE_MAX));
    }

    /// Whether the walker opens files of this kind.
    pub(super) fn wants(&self, kind: FileKind) -> bool {
        *self.0.get(kind).unwrap_or(&self.0.all) >= 0
    }
}

/// The parts that the last few readers of a kind read of their files.
#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    seen: [Option<Part>; 4],
    next: usize,
}

impl Parts {
    /// `part` was read of a file of `size` bytes.
    fn record(&mut self, part: Part, size: u64) {
        let is_whole = part.head >= size;
        // The end of a file that is shorter than the heads of others tells nothing.
        if is_whole && self.most().is_some_and(|most| most.head < u64::MAX && size <= most.head) {
            return;
        }
        self.seen[self.next] = Some(Part { head: if is_whole { u64::MAX } else { part.head }, ..part });
        self.next = (self.next + 1) % self.seen.len();
    }

    /// The longest head and the longest tail; the head is `u64::MAX` if a file was read to its end.
    fn most(&self) -> Option<Part> {
        let seen = self.seen.iter().flatten().copied();
        seen.reduce(|one, other| Part { head: one.head.max(other.head), tail: one.tail.max(other.tail) })
    }
}

/// How much is read of files.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadLengths(ByKind<Parts>);

impl ReadLengths {
    /// A file was closed.
    pub(super) fn close(&mut self, opened: &Opened) {
        self.0.change(opened.kind, |parts| parts.record(opened.part(), opened.size));
    }

    /// How much of a file of `size` bytes will be read at once.
    pub(super) fn part(&self, kind: FileKind, size: u64) -> Part {
        let known = self.0.get(kind).and_then(Parts::most).or_else(|| self.0.all.most());
        let most = known.unwrap_or(Part { head: u64::MAX, tail: 0 });
        let head = Extent::new(0, most.head.min(WHOLE_BYTES_MAX)).to_blocks().len.min(size);
        Part { head, tail: most.tail.min(size - head) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::directories::Listing;
    use super::*;
    use crate::types::ListedFile;

    /// Small files of two classes.
    fn kinds() -> (FileKind, FileKind) {
        let files = [1, 2].map(|class| ListedFile { size: 5000, class });
        let listing = Listing::new(files.into_iter());
        (listing.kind(0), listing.kind(1))
    }

    #[test]
    fn kinds_that_are_left_out_are_not_wanted() {
        let ((one, other), mut kinds) = (kinds(), Kinds::default());
        kinds.open(one, false);
        assert!(kinds.wants(other), "nothing was left out yet");
        kinds.skip(other);
        kinds.open(one, false);
        assert!(kinds.wants(one) && !kinds.wants(other));
        kinds.open(other, true);
        assert!(kinds.wants(other), "it was only late");
    }

    /// A file of `size` bytes was read at `offset`, `len` bytes.
    fn closed(lengths: &mut ReadLengths, kind: FileKind, size: u64, extents: &[(u64, u64)]) {
        let mut opened = Opened::new(kind, size, Part::default());
        extents.iter().for_each(|(offset, len)| opened.read(Extent::new(*offset, *len)));
        lengths.close(&opened);
    }

    #[test]
    fn heads_are_as_long_as_the_longest_of_late() {
        let ((one, other), mut lengths) = (kinds(), ReadLengths::default());
        let head = |lengths: &ReadLengths, kind, size| lengths.part(kind, size).head;
        assert_eq!(head(&lengths, one, 1 << 30), WHOLE_BYTES_MAX);
        closed(&mut lengths, one, 1 << 20, &[(0, 5000)]);
        assert_eq!(head(&lengths, one, 1 << 30), 8192);
        assert_eq!(head(&lengths, other, 4000), 4000);
        closed(&mut lengths, one, 3000, &[(0, 3000)]);
        assert_eq!(head(&lengths, one, 1 << 30), 8192, "it ends before heads do");
        closed(&mut lengths, one, 1 << 20, &[(0, 1 << 20)]);
        assert_eq!(head(&lengths, one, 1 << 30), WHOLE_BYTES_MAX);
        for _ in 0..4 {
            closed(&mut lengths, one, 1 << 20, &[]);
        }
        assert_eq!(head(&lengths, one, 1 << 30), 0);
    }

    #[test]
    fn indices_at_the_end_are_a_part() {
        const SIZE: u64 = 10 << 20;
        let ((one, _), mut lengths) = (kinds(), ReadLengths::default());
        closed(&mut lengths, one, SIZE, &[(SIZE - 22, 22), (SIZE - 50_000, 49_978), (4 << 20, 4096)]);
        assert_eq!(lengths.part(one, SIZE), Part { head: 0, tail: 50_000 });
        assert_eq!(lengths.part(one, 30_000), Part { head: 0, tail: 30_000 });
        for _ in 0..4 {
            closed(&mut lengths, one, SIZE, &[(0, SIZE)]);
        }
        let whole = Part { head: WHOLE_BYTES_MAX, tail: 0 };
        assert_eq!(lengths.part(one, SIZE), whole, "they read all of it now");
    }
}
