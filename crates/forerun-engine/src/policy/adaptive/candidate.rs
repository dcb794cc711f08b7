//! Reads that may turn out to be a stream.

use crate::types::Extent;

/// Requests of disorder that still belong together while evidence is gathered:
/// eight threads that each take the next request stay within it.
const DISORDER_REQUESTS: u64 = 8;

/// A few reads near one another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) start: u64,
    pub(super) end: u64,
    bytes: u64,
    count: u32,
    in_order: bool,
    /// Bytes that were read ahead on the strength of its first read alone.
    pub(super) guessed: u64,
}

impl Candidate {
    pub(super) fn new(extent: Extent) -> Candidate {
        let (start, end, bytes) = (extent.offset, extent.end(), extent.len);
        Candidate { start, end, bytes, count: 1, in_order: true, guessed: 0 }
    }

    /// Whether a read of `extent` could belong to it.
    pub(super) fn is_near(&self, extent: Extent) -> bool {
        let slack = DISORDER_REQUESTS * extent.len;
        extent.offset.saturating_add(slack) >= self.start && extent.offset <= self.end.saturating_add(slack)
    }

    pub(super) fn add(&mut self, extent: Extent) {
        self.in_order &= extent.offset == self.end;
        self.start = self.start.min(extent.offset);
        self.end = self.end.max(extent.end());
        self.bytes += extent.len;
        self.count += 1;
    }

    /// Two reads in order are a stream; in disorder, three that fill at least
    /// half of what they span. Reads at random almost never do either.
    pub(super) fn is_stream(&self) -> bool {
        self.count >= 2 && self.in_order || self.count >= 3 && 2 * self.bytes >= self.end - self.start
    }

    /// Nothing is known but one read.
    pub(super) fn is_new(&self) -> bool {
        self.count == 1
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}
