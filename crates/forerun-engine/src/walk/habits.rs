//! What a walker is like: which kinds of file it opens, and how far into each it reads.

use alloc::vec::Vec;

use super::directories::Kind;
use super::opened::{Opened, Part};
use super::parts::{Heads, Tails};
use crate::types::{BLOCK_BYTES, Extent};

/// Kinds told apart; what comes after them is taken for what is common.
const KINDS_MAX: usize = 16;
/// Openings and omissions of a kind that count; of more, the older count half.
const COUNTED_MAX: u16 = 64;
/// A kind that was not seen before is taken to be wanted by who opens so many
/// files for one that it leaves out.
const OPENED_SHARE: u16 = 4;
/// What a reader that has not closed anything yet may want of a file.
const UNKNOWN_BYTES: u64 = 256 << 10;
/// The rest of a larger file is for the policy, once it is being read.
const WHOLE_BYTES_MAX: u64 = 1 << 20;

/// How many files were opened and left out.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    opened: u16,
    skipped: u16,
}

impl Tally {
    fn open(&mut self) {
        self.opened += 1;
        self.limit();
    }

    fn skip(&mut self) {
        self.skipped += 1;
        self.limit();
    }

    fn limit(&mut self) {
        if self.opened + self.skipped > COUNTED_MAX {
            self.opened /= 2;
            self.skipped /= 2;
        }
    }
}

#[derive(Clone, Debug)]
struct Habit {
    kind: Kind,
    tally: Tally,
    heads: Heads,
    tails: Tails,
}

/// See the module's page.
#[derive(Clone, Debug, Default)]
pub(super) struct Habits {
    kinds: Vec<Habit>,
    all: Tally,
    heads: Heads,
    tails: Tails,
}

impl Habits {
    /// A file was opened; `again` if it had been counted as left out.
    pub(super) fn open(&mut self, kind: Kind, again: bool) {
        if again {
            self.all.skipped = self.all.skipped.saturating_sub(1);
        }
        self.all.open();
        if let Some(habit) = self.habit_mut(kind) {
            if again {
                habit.tally.skipped = habit.tally.skipped.saturating_sub(1);
            }
            habit.tally.open();
        }
    }

    /// A file was left out.
    pub(super) fn skip(&mut self, kind: Kind) {
        self.all.skip();
        if let Some(habit) = self.habit_mut(kind) {
            habit.tally.skip();
        }
    }

    /// A file was closed.
    pub(super) fn close(&mut self, opened: &Opened) {
        let (read, size) = (opened.part(), opened.size);
        self.heads.note(read.head, size);
        self.tails.note(read.tail);
        if let Some(habit) = self.habit_mut(opened.kind) {
            habit.heads.note(read.head, size);
            habit.tails.note(read.tail);
        }
    }

    /// Whether the walker opens files of this kind.
    pub(super) fn wants(&self, kind: Kind) -> bool {
        match self.habit(kind) {
            Some(habit) => habit.tally.opened >= habit.tally.skipped,
            None => self.all.opened >= OPENED_SHARE * self.all.skipped,
        }
    }

    /// How much of a file of `size` bytes will be read at once.
    pub(super) fn part(&self, kind: Kind, size: u64) -> Part {
        let head = match self.heads_of(kind) {
            None => UNKNOWN_BYTES,
            Some(u64::MAX) => WHOLE_BYTES_MAX,
            Some(most) => Extent::new(0, most).to_blocks().len.min(WHOLE_BYTES_MAX),
        };
        let head = head.min(size);
        let tails = self.habit(kind).map_or(&self.tails, |habit| &habit.tails);
        Part { head, tail: tails.most().min(size - head) }
    }

    /// Where readers of a file of this kind stop, if they do.
    pub(super) fn stop(&self, kind: Kind) -> Option<u64> {
        let most = self.heads_of(kind).filter(|most| *most < u64::MAX)?;
        Some(Extent::new(0, most.max(BLOCK_BYTES)).to_blocks().len)
    }

    fn heads_of(&self, kind: Kind) -> Option<u64> {
        self.habit(kind).and_then(|habit| habit.heads.most()).or_else(|| self.heads.most())
    }

    fn habit(&self, kind: Kind) -> Option<&Habit> {
        self.kinds.iter().find(|habit| habit.kind == kind)
    }

    fn habit_mut(&mut self, kind: Kind) -> Option<&mut Habit> {
        let place = self.kinds.iter().position(|habit| habit.kind == kind);
        let place = place.or_else(|| {
            (self.kinds.len() < KINDS_MAX).then(|| {
                self.kinds.push(Habit {
                    kind,
                    tally: Tally::default(),
                    heads: Heads::default(),
                    tails: Tails::default(),
                });
                self.kinds.len() - 1
            })
        })?;
        self.kinds.get_mut(place)
    }
}

#[cfg(test)]
mod tests {
    use super::super::directories::Listing;
    use super::*;
    use crate::types::{DirectoryId, ListedFile};

    /// Small files of two classes.
    fn kinds() -> (Kind, Kind) {
        let files = [1, 2].map(|class| ListedFile { size: 5000, class });
        let listing = Listing::new(files.into_iter());
        (listing.kind(0), listing.kind(1))
    }

    #[test]
    fn kinds_that_are_left_out_are_not_wanted() {
        let ((one, other), mut habits) = (kinds(), Habits::default());
        habits.open(one, false);
        assert!(habits.wants(other), "nothing was left out yet");
        habits.skip(other);
        habits.open(one, false);
        assert!(habits.wants(one) && !habits.wants(other));
        habits.open(other, true);
        assert!(habits.wants(other), "it was only late");
    }

    /// A file of `size` bytes was read at `offset`, `len` bytes.
    fn closed(habits: &mut Habits, kind: Kind, size: u64, extents: &[(u64, u64)]) {
        let mut opened = Opened::new(DirectoryId(0), kind, size);
        extents.iter().for_each(|(offset, len)| opened.read(Extent::new(*offset, *len)));
        habits.close(&opened);
    }

    #[test]
    fn heads_are_as_long_as_the_longest_of_late() {
        let ((one, other), mut habits) = (kinds(), Habits::default());
        let head = |habits: &Habits, kind, size| habits.part(kind, size).head;
        assert_eq!(head(&habits, one, 1 << 30), UNKNOWN_BYTES);
        closed(&mut habits, one, 1 << 20, &[(0, 5000)]);
        assert_eq!((head(&habits, one, 1 << 30), habits.stop(one)), (8192, Some(8192)));
        assert_eq!(head(&habits, other, 4000), 4000);
        closed(&mut habits, one, 3000, &[(0, 3000)]);
        assert_eq!(head(&habits, one, 1 << 30), 8192, "it ends before heads do");
        closed(&mut habits, one, 1 << 20, &[(0, 1 << 20)]);
        assert_eq!((head(&habits, one, 1 << 30), habits.stop(one)), (WHOLE_BYTES_MAX, None));
        for _ in 0..4 {
            closed(&mut habits, one, 1 << 20, &[]);
        }
        assert_eq!(head(&habits, one, 1 << 30), 0);
    }

    #[test]
    fn indices_at_the_end_are_a_part() {
        const SIZE: u64 = 10 << 20;
        let ((one, _), mut habits) = (kinds(), Habits::default());
        closed(&mut habits, one, SIZE, &[(SIZE - 22, 22), (SIZE - 50_000, 49_978), (4 << 20, 4096)]);
        assert_eq!(habits.part(one, SIZE), Part { head: 0, tail: 50_000 });
        assert_eq!(habits.part(one, 30_000), Part { head: 0, tail: 30_000 });
        for _ in 0..4 {
            closed(&mut habits, one, SIZE, &[(0, SIZE)]);
        }
        assert_eq!(
            habits.part(one, SIZE),
            Part { head: WHOLE_BYTES_MAX, tail: 0 },
            "they read all of it now"
        );
    }
}
