//! How far objects are read that are read from their start, whichever they are.
//!
//! Who opens many objects and looks at the first block of each does not want more of
//! the next one either; who reads all of each does.

use alloc::collections::VecDeque;

use super::runs::Runs;
use crate::types::ObjectId;

/// Objects begun that are not known to be over, at most.
const BEGUN_MAX: usize = 256;
/// An object that was not read while so many other reads were made, and while every
/// other stream could have been read so often, is over.
const PATIENCE_READS_MIN: u64 = 32;
const PATIENCE_ROUNDS: u64 = 4;

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    runs: Runs,
    /// Objects that somebody began with, the oldest first.
    begun: VecDeque<ObjectId>,
    read_count: u64,
}

/// How far an object was read from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) bytes: u64,
    pub(crate) is_whole: bool,
    /// The number of the read of all objects that was the object's last.
    pub(crate) read_index: u64,
}

impl Heads {
    /// Some object is read, so many times; the number of the last of those reads.
    pub(crate) fn note_reads(&mut self, count: u64) -> u64 {
        self.read_count += count;
        self.read_count
    }

    /// Somebody begins with `object`.
    pub(crate) fn begin(&mut self, object: ObjectId) {
        if self.begun.back() == Some(&object) {
            return;
        }
        if self.begun.len() == BEGUN_MAX {
            self.begun.pop_front();
        }
        self.begun.push_back(object);
    }

    /// The object begun longest ago.
    pub(crate) fn oldest(&self) -> Option<ObjectId> {
        self.begun.front().copied()
    }

    /// The oldest was read as far as `head`, if it is known any more, while so many
    /// streams are read. False if it is not over.
    pub(crate) fn settle(&mut self, head: Option<Head>, stream_count: u64) -> bool {
        let patience = PATIENCE_READS_MIN + PATIENCE_ROUNDS * stream_count;
        if head.is_some_and(|head| self.read_count - head.read_index <= patience) {
            return false;
        }
        self.begun.pop_front();
        self.note(head);
        true
    }

    /// Nobody has `object` open any more, which was read as far as `head`.
    pub(crate) fn on_idle(&mut self, object: ObjectId, head: Option<Head>) {
        if let Some(place) = self.begun.iter().rposition(|begun| *begun == object) {
            self.begun.remove(place);
            self.note(head);
        }
    }

    /// How far objects were read so far.
    pub(crate) fn runs(&self) -> &Runs {
        &self.runs
    }

    fn note(&mut self, head: Option<Head>) {
        match head {
            Some(Head { is_whole: true, .. }) => self.runs.note_whole(),
            Some(Head { bytes, .. }) => self.runs.note(bytes),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_still_read_is_not_over() {
        let mut heads = Heads::default();
        heads.begin(ObjectId(1));
        let head = Head { bytes: 4096, is_whole: false, read_index: heads.note_reads(1) };
        assert!(!heads.settle(Some(head), 1));
        assert_eq!((0..100).map(|_| heads.note_reads(1)).last(), Some(101));
        assert!(!heads.settle(Some(head), 64), "64 streams take longer for a round");
        assert!(heads.settle(Some(head), 1));
        assert_eq!(heads.oldest(), None);
    }

    #[test]
    fn three_short_ones_say_that_the_next_is_short() {
        let mut heads = Heads::default();
        for object in (0..3).map(ObjectId) {
            heads.begin(object);
            let head = Head { bytes: 4096, is_whole: false, read_index: heads.note_reads(1) };
            heads.on_idle(object, Some(head));
        }
        assert_eq!(heads.runs().reach(4096, 1 << 20, 0), Some(4096));
        assert_eq!(heads.runs().reach(8192, 1 << 20, 0), None);
    }
}
