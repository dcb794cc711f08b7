//! One fetch in flight.

use alloc::vec::Vec;

use crate::cache::SlotRun;
use crate::device::Sample;
use crate::types::{BLOCK_BYTES, Cause, Extent, FetchId, ObjectId, ReadId, Time};

/// See the module's page.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) object: ObjectId,
    pub(crate) extent: Extent,
    pub(crate) runs: Vec<SlotRun>,
    pub(crate) cause: Cause,
    /// It brings more bytes than readers asked for. If it fails, waiting readers get another fetch, of just
    /// their bytes.
    pub(crate) rides_along: bool,
    /// Somebody waits for all of it, and nothing is read ahead from there.
    pub(crate) is_alone: bool,
    /// For the device model.
    pub(crate) sample: Sample,
    /// When it was dispatched, or last brought bytes.
    pub(crate) heard: Time,
    /// The longest time between two of those when bytes came.
    pub(crate) pause_ns: u64,
    /// Bytes came, and then none for longer than any pauses.
    pub(crate) is_stalled: bool,
    /// Bytes that have arrived, in total.
    pub(crate) arrived_bytes: u64,
    /// Whole blocks of them, handed to the cache.
    pub(crate) arrived_blocks: u64,
    /// Reads to look at when something arrives. May hold reads that are over.
    pub(crate) waiters: Vec<ReadId>,
    /// Its bytes were invalidated, or another fetch brings them: bytes that still arrive are dropped.
    pub(crate) doomed: bool,
    /// The other of two fetches that are to bring the same bytes, of which neither has brought
    /// any yet. One of them is doomed, and takes the other's place should it be the first.
    pub(crate) twin: Option<FetchId>,
    /// It was asked for again.
    pub(crate) is_repeated: bool,
    /// How many fetches had come when it was heard of for the last time.
    pub(crate) come_before: u64,
    /// It was cancelled.
    pub(crate) cancelled: bool,
}

impl Flight {
    /// The bytes that have not arrived yet, in whole blocks.
    pub(crate) fn rest(&self) -> Extent {
        Extent::between(self.extent.offset + self.arrived_blocks * BLOCK_BYTES, self.extent.end())
    }

    /// Its first bytes, or those after a stall, are still to come, and will be kept.
    pub(crate) fn is_awaited(&self) -> bool {
        (self.arrived_bytes == 0 || self.is_stalled) && !self.doomed && !self.cancelled
    }

    /// Some of its bytes came, and others that will be kept are to follow.
    pub(super) fn is_coming(&self) -> bool {
        self.arrived_bytes > 0 && !self.is_stalled && !self.cancelled && self.is_indexed()
    }

    pub(super) fn is_indexed(&self) -> bool {
        !self.doomed && !self.rest().is_empty()
    }
}
