//! The state that all objects have in common.

use super::budget::Shares;
use super::ended_streams::EndedStreams;
use super::evidence::{Heads, Tails, Trust};
use crate::config::Config;
use crate::types::StreamId;

/// See the module's page.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) shares: Shares,
    pub(super) heads: Heads,
    pub(super) tails: Tails,
    pub(super) trust: Trust,
    pub(super) ended: EndedStreams,
    /// The number of streams since the start.
    streams: u64,
}

impl Common {
    pub(super) fn new(config: &Config) -> Common {
        Common {
            shares: Shares::default(),
            heads: Heads::default(),
            tails: Tails::default(),
            trust: Trust::default(),
            ended: EndedStreams::new(config),
            streams: 0,
        }
    }

    /// The name of a new stream.
    pub(super) fn next_id(&mut self) -> StreamId {
        self.streams += 1;
        StreamId(self.streams)
    }
}
