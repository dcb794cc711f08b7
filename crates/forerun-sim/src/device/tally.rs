//! Counters that every model keeps in the same way.

use super::{DeviceStats, Direction, Time};

/// Nanoseconds that `bytes` take at `bytes_per_s`, rounded up: no model is faster than its rate.
pub(crate) fn transfer_ns(bytes: u64, bytes_per_s: u64) -> u64 {
    match bytes.checked_mul(1_000_000_000) {
        Some(product) => product.div_ceil(bytes_per_s),
        None => (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bytes_per_s)) as u64,
    }
}

/// A device's sums and since when it is busy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    stats: DeviceStats,
    active_count: usize,
    busy_since: Time,
}

impl Tally {
    /// The hardware begins to serve a request.
    pub(crate) fn begin(&mut self, now: Time, direction: Direction, bytes: u64) {
        if self.active_count == 0 {
            self.busy_since = now;
        }
        self.active_count += 1;
        match direction {
            Direction::Read => {
                self.stats.read_count += 1;
                self.stats.read_bytes += bytes;
            }
            Direction::Write => {
                self.stats.write_count += 1;
                self.stats.write_bytes += bytes;
            }
        }
    }

    /// It has served one.
    pub(crate) fn end(&mut self, now: Time) {
        self.active_count -= 1;
        if self.active_count == 0 {
            self.stats.busy_ns += now.since(self.busy_since);
        }
    }

    /// `bytes` of a read that began did not have to be carried after all.
    pub(crate) fn spare(&mut self, direction: Direction, bytes: u64) {
        match direction {
            Direction::Read => self.stats.read_bytes -= bytes,
            Direction::Write => self.stats.write_bytes -= bytes,
        }
    }

    pub(crate) fn stats(&self) -> DeviceStats {
        self.stats
    }
}
