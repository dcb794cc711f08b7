//! Streams that are over, for drivers that take events.

use alloc::vec::Vec;

use super::detect::Stream;
use crate::config::Config;
use crate::explain::End;
use crate::policy::Ended;
use crate::types::ObjectId;

/// See the module's page. None where nobody listens.
#[derive(Debug)]
pub(super) struct EndedStreams {
    is_heard: bool,
    ended: Vec<Ended>,
}

impl EndedStreams {
    pub(super) fn new(config: &Config) -> EndedStreams {
        EndedStreams { is_heard: config.events_max > 0, ended: Vec::new() }
    }

    /// Those since it was asked last.
    pub(super) fn take_ended(&mut self) -> Vec<Ended> {
        core::mem::take(&mut self.ended)
    }

    /// `stream` of `object`, which has `size` bytes, is over because of `cause`, unless it came to its
    /// end. Once for each.
    pub(super) fn record_end(&mut self, object: ObjectId, stream: &mut Stream, size: u64, cause: End) {
        if self.is_heard && !core::mem::replace(&mut stream.is_told, true) {
            let is_whole = stream.frontier >= stream.shape.limit(size);
            let end = if is_whole { End::ObjectEnd } else { cause };
            self.ended.push(Ended { object, stream: stream.id, end });
        }
    }
}
