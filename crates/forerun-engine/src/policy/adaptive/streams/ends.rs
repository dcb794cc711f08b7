//! When streams are over, and how far they came.

use alloc::vec::Vec;
use core::mem;

use super::Streams;
use crate::cache::Cache;
use crate::config::Config;
use crate::explain::End;
use crate::policy::Ended;
use crate::policy::adaptive::lengths::Head;
use crate::policy::adaptive::stream::{Shape, Stream, Way};
use crate::types::ObjectId;

/// Ends that nobody has asked for yet; none where nobody listens to events.
#[derive(Debug)]
pub(crate) struct Ends {
    is_heard: bool,
    ended: Vec<Ended>,
}

impl Ends {
    pub(crate) fn new(config: &Config) -> Ends {
        Ends { is_heard: config.events_max > 0, ended: Vec::new() }
    }

    /// Those since it was asked last.
    pub(crate) fn take(&mut self) -> Vec<Ended> {
        mem::take(&mut self.ended)
    }

    /// `stream` of `object`, which has `size` bytes, is over: because of `cause`, unless
    /// more is known of it.
    pub(super) fn note(
        &mut self,
        object: ObjectId,
        stream: &mut Stream,
        size: u64,
        through_bytes: u64,
        cause: End,
    ) {
        if self.is_heard
            && let Some(end) = stream.end(size, through_bytes, cause)
        {
            self.ended.push(Ended { object, stream: stream.id(), end });
        }
    }
}

impl Streams {
    /// All of them are over, because of `cause` unless more is known of one.
    pub(crate) fn end_all(&mut self, object: ObjectId, cause: End, ends: &mut Ends) {
        for stream in &mut self.streams {
            ends.note(object, stream, self.size, self.through_bytes, cause);
        }
    }

    /// Counts what lies ahead of streams that nobody reads any more as wasted.
    pub(crate) fn settle(&mut self, object: ObjectId, size: u64, cache: &Cache, ends: &mut Ends) {
        if !self.briefs.may_be_over(self.read_count) {
            return;
        }
        for (index, stream) in self.streams.iter_mut().enumerate() {
            if self.read_count > stream.over_after() {
                self.ledger.lose(stream.unread_bytes(stream.ahead(), object, cache));
                stream.settle();
                ends.note(object, stream, size, self.through_bytes, End::ReaderLeft);
                if stream.shape().is_dense() {
                    stream.catch_up(object, cache);
                    let look = self.candidates.iter().position(|lone| stream.joins(lone.extent()));
                    if let Some(lone) = look.and_then(|place| self.candidates.remove(place)) {
                        self.guessed_count -= u8::from(lone.is_guessed());
                        self.ways.note_look();
                    }
                    // A copy that touches both ends begins at the lower one.
                    self.ways.note(look.is_some() || stream.shape().way() == Way::Up);
                    if stream.frontier() >= stream.shape().limit(size) {
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
    pub(crate) fn head(&self) -> Option<Head> {
        let is_head = |stream: &&Stream| stream.start() == 0 && matches!(stream.shape(), Shape::Forward);
        let stream = self.streams.iter().filter(is_head).max_by_key(|stream| stream.frontier())?;
        let (bytes, read_index) = (stream.frontier(), self.last_read_index);
        Some(Head { bytes, is_whole: bytes >= self.size, read_index })
    }
}
