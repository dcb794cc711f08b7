//! The goals of Forerun in each row.

use super::disk_reads::DiskReads;

/// A limit for Forerun's row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NbdGoal {
    /// The least speed, as a multiple of that of nbdkit without filters.
    Plain(f64),
    /// The least speed, as a multiple of the best of all others.
    Best(f64),
    /// The most bytes from the store, as a multiple of those without filters.
    Bytes(f64),
    /// The least share of the link.
    Link(f64),
}

/// As fast: medians of three runs on a shared machine differ by less.
const SAME_SPEED: f64 = 0.95;
/// The same of reads that take microseconds, which other programs disturb more.
const SAME_SPEED_IN_MEMORY: f64 = 0.9;
/// nbdkit waits 2 ms for each read. One that was read ahead takes 0.1 ms at most.
const READ_AHEAD: f64 = 20.0;
/// The limit for random reads of a mount (docs/bench.md).
const RANDOM_BYTES_MAX: f64 = 1.1;
/// The share that one sequential reader of a mount gets (docs/bench.md).
const LINK_SHARE: f64 = 0.9;

impl DiskReads {
    pub(super) fn goals(self) -> &'static [NbdGoal] {
        match self {
            DiskReads::Random => &[NbdGoal::Plain(SAME_SPEED), NbdGoal::Bytes(RANDOM_BYTES_MAX)],
            DiskReads::Deep => &[NbdGoal::Plain(SAME_SPEED)],
            DiskReads::Copy => &[NbdGoal::Best(1.0), NbdGoal::Link(LINK_SHARE)],
            DiskReads::Cached | DiskReads::CachedDeep => &[NbdGoal::Best(SAME_SPEED_IN_MEMORY)],
            _ => &[NbdGoal::Best(1.0), NbdGoal::Plain(READ_AHEAD)],
        }
    }
}

impl NbdGoal {
    pub(super) fn title(self) -> String {
        match self {
            NbdGoal::Plain(least) => format!("{least} × plain"),
            NbdGoal::Best(least) => format!("{least} × best"),
            NbdGoal::Bytes(most) => format!("{most} × bytes"),
            NbdGoal::Link(least) => format!("{least} of link"),
        }
    }
}
