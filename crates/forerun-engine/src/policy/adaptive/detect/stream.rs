//! One stream, and what a read of its reader moves.
//!
//! ```text
//!      start          frontier            planned
//!  ------|================|--------------------|------------>  position
//!          read (disorder   in memory, in flight  not asked for
//!          within reorder)  or about to be
//! ```

use super::Shape;
use crate::cache::Cache;
use crate::policy::Access;
use crate::policy::adaptive::window_state::{GRAIN, Sizing};
use crate::types::{BLOCK_BYTES, Extent, ObjectId, StreamId, Time};

/// Misses behind the frontier after which its reader counts as one that jumps to and fro.
const BEHIND_MIN: u8 = 2;

/// After this many bytes, the bytes that were left out before count half.
const LATELY_BYTES: u64 = 1 << 20;

/// Bytes that were read and passed recently, and the number of those reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lately {
    pub(super) read: u64,
    pub(super) passed: u64,
    pub(super) count: u64,
}

/// See the module's page. `start <= frontier <= planned`.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) id: StreamId,
    pub(crate) shape: Shape,
    pub(crate) start: u64,
    /// The position where its reader began last: there again, if it came back to a stream that was over.
    run_start: u64,
    pub(crate) frontier: u64,
    pub(crate) planned: u64,
    pub(crate) sizing: Sizing,
    /// Where its reader looked when it began: a copy of a part begins at both of its ends.
    pub(crate) looked: Option<Extent>,
    /// Bytes from here on could not be fetched: none is planned until the reader gets past here itself.
    pub(crate) failed: u64,
    pub(crate) read_len: u64,
    pub(crate) read_bytes: u64,
    /// Bytes read ahead for it that it skipped.
    pub(crate) skipped: u64,
    /// Bytes that it read since it skipped some.
    pub(crate) in_row: u64,
    pub(super) lately: Lately,
    pub(crate) count: u64,
    behind: u8,
    began: Time,
    pub(crate) last_read: Time,
    /// Which of the object's reads was its last, and how many lie between two.
    pub(super) index: u64,
    pub(super) gap: u64,
    /// It was not read for so long that its bytes ahead count as wasted.
    pub(crate) is_over: bool,
    /// Reads may lie beside each other by chance, until it continues.
    pub(crate) is_doubted: bool,
    /// When it was counted as being read, and as holding memory.
    pub(crate) counted: [Option<u32>; 2],
    /// The event of its end was emitted.
    pub(crate) is_told: bool,
}

impl Stream {
    /// A stream that has come `evidence` bytes along `way`. It has one of every `gap` reads of the object.
    pub(crate) fn new(shape: Shape, way: Extent, evidence: u64, gap: u64, access: &Access) -> Stream {
        let before = evidence.saturating_sub(access.extent.len);
        Stream {
            id: StreamId(0),
            shape,
            start: way.offset,
            run_start: way.offset,
            frontier: way.end(),
            planned: way.end(),
            sizing: Sizing::default(),
            looked: None,
            failed: u64::MAX,
            read_len: access.extent.len,
            read_bytes: before,
            skipped: 0,
            in_row: before,
            lately: Lately { read: before, passed: way.len.saturating_sub(access.extent.len), count: 1 },
            count: 1,
            behind: 0,
            began: access.time,
            last_read: access.time,
            index: 0,
            gap,
            is_over: false,
            is_doubted: false,
            counted: [None; 2],
            is_told: false,
        }
    }

    /// Bytes of its way.
    pub(crate) fn own(&self) -> u64 {
        self.frontier - self.start
    }

    /// Bytes of the run that its reader is on.
    pub(crate) fn run(&self) -> u64 {
        self.frontier.saturating_sub(self.run_start)
    }

    /// The extent of that run, of a stream that leaves nothing out.
    pub(crate) fn extent(&self) -> Extent {
        self.shape.positions(Extent::between(self.run_start, self.frontier)).unwrap_or_default()
    }

    /// Bytes of its way. If most of that is gaps, only the bytes that it read.
    pub(crate) fn trusted(&self) -> u64 {
        if 2 * self.read_bytes >= self.own() { self.own() } else { self.read_bytes }
    }

    /// The rate of its reader since the stream began, in bytes a second; 0 if it was read once.
    pub(crate) fn rate(&self) -> u64 {
        let ns = self.last_read.since(self.began);
        if ns == 0 { 0 } else { crate::device::rate(self.read_bytes, ns) }
    }

    /// The positions that it has planned and not reached.
    pub(crate) fn ahead(&self) -> Extent {
        Extent::between(self.frontier, self.planned)
    }

    /// The same that counts as expected.
    pub(crate) fn expected(&self) -> u64 {
        if self.is_over { 0 } else { self.ahead().len }
    }

    /// Its reader jumps to and fro.
    pub(crate) fn is_disordered(&self) -> bool {
        self.behind >= BEHIND_MIN
    }

    /// The extent behind a reader that goes up in order, which does not need it any more.
    pub(crate) fn passes(&self, extent: Extent) -> Option<Extent> {
        let goes_up = self.shape == Shape::FORWARD && !self.is_disordered() && extent.end() > self.frontier;
        goes_up.then(|| Extent::between(self.frontier, extent.end()))
    }

    /// The object's read number `reads` is its own, at position `at`: where a run begins if it was over.
    pub(crate) fn resume(&mut self, reads: u64, at: u64) {
        if self.index > 0 {
            self.gap = (reads - self.index).max(self.gap - self.gap / 8);
        }
        self.index = reads;
        self.is_told = false;
        if core::mem::take(&mut self.is_over) {
            self.run_start = at;
        }
    }

    /// The bytes that its reader left out in its disorder, once it came behind the frontier more than once.
    pub(crate) fn left_out(&mut self, access: &Access, at: Extent) -> Option<Extent> {
        if self.shape != Shape::FORWARD {
            return None;
        }
        let is_behind = access.missing && at.end() < self.frontier;
        self.behind = self.behind.saturating_add(u8::from(is_behind));
        let left = match is_behind {
            true => Extent::between(at.end(), self.frontier),
            false => Extent::between(self.planned.min(at.offset), at.offset),
        };
        (self.is_disordered() && !left.is_empty()).then_some(left)
    }

    /// Its reader asks for `at`. Returns the planned extent that it skips.
    pub(crate) fn advance(&mut self, access: &Access, at: Extent) -> Extent {
        let skipped = Extent::between(self.frontier, at.offset.clamp(self.frontier, self.planned));
        self.is_doubted &= at.offset != self.frontier || self.count <= 1;
        let passed = at.end().saturating_sub(self.frontier);
        let Lately { read, passed, count } = Lately {
            read: self.lately.read + at.len,
            passed: self.lately.passed + passed,
            count: self.lately.count + 1,
        };
        self.lately = if passed > LATELY_BYTES {
            Lately { read: read / 2, passed: passed / 2, count: count.div_ceil(2) }
        } else {
            Lately { read, passed, count }
        };
        self.count += 1;
        self.last_read = access.time;
        self.read_bytes += at.len;
        self.in_row += at.len;
        self.read_len = access.extent.len.max(self.read_len - self.read_len / 8);
        self.sizing.record_wait(access.late && at.offset < self.planned);
        self.start = self.start.min(at.offset);
        self.frontier = self.frontier.max(at.end());
        self.planned = self.planned.max(self.frontier);
        if self.frontier > self.failed.saturating_add(GRAIN) {
            self.failed = u64::MAX;
        }
        skipped
    }

    /// Bytes at `positions` that were fetched and that nobody has read.
    pub(crate) fn unread(&self, positions: Extent, object: ObjectId, cache: &Cache) -> u64 {
        let mut bytes = 0;
        if !positions.is_empty() {
            let mut add = |extent| bytes += cache.unread_bytes(object, extent);
            self.shape.extents(positions, positions.len, &mut add);
        }
        bytes
    }

    /// Planned bytes of `extent` were evicted: they, and the bytes after them, are planned again.
    pub(crate) fn on_lost(&mut self, extent: Extent) {
        if let Some(at) = self.lost_at(extent) {
            self.planned = at;
            self.sizing.quiet_until = 0;
        }
    }

    /// The same of bytes that could not be fetched.
    pub(crate) fn on_failed(&mut self, extent: Extent) {
        if let Some(at) = self.lost_at(extent) {
            self.failed = self.failed.min(at);
        }
        self.on_lost(extent);
    }

    fn lost_at(&self, extent: Extent) -> Option<u64> {
        let mut first = None;
        // In a strided stream, lost bytes may begin between two elements.
        let ahead = self.ahead();
        let step = if self.shape.is_dense() { extent.len.max(1) } else { BLOCK_BYTES };
        let mut at = extent.offset;
        while first.is_none() && at < extent.end() {
            let part = Extent::new(at, step.min(extent.end() - at));
            let found = self.shape.positions(part).filter(|found| found.overlaps(&ahead));
            first = found.map(|found| found.offset.max(self.frontier));
            at += step;
        }
        first
    }
}
