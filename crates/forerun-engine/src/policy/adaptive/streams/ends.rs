//! When streams are over, and how far they came.

use super::Streams;
use crate::cache::Cache;
use crate::policy::adaptive::heads::Head;
use crate::policy::adaptive::shape::Shape;
use crate::policy::adaptive::stream::Stream;
use crate::types::ObjectId;

impl Streams {
    /// Counts what lies ahead of streams that nobody reads any more as wasted.
    pub(in crate::policy::adaptive) fn settle(&mut self, object: ObjectId, size: u64, cache: &Cache) {
        if !self.briefs.may_be_over(self.read_count) {
            return;
        }
        for (index, stream) in self.streams.iter_mut().enumerate() {
            if self.read_count > stream.over_after() {
                self.ledger.lose(stream.unread_bytes(stream.ahead(), object, cache));
                stream.settle();
                if matches!(stream.shape(), Shape::Forward) {
                    if stream.frontier() >= size {
                        self.runs.note_whole();
                    } else {
                        self.runs.note(stream.run_bytes());
                    }
                }
                self.briefs.note(index, stream);
            }
        }
        self.briefs.recount();
    }

    /// How far the object was read from its start.
    pub(in crate::policy::adaptive) fn head(&self) -> Option<Head> {
        let is_head = |stream: &&Stream| stream.start() == 0 && matches!(stream.shape(), Shape::Forward);
        let stream = self.streams.iter().filter(is_head).max_by_key(|stream| stream.frontier())?;
        let (bytes, read_index) = (stream.frontier(), self.last_read_index);
        Some(Head { bytes, is_whole: bytes >= self.size, read_index })
    }
}
