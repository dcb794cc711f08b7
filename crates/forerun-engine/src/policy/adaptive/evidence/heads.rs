//! How far objects are read from their start, whichever they are.
//!
//! A reader that looks at the first block of many objects does not want more of the next one. A reader of
//! whole objects does.

use alloc::collections::VecDeque;

use super::super::detect::{PATIENCE_GAPS, PATIENCE_READS};
use super::{Lengths, OBJECTS_MAX};
use crate::ablation::Rule;
use crate::types::ObjectId;

/// How far an object was read from its start, if it was, and the number of its last read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) bytes: Option<u64>,
    pub(crate) is_whole: bool,
    pub(crate) last_read: u64,
}

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    pub(crate) lengths: Lengths,
    /// The oldest first.
    begun: VecDeque<ObjectId>,
    reads: u64,
}

impl Heads {
    /// Some object is read; the number of that read.
    pub(crate) fn count_read(&mut self) -> u64 {
        self.reads += 1;
        self.reads
    }

    /// A reader begins with `object` while `reading` streams are being read. Objects that were begun before
    /// may be over: `head_of` tells how far they were read.
    pub(crate) fn begin(
        &mut self,
        object: ObjectId,
        reading: u64,
        head_of: impl Fn(ObjectId) -> Option<Head>,
    ) {
        if self.begun.back() != Some(&object) && !Rule::Heads.is_off() {
            self.begun.push_back(object);
        }
        let patience = PATIENCE_READS + PATIENCE_GAPS * reading;
        for _ in 0..2 {
            let Some(oldest) = self.begun.front().copied() else { return };
            let head = head_of(oldest);
            let is_over = head.is_none_or(|head| self.reads - head.last_read > patience);
            if !is_over && self.begun.len() <= OBJECTS_MAX {
                return;
            }
            self.begun.pop_front();
            self.record_head(head);
        }
    }

    /// Nobody has `object` open any more.
    pub(crate) fn on_idle(&mut self, object: ObjectId, head: Head) {
        if let Some(place) = self.begun.iter().rposition(|begun| *begun == object) {
            self.begun.remove(place);
            self.record_head(Some(head));
        }
    }

    fn record_head(&mut self, head: Option<Head>) {
        if let Some(Head { bytes: Some(bytes), is_whole, .. }) = head {
            self.lengths.record(bytes, is_whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;

    fn begin(heads: &mut Heads, object: u64, last_read: u64) {
        let head = Head { bytes: Some(4 * KIB), is_whole: false, last_read };
        heads.begin(ObjectId(object), 1, |_| Some(head));
    }

    #[test]
    fn objects_that_are_still_read_are_not_over() {
        let mut heads = Heads::default();
        (0..100).for_each(|_| {
            heads.count_read();
        });
        (0..8).for_each(|object| begin(&mut heads, object, 99));
        assert_eq!(heads.lengths.reach(4 * KIB, 64 * KIB, 0), None);
        (0..4).for_each(|object| begin(&mut heads, object, 1));
        assert_eq!(heads.lengths.reach(4 * KIB, 64 * KIB, 0), Some(4 * KIB));
    }

    #[test]
    fn three_short_ones_that_were_closed_say_that_the_next_is_short() {
        let mut heads = Heads::default();
        for object in 0..3 {
            begin(&mut heads, object, 0);
            let head = Head { bytes: Some(4 * KIB), is_whole: false, last_read: heads.reads };
            heads.on_idle(ObjectId(object), head);
        }
        assert_eq!(heads.lengths.reach(4 * KIB, 1 << 20, 0), Some(4 * KIB));
    }
}
