//! The device's counters, as text.

use std::fmt;

use forerun_sim::device::{DeviceStats, Direction};

/// Counters since the mount.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stats {
    /// Counters of the modelled hardware.
    pub(crate) device: DeviceStats,
    read: DirectionCounters,
    write: DirectionCounters,
    in_flight_max: usize,
    answer_count: u64,
    late_ns: u64,
    late_ns_max: u64,
}

/// The kernel's requests.
#[derive(Clone, Copy, Debug, Default)]
struct DirectionCounters {
    count: u64,
    bytes: u64,
    bytes_max: u64,
}

impl Stats {
    /// Counts a request of `len` bytes, when `in_flight` requests are unanswered.
    pub(super) fn submitted(&mut self, direction: Direction, len: u64, in_flight: usize) {
        let asked = match direction {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.write,
        };
        asked.count += 1;
        asked.bytes += len;
        asked.bytes_max = asked.bytes_max.max(len);
        self.in_flight_max = self.in_flight_max.max(in_flight);
    }

    /// Counts an answer that was `late_ns` nanoseconds late.
    pub(super) fn answered(&mut self, late_ns: u64) {
        self.answer_count += 1;
        self.late_ns += late_ns;
        self.late_ns_max = self.late_ns_max.max(late_ns);
    }

    /// The average lateness of an answer, in real nanoseconds.
    pub(crate) fn late_ns_mean(&self) -> u64 {
        self.late_ns.checked_div(self.answer_count).unwrap_or(0)
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = [
            ("read_count", self.device.read_count),
            ("read_bytes", self.device.read_bytes),
            ("write_count", self.device.write_count),
            ("write_bytes", self.device.write_bytes),
            ("busy_ns", self.device.busy_ns),
            ("asked_read_count", self.read.count),
            ("asked_read_bytes", self.read.bytes),
            ("asked_read_bytes_max", self.read.bytes_max),
            ("asked_write_count", self.write.count),
            ("asked_write_bytes", self.write.bytes),
            ("asked_write_bytes_max", self.write.bytes_max),
            ("in_flight_max", self.in_flight_max as u64),
            ("late_ns_mean", self.late_ns_mean()),
            ("late_ns_max", self.late_ns_max),
        ];
        rows.iter().try_for_each(|(name, value)| writeln!(f, "{name} {value}"))
    }
}
