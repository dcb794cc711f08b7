//! One stream: how much to keep ahead of its reader.
//!
//! ```text
//!      start          frontier            planned
//!  ------|================|--------------------|------------>  position
//!          read (disorder   in memory, in flight  not asked for
//!          within reorder)  or about to be
//!                         |<----- window ----->|
//! ```
//! [`place`] says whether a read is its reader's, [`read`] what such a read moves, [`glide`] when it
//! changes nothing else; [`window`] sizes what is ahead, [`outcome`] tells what became of it,
//! [`reason`] why it is as large as it is. Positions are counted along the stream's way: [`shape`]
//! says which that is, [`strides`] where it leaves something out at even steps, [`density`] how much
//! of it is read.

mod density;
mod glide;
mod outcome;
mod place;
mod read;
mod reason;
mod shape;
mod strides;
mod window;

use super::amounts::Counted;
use crate::policy::Access;
use crate::types::{Extent, StreamId, Time};
use density::Density;
pub(super) use place::{Past, REORDER_BYTES_MAX, REORDER_BYTES_MIN};
pub(super) use shape::{Shape, Way};
pub(super) use strides::Strides;

/// Windows end at multiples of this.
const GRAIN: u64 = 64 << 10;

/// See the module's page. `start <= frontier <= planned`.
#[derive(Debug)]
pub(super) struct Stream {
    id: StreamId,
    shape: Shape,
    start: u64,
    /// Where its reader began last: again where it comes back to what was over.
    resumed_at: u64,
    frontier: u64,
    planned: u64,
    /// Bytes to keep ahead; 0 until the first read decides.
    window: u64,
    /// Bytes that were read before this was known to be a stream, up to 4 GiB.
    evidence: u32,
    /// Bytes from here on could not be fetched: none is wanted until the reader
    /// gets past here itself.
    failed: u64,
    /// The window is reconsidered when the frontier gets here.
    turn: u64,
    /// The window is not topped up before the frontier gets here.
    quiet_until: u64,
    /// When and where it was last reconsidered.
    turned: (Time, u64),
    /// The reader had to wait since then for something that was planned.
    late: bool,
    /// Blocks that were fetched for it and not read, if nobody else came for them.
    at_risk_blocks: u32,
    /// How often it was reconsidered.
    turn_count: u8,
    /// How long its reads are, up to 4 GiB.
    read_len: u32,
    last_read: Time,
    counted: Counted,
    density: Density,
    /// What it leaves out is dearer than requests that leave it out.
    is_dear: bool,
    /// Bytes that were read of its way.
    read_bytes: u64,
    /// Bytes read ahead for it that it skipped.
    skipped_bytes: u64,
    /// Which of the object's reads the last was.
    read_index: u64,
    /// And how many lay between two of its own, lately and at most.
    read_gap: u16,
    /// How often in a row its reader came back to it after others of those.
    return_count: u8,
    /// What lies ahead was counted as wasted.
    is_settled: bool,
    /// Nobody has read it since it was told that it is over.
    is_told: bool,
    /// Its reader has said that it reads on.
    is_announced: bool,
    /// It may be reads that are beside each other by chance: whoever comes near is somebody else.
    is_accident: bool,
    /// Reads that had to wait behind the frontier.
    behind_count: u8,
    reason: reason::Reason,
}

impl Stream {
    /// A stream that has come `evidence` bytes from position `start` to `frontier`.
    pub(super) fn new(shape: Shape, way: Extent, evidence: u64, access: &Access) -> Stream {
        Stream {
            id: StreamId(0),
            shape,
            start: way.offset,
            resumed_at: way.offset,
            frontier: way.end(),
            planned: way.end(),
            window: 0,
            evidence: to_u32(evidence),
            failed: u64::MAX,
            turn: way.end() + 1,
            quiet_until: 0,
            turned: (access.time, way.end()),
            late: false,
            at_risk_blocks: 0,
            turn_count: 0,
            read_len: to_u32(access.extent.len),
            last_read: access.time,
            counted: Counted::default(),
            density: Density::new(evidence, way.len),
            is_dear: false,
            read_bytes: evidence.saturating_sub(access.extent.len),
            skipped_bytes: 0,
            read_index: 0,
            read_gap: 0,
            return_count: 0,
            is_settled: false,
            is_told: false,
            is_announced: false,
            is_accident: false,
            behind_count: 0,
            reason: reason::Reason::default(),
        }
    }

    /// Whether a read of `positions` right before the only one so far says that it goes the other way.
    pub(super) fn turns_round(&self, positions: Extent) -> bool {
        self.shape.is_dense()
            && self.read_bytes == self.own_bytes()
            && self.own_bytes() <= self.read_len()
            && positions.end() == self.start
    }

    /// A stream that goes the other way, from where this one began.
    pub(super) fn turned_round(&self, access: &Access) -> Stream {
        let shape = if matches!(self.shape, Shape::Forward) { Shape::Backward } else { Shape::Forward };
        let read = self.shape.span(Extent::between(self.start, self.frontier));
        let way = shape.positions(read, 0).unwrap_or_default();
        Stream::new(shape, way, way.len + access.extent.len, access)
    }

    /// It is known by `id` from now on.
    pub(super) fn set_id(&mut self, id: StreamId) {
        self.id = id;
    }

    pub(super) fn id(&self) -> StreamId {
        self.id
    }

    /// Its reader has said that it reads on.
    pub(super) fn announce(&mut self) {
        self.is_announced = true;
    }

    pub(super) fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(super) fn start(&self) -> u64 {
        self.start
    }

    pub(super) fn frontier(&self) -> u64 {
        self.frontier
    }

    pub(super) fn last_read(&self) -> Time {
        self.last_read
    }

    pub(super) fn activity_mut(&mut self) -> &mut Counted {
        &mut self.counted
    }

    /// It consumed a window: it is no accident.
    pub(super) fn is_proven(&self) -> bool {
        // The first time is with the first read.
        self.turn_count > 1
    }

    /// Bytes of one of its elements, if it is strided.
    pub(super) fn element_bytes(&self) -> Option<u64> {
        match &self.shape {
            Shape::Strided(strides) => Some(strides.element_bytes()),
            _ => None,
        }
    }

    /// Bytes of its way so far.
    pub(super) fn own_bytes(&self) -> u64 {
        self.frontier - self.start
    }

    /// Where the run began that its reader is on.
    pub(super) fn run_start(&self) -> u64 {
        self.resumed_at
    }

    /// How long that run was: without what it left out, if that was most of it.
    pub(super) fn run_bytes(&self) -> u64 {
        self.trusted_way().min(self.frontier - self.resumed_at)
    }

    /// All of its way without what it left out, if that was most of it.
    fn trusted_way(&self) -> u64 {
        let own = self.own_bytes();
        if 2 * self.read_bytes >= own { own } else { self.read_bytes }
    }

    /// For how many bytes of its way it is trusted: for none if it leaves out most of it.
    pub(super) fn trusted_bytes(&self, through_bytes: u64, in_turns: bool) -> u64 {
        if self.density.is_sparse(through_bytes, in_turns) { 0 } else { self.trusted_way() }
    }

    /// Bytes of its run once `extent` is read.
    pub(super) fn run_bytes_with(&self, extent: Extent) -> u64 {
        let end = self.shape.positions(extent, self.frontier).map_or(0, |positions| positions.end());
        self.frontier.max(end) - self.resumed_at
    }
}

/// `bytes`, or the most that fit.
fn to_u32(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
