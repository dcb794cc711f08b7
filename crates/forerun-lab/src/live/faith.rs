//! How near to their plan reads were made.

use forerun_sim::run::Waits;

/// From here on a read was late.
const LATE_NS: u64 = 1_000_000;

/// How late reads were made. In an open loop, that is after their recorded time. In a closed one,
/// it is after the end of the access before and the think time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faith {
    /// The distribution.
    pub lateness: Waits,
    /// The latest, in nanoseconds.
    pub lateness_ns_max: u64,
    /// Reads made more than 1 ms late.
    pub late_count: u64,
    /// Writes of the trace that were not made.
    pub write_count: u64,
}

impl Faith {
    pub(super) fn add(&mut self, late_ns: u64) {
        self.lateness.add(late_ns);
        self.lateness_ns_max = self.lateness_ns_max.max(late_ns);
        self.late_count += u64::from(late_ns > LATE_NS);
    }

    /// The share of reads that were made more than 1 ms late.
    pub fn late_share(&self) -> f64 {
        self.late_count as f64 / self.lateness.count().max(1) as f64
    }
}
