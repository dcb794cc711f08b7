//! Events, and their sums.

use crate::explain::{Class, End, Why};
use crate::types::{Cause, Extent, FetchId, ObjectId, ReaderId, StreamId, Time};

/// Something that happened, for metrics, traces and tests. All counts are sums
/// over these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The fields say what the variant's line names.
#[non_exhaustive]
pub enum Event {
    /// A read was asked for; `late_bytes` of it were in flight, `missing_bytes`
    /// neither resident nor in flight. If some of it was read ahead and nobody had asked for
    /// that before: for which class of reading, that of the first such bytes.
    Read {
        time: Time,
        object: ObjectId,
        reader: ReaderId,
        extent: Extent,
        late_bytes: u64,
        missing_bytes: u64,
        ahead: Option<Class>,
    },
    /// The policy plans to read `extent` ahead, and to grow the window once the reader gets to `mark`. The
    /// class says for which kind of reading, and `why` which rule decided its size. There is no `stream` if
    /// it fills a region, follows a plan or a walk, or is a bet. Only `adaptive` has streams.
    Window {
        time: Time,
        object: ObjectId,
        extent: Extent,
        mark: u64,
        class: Class,
        why: Why,
        stream: Option<StreamId>,
    },
    /// A stream is over, as far as is known. If its reader comes back, the stream goes on and has another
    /// end.
    StreamEnd { time: Time, object: ObjectId, stream: StreamId, end: End },
    /// A fetch was dispatched. If it has bytes that no reader waits for: the class of reading for which they
    /// are read ahead.
    Fetch { time: Time, id: FetchId, object: ObjectId, extent: Extent, cause: Cause, ahead: Option<Class> },
    /// A late fetch `of` was hedged: a second fetch brings all of its bytes, or the rest after a stall. The
    /// first of them to bring bytes wins, and the other is cancelled.
    Repeated { time: Time, id: FetchId, of: FetchId, object: ObjectId, extent: Extent, cause: Cause },
    /// The fetch that was dispatched again was the first of the two to bring bytes.
    Won { time: Time, id: FetchId },
    /// A fetch ended well.
    Fetched { time: Time, id: FetchId },
    /// A fetch failed or was cancelled with `bytes` still to come.
    Failed { time: Time, id: FetchId, cancelled: bool, bytes: u64 },
    /// Bytes that nobody had read since they were fetched were evicted.
    Wasted { time: Time, object: ObjectId, extent: Extent },
}

/// Sums since the engine was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Reads asked for.
    pub read_count: u64,
    /// Bytes asked for.
    pub read_bytes: u64,
    /// Bytes that were resident when asked for.
    pub hit_bytes: u64,
    /// Bytes that were in flight when asked for.
    pub late_bytes: u64,
    /// Bytes that were neither when asked for.
    pub miss_bytes: u64,
    /// Fetches dispatched because a reader waited.
    pub demand_count: u64,
    /// Fetches dispatched ahead of any reader.
    pub readahead_count: u64,
    /// Bytes of demand fetches dispatched, readahead that went along included.
    pub demand_bytes: u64,
    /// Bytes of readahead fetches dispatched.
    pub readahead_bytes: u64,
    /// Hedged fetches; none of those above.
    pub repeated_count: u64,
    /// Their bytes.
    pub repeated_bytes: u64,
    /// How many of them were the first to bring bytes.
    pub won_count: u64,
    /// Bytes evicted or invalidated before anybody read them.
    pub wasted_bytes: u64,
    /// Fetches that failed.
    pub failed_count: u64,
    /// Fetches that were cancelled.
    pub cancelled_count: u64,
    /// The most memory ever charged, in bytes.
    pub memory_bytes_peak: u64,
}

impl Counters {
    pub(crate) fn add(&mut self, event: &Event) {
        match *event {
            Event::Read { extent, late_bytes, missing_bytes, .. } => {
                self.read_count += 1;
                self.read_bytes += extent.len;
                self.late_bytes += late_bytes;
                self.miss_bytes += missing_bytes;
                self.hit_bytes += extent.len - late_bytes - missing_bytes;
            }
            Event::Fetch { extent, cause: Cause::Demand, .. } => {
                self.demand_count += 1;
                self.demand_bytes += extent.len;
            }
            Event::Fetch { extent, cause: Cause::Readahead, .. } => {
                self.readahead_count += 1;
                self.readahead_bytes += extent.len;
            }
            Event::Repeated { extent, .. } => {
                self.repeated_count += 1;
                self.repeated_bytes += extent.len;
            }
            Event::Won { .. } => self.won_count += 1,
            Event::Failed { cancelled: true, .. } => self.cancelled_count += 1,
            Event::Failed { .. } => self.failed_count += 1,
            Event::Wasted { extent, .. } => self.wasted_bytes += extent.len,
            Event::Window { .. } | Event::StreamEnd { .. } | Event::Fetched { .. } => {}
        }
    }
}
