//! When streams are over, and how far they came.

use super::Streams;
use crate::cache::Cache;
use crate::policy::adaptive::heads::Head;
use crate::policy::adaptive::shape::Shape;
use crate::policy::adaptive::stream::Stream;
use crate::types::ObjectId;

/// A stream that was not read while so many other reads were made, and so many times as
/// many as lay between two of its own so far, has ended.
const SETTLE_READS_MIN: u64 = 32;
const SETTLE_GAPS: u64 = 4;

impl Streams {
    /// Counts what lies ahead of streams that nobody reads any more as wasted.
    pub(in crate::policy::adaptive) fn settle(&mut self, object: ObjectId, size: u64, cache: &Cache) {
        for stream in &mut self.streams {
            let patience = SETTLE_READS_MIN + SETTLE_GAPS * stream.read_gap();
            if !stream.is_settled() && self.read_count - stream.read_index() > patience {
                self.ledger.lose(stream.unread_bytes(stream.ahead(), object, cache));
                stream.settle();
                if matches!(stream.shape(), Shape::Forward) {
                    if stream.frontier() >= size {
                        self.runs.note_whole();
                    } else {
                        self.runs.note(stream.run_bytes());
                    }
                }
            }
        }
    }

    /// How far the object was read from its start.
    pub(in crate::policy::adaptive) fn head(&self) -> Option<Head> {
        let is_head = |stream: &&Stream| stream.start() == 0 && matches!(stream.shape(), Shape::Forward);
        let stream = self.streams.iter().filter(is_head).max_by_key(|stream| stream.frontier())?;
        let (bytes, read_index) = (stream.frontier(), self.last_read_index);
        Some(Head { bytes, is_whole: bytes >= self.size, read_index })
    }
}
