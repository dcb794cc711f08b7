//! How long readahead of an object waits for its reader, and when it has waited too long. It measures two
//! things: bytes read of the object since the readahead was due, and the pauses between two reads.

use crate::types::{Extent, Time};

/// Bytes that may be read of an object past readahead before anything is known
/// of how it is read.
const WAIT_BYTES_MIN: u64 = 1 << 20;
/// Readahead waits for this many times as long as other readahead of the object waited, since windows grow
/// by that factor.
const WAITS: u64 = 4;
/// A reader has gone after this many of its longest recent pauses,
const PAUSES: u64 = 16;
/// and never before so long: others at the device make it wait as well.
const PAUSE_NS_MIN: u64 = 100_000_000;
/// A reader of unknown pace has gone after that.
const UNKNOWN_NS: u64 = 10_000_000_000;

/// The pace of one object's readers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    /// Bytes read until now.
    read_bytes: u64,
    read_count: u64,
    last_read: Time,
    /// Where the last read ended.
    last_end: u64,
    /// The longest recent pause between two reads.
    pause_ns: u64,
    /// The most bytes that were read between the time at which readahead was due and its read, recently.
    wait_bytes: u64,
}

impl Pace {
    /// Somebody reads `extent`.
    pub(crate) fn record_read(&mut self, now: Time, extent: Extent) {
        if self.read_count > 0 {
            self.pause_ns = now.since(self.last_read).max(self.pause_ns - self.pause_ns / 64);
        }
        self.read_count += 1;
        self.read_bytes += extent.len;
        self.last_end = extent.end();
        self.last_read = now;
    }

    /// A reader will come that has not read yet.
    pub(crate) fn expect(&mut self, now: Time) {
        self.last_read = self.last_read.max(now);
    }

    /// The first of a row of readahead that was due at `due` is being read.
    pub(crate) fn came_in_use(&mut self, due: u64) {
        let waited = self.read_bytes.saturating_sub(due);
        self.wait_bytes = waited.max(self.wait_bytes - self.wait_bytes / 8);
    }

    /// When the bytes at `offset` will be read, counted in bytes read of the object, if the last reader goes
    /// on to there. No reader goes on by more than `reach`.
    pub(crate) fn due(&self, offset: u64, reach: u64) -> u64 {
        self.read_bytes + offset.saturating_sub(self.last_end).min(reach)
    }

    /// Whether no reader will come for readahead that was due at `due`: its reader has passed it, turned
    /// away or left.
    pub(crate) fn is_over(&self, now: Time, due: u64) -> bool {
        let pause = if self.read_count < 4 { UNKNOWN_NS } else { (PAUSES * self.pause_ns).max(PAUSE_NS_MIN) };
        self.is_past(due, WAIT_BYTES_MIN) || now.since(self.last_read) > pause
    }

    /// Whether its reader has passed it, by `bytes_min` at least, or turned away.
    pub(crate) fn is_past(&self, due: u64, bytes_min: u64) -> bool {
        self.read_bytes.saturating_sub(due) > (WAITS * self.wait_bytes).max(bytes_min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readahead_is_over_when_its_reader_has_passed_or_gone() {
        let mut pace = Pace::default();
        for index in 0..64 {
            pace.record_read(Time(index * 1_000_000), Extent::new(index << 16, 1 << 16));
        }
        let now = Time(64_000_000);
        let due = pace.due(4 << 20, 4 << 20);
        assert!(!pace.is_over(now, due), "it has just come");
        assert!(pace.is_over(now, 0), "four mebibytes were read since");
        assert!(pace.is_over(Time(1_000_000_000), due), "nobody reads any more");
        assert!(pace.is_past(0, 3 << 20) && !pace.is_past(0, 4 << 20), "by less than that");
        pace.came_in_use(0);
        assert!(!pace.is_over(now, 0), "some was read after so long");
    }

    #[test]
    fn slow_readers_are_waited_for() {
        let mut pace = Pace::default();
        for second in 0..10 {
            pace.record_read(Time(second * 4_000_000_000), Extent::new(second * 4096, 4096));
        }
        let due = pace.due(1 << 20, 1 << 20);
        assert!(!pace.is_over(Time(90_000_000_000), due));
        assert!(pace.is_over(Time(200_000_000_000), due));
    }
}
