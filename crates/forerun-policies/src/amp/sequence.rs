//! One sequential reader, and how far ahead of it is read.

use core::ops::Range;

use forerun_engine::{BLOCK_BYTES, Extent, ObjectId};

/// Misses in sequence that make a stream.
const MISSES_MIN: u32 = 2;
/// Sets of at most this many blocks are requested on misses only: they are too short for a trigger.
const ASYNCHRONOUS_BLOCKS: u64 = 4;

/// Blocks that were asked for together.
#[derive(Clone, Debug)]
struct Set {
    blocks: Range<u64>,
    /// Some of it was lost unread.
    lost: bool,
    /// Its last block was read, or was never read ahead.
    ended: bool,
}

/// One sequential reader. Its sets follow one another; the trigger lies in the
/// newest, so that the reader is in one of the last two.
#[derive(Debug)]
pub(super) struct Sequence {
    pub(super) object: ObjectId,
    /// The last but one and the newest.
    sets: [Set; 2],
    /// Blocks to read ahead at once; 0 until there were misses enough.
    degree: u64,
    /// Blocks between the trigger and the last of a set.
    distance: u64,
    /// Reading this block asks for the next set.
    trigger: Option<u64>,
    miss_count: u32,
    /// Which of all reads was its last.
    pub(super) read_at: u64,
}

impl Sequence {
    pub(super) fn new(object: ObjectId, blocks: Range<u64>, read_at: u64) -> Sequence {
        let set = Set { blocks, lost: false, ended: true };
        Sequence {
            object,
            sets: [set.clone(), set],
            degree: 0,
            distance: ASYNCHRONOUS_BLOCKS / 2,
            trigger: None,
            miss_count: 1,
            read_at,
        }
    }

    pub(super) fn covers(&self, object: ObjectId, first: u64) -> bool {
        self.object == object && self.sets[0].blocks.start <= first && first <= self.sets[1].blocks.end
    }

    /// Its reader asks for `read`. The next window and its trigger, if it is time for one.
    pub(super) fn on_read(
        &mut self,
        read: Range<u64>,
        late: bool,
        degree_max: u64,
        object_end: u64,
    ) -> Option<(Extent, u64)> {
        let [_, newest] = &self.sets;
        let end = newest.blocks.end;
        if late && !newest.ended && !newest.lost && read.contains(&newest.blocks.start) {
            self.distance = (self.distance + read.end - read.start).min(self.degree.saturating_sub(1));
        }
        let degree_before = self.degree;
        self.grow(&read, degree_max);
        let was_lost = |set: &Set| set.lost && overlap(&set.blocks, &read) > 0;
        if late && (read.end > end || self.sets.iter().any(was_lost)) {
            return self.on_miss(read, degree_max, object_end);
        }
        if read.end > end {
            // Others have brought it.
            self.sets[1] = Set { blocks: self.sets[1].blocks.start..read.end, lost: false, ended: true };
            return None;
        }
        self.trigger.take_if(|trigger| read.end > *trigger)?;
        let set = end..(end + degree_before).min(object_end);
        self.ask(set.clone(), set, object_end)
    }

    /// A set that was read to its last block, and lost none, makes the next larger.
    fn grow(&mut self, read: &Range<u64>, degree_max: u64) {
        for set in &mut self.sets {
            if !set.ended && read.contains(&(set.blocks.end - 1)) {
                set.ended = true;
                if !set.lost {
                    self.degree = (self.degree + (read.end - read.start)).min(degree_max);
                }
            }
        }
    }

    /// The reader came to blocks that were never requested, or were lost. Its blocks and those after them
    /// are one set.
    fn on_miss(&mut self, read: Range<u64>, degree_max: u64, object_end: u64) -> Option<(Extent, u64)> {
        self.miss_count = self.miss_count.saturating_add(1);
        if self.miss_count == MISSES_MIN {
            self.degree = (read.end - read.start).min(degree_max);
        }
        let ahead = read.end..(read.end + self.degree).min(object_end);
        self.ask(read.start..ahead.end.max(read.end), ahead, object_end)
    }

    /// Makes `blocks` the newest set, of which `ahead` is to be read ahead.
    fn ask(&mut self, blocks: Range<u64>, ahead: Range<u64>, object_end: u64) -> Option<(Extent, u64)> {
        let end = blocks.end;
        let is_asynchronous = self.degree > ASYNCHRONOUS_BLOCKS && end < object_end;
        let distance = self.distance.min(self.degree.saturating_sub(1));
        self.trigger = is_asynchronous.then(|| end.saturating_sub(1 + distance));
        let set = Set { blocks, lost: false, ended: ahead.is_empty() };
        let before = core::mem::replace(&mut self.sets[1], set);
        self.sets[0] = before;
        if self.sets[0].blocks.end > self.sets[1].blocks.start {
            // A set that is read again after a loss.
            self.sets[0] = self.sets[1].clone();
            self.sets[0].ended = true;
        }
        let mark = self.trigger.unwrap_or(end) * BLOCK_BYTES;
        let extent = Extent::between(ahead.start * BLOCK_BYTES, ahead.end * BLOCK_BYTES);
        (!extent.is_empty()).then_some((extent, mark))
    }

    pub(super) fn on_lost(&mut self, lost: &Range<u64>) {
        for set in &mut self.sets {
            let count = overlap(&set.blocks, lost);
            if count > 0 && !set.ended {
                set.lost = true;
                self.degree = self.degree.saturating_sub(count).max(1);
                self.distance = self.distance.saturating_sub(count);
            }
        }
    }
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> u64 {
    a.end.min(b.end).saturating_sub(a.start.max(b.start))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::amp::blocks_of;

    /// Two misses of ten blocks each: ten blocks are read ahead, and the trigger is
    /// the third from their end.
    fn sequence() -> Sequence {
        let mut sequence = Sequence::new(ObjectId(1), 0..10, 1);
        assert_eq!(blocks(sequence.on_read(10..20, true, 100, 1000)), Some((20..30, 27)));
        sequence
    }

    fn blocks(window: Option<(Extent, u64)>) -> Option<(Range<u64>, u64)> {
        window.map(|(extent, trigger)| (blocks_of(extent), trigger / BLOCK_BYTES))
    }

    #[test]
    fn sets_read_to_their_end_make_larger_ones_up_to_the_ceiling() {
        let mut sequence = sequence();
        let mut degrees = Vec::new();
        for at in (20..900).step_by(10) {
            sequence.on_read(at..at + 10, false, 100, 1000);
            degrees.push(sequence.degree);
        }
        degrees.dedup();
        assert_eq!(degrees, [20, 30, 40, 50, 60, 70, 80, 90, 100]);
    }

    #[test]
    fn lost_blocks_make_smaller_and_later_sets() {
        let mut sequence = sequence();
        sequence.on_lost(&(28..40));
        assert_eq!((sequence.degree, sequence.distance), (8, 0));
        // Its last block was lost, so that it is no reason to grow.
        assert_eq!(blocks(sequence.on_read(20..30, true, 100, 1000)), Some((30..38, 37)));
        sequence.on_lost(&(30..38));
        assert_eq!(sequence.degree, 1);
    }

    #[test]
    fn a_set_read_to_its_end_loses_nothing_by_eviction() {
        let mut sequence = sequence();
        sequence.on_read(20..30, false, 100, 1000);
        sequence.on_lost(&(20..30));
        assert_eq!(sequence.degree, 20);
    }

    #[test]
    fn waiting_for_a_set_makes_the_next_one_earlier() {
        let mut sequence = sequence();
        assert_eq!(blocks(sequence.on_read(20..30, false, 100, 1000)), Some((30..40, 37)));
        assert_eq!(blocks(sequence.on_read(30..40, true, 100, 1000)), Some((40..60, 47)));
        assert_eq!(sequence.distance, 12);
    }

    #[test]
    fn short_sets_have_no_trigger() {
        let mut sequence = Sequence::new(ObjectId(1), 0..1, 1);
        assert_eq!(blocks(sequence.on_read(1..2, true, 100, 1000)), Some((2..3, 3)));
        assert_eq!(blocks(sequence.on_read(2..3, false, 100, 1000)), None);
        assert_eq!(blocks(sequence.on_read(3..4, true, 100, 1000)), Some((4..6, 6)));
    }
}
