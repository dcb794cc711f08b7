//! Adaptive readahead of several streams in a shared cache, as Gill and Bathen published it (AMP, FAST
//! 2007).
//!
//! Every stream has a degree: the blocks that are read ahead at once. It also has a trigger distance: how
//! long before the end of the last set the next one is requested. Both follow the outcome of earlier sets:
//!
//! * a set that was read to its last block makes the next ones larger;
//! * blocks that were evicted unread make them smaller;
//! * a reader that waits for a set makes the next ones earlier.
//!
//! Two things differ from the paper. It keeps the two numbers with each cached page, so that the cache
//! bounds its streams. Here a table keeps them, and the stream that was read longest ago gives way. The
//! paper makes the distance a page longer each time. Here it grows by a request, as the degree does, since
//! one page matters little to requests of many pages.

mod sequence;

use alloc::vec::Vec;
use core::ops::Range;

use forerun_engine::{
    BLOCK_BYTES, CustomPolicy, Extent, ObjectId, PolicyRead, PolicyRules, PolicyView, Wishes,
};
use sequence::Sequence;

/// Streams of all objects together, candidates included.
const STREAMS_MAX: usize = 512;

#[derive(Debug)]
pub(crate) struct Amp {
    /// Blocks to read ahead at once, at most.
    degree_max: u64,
    sequences: Vec<Sequence>,
    /// Counts reads, to tell which stream was read longest ago.
    read_count: u64,
}

impl Amp {
    pub(crate) fn new(window_bytes_max: u64) -> Amp {
        Amp { degree_max: (window_bytes_max / BLOCK_BYTES).max(1), sequences: Vec::new(), read_count: 0 }
    }

    /// The stream that the read belongs to: of several, the one that was read last.
    fn find(&mut self, object: ObjectId, first: u64) -> Option<&mut Sequence> {
        let covering = self.sequences.iter_mut().filter(|sequence| sequence.covers(object, first));
        covering.max_by_key(|sequence| sequence.read_at)
    }

    fn insert(&mut self, sequence: Sequence) {
        if self.sequences.len() < STREAMS_MAX {
            self.sequences.push(sequence);
        } else if let Some(oldest) = self.sequences.iter_mut().min_by_key(|sequence| sequence.read_at) {
            *oldest = sequence;
        }
    }
}

impl CustomPolicy for Amp {
    /// The paper's cache does not distinguish readahead either. Its losses of unread blocks guide the
    /// degree.
    fn rules(&self) -> PolicyRules {
        PolicyRules::Kernel
    }

    fn on_read(&mut self, read: &PolicyRead, _: &PolicyView<'_>, wishes: &mut Wishes) {
        let (degree_max, object_end) = (self.degree_max, read.size.div_ceil(BLOCK_BYTES));
        let blocks = blocks_of(read.extent);
        self.read_count += 1;
        let read_at = self.read_count;
        if let Some(sequence) = self.find(read.object, blocks.start) {
            sequence.read_at = read_at;
            if let Some((extent, trigger)) = sequence.on_read(blocks, read.is_late, degree_max, object_end) {
                wishes.read_ahead_with_trigger(extent, trigger);
            }
        } else if read.is_late {
            self.insert(Sequence::new(read.object, blocks, read_at));
        }
    }

    fn on_lost(&mut self, object: ObjectId, extent: Extent) {
        let lost = blocks_of(extent);
        let sequences = self.sequences.iter_mut().filter(|sequence| sequence.object == object);
        sequences.for_each(|sequence| sequence.on_lost(&lost));
    }

    fn on_forget(&mut self, object: ObjectId) {
        self.sequences.retain(|sequence| sequence.object != object);
    }
}

fn blocks_of(extent: Extent) -> Range<u64> {
    extent.offset / BLOCK_BYTES..extent.end().div_ceil(BLOCK_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_read_longest_ago_gives_way() {
        let mut amp = Amp::new(1 << 20);
        for at in 0..STREAMS_MAX as u64 + 1 {
            amp.read_count += 1;
            amp.insert(Sequence::new(ObjectId(1), at * 10..at * 10 + 1, amp.read_count));
        }
        assert_eq!(amp.sequences.len(), STREAMS_MAX);
        assert!(amp.find(ObjectId(1), 1).is_none() && amp.find(ObjectId(1), 11).is_some());
        assert!(amp.find(ObjectId(2), 11).is_none());
    }
}
