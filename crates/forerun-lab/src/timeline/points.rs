//! The parts of a timeline: reads, fetches and windows.

use forerun_engine::{Cause, Extent, ObjectId, Time, Why};

/// The state of the bytes of a read when it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// All bytes were resident.
    Hit,
    /// Some bytes were in flight, none were missing.
    Late,
    /// Some bytes were neither resident nor in flight.
    Miss,
}

/// A read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadPoint {
    /// When it was asked for.
    pub time: Time,
    /// The object.
    pub object: ObjectId,
    /// Which bytes.
    pub extent: Extent,
    /// The state of its bytes.
    pub class: Class,
    /// The kind of stream for which its first new bytes were read ahead; nothing where there were
    /// none.
    pub ahead: Option<forerun_engine::Class>,
}

/// Reads that were served alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Those of [`Class::Hit`].
    pub hit_count: u64,
    /// Those of [`Class::Late`].
    pub late_count: u64,
    /// Those of [`Class::Miss`].
    pub miss_count: u64,
}

impl Served {
    /// How many of them found that.
    pub fn of(&self, class: Class) -> u64 {
        match class {
            Class::Hit => self.hit_count,
            Class::Late => self.late_count,
            Class::Miss => self.miss_count,
        }
    }

    pub(crate) fn count(&mut self, class: Class) {
        match class {
            Class::Hit => self.hit_count += 1,
            Class::Late => self.late_count += 1,
            Class::Miss => self.miss_count += 1,
        }
    }
}

/// Bytes of a whole run, whether its reads and fetches were sampled or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes that were read and resident.
    pub hit_bytes: u64,
    /// Bytes that were read and in flight.
    pub late_bytes: u64,
    /// Bytes that were read and neither.
    pub miss_bytes: u64,
    /// Bytes that were fetched, hedged requests not included.
    pub fetched_bytes: u64,
    /// Bytes that were fetched and evicted unread, or left unread at the end.
    pub wasted_bytes: u64,
}

/// A fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchPoint {
    /// When it was dispatched.
    pub time: Time,
    /// When it ended; `None` while it is in flight.
    pub end: Option<Time>,
    /// The object.
    pub object: ObjectId,
    /// Which bytes.
    pub extent: Extent,
    /// Why.
    pub cause: Cause,
    /// From the first to the last byte of it that was evicted before anybody read
    /// it; empty if none was.
    pub wasted: Extent,
}

/// A window of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowPoint {
    /// When the policy wanted it.
    pub time: Time,
    /// The object.
    pub object: ObjectId,
    /// Its length in bytes.
    pub len: u64,
    /// The kind of stream that it is for.
    pub class: forerun_engine::Class,
    /// The reason for its length.
    pub why: Why,
}
