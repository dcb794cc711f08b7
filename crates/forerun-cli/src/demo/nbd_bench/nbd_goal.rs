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

impl DiskReads {
    pub(super) fn goals(self) -> &'static [NbdGoal] {
        match self {
            DiskReads::Random => &[NbdGoal::Plain(0.95), NbdGoal::Bytes(1.1)],
            DiskReads::Deep => &[NbdGoal::Plain(0.95)],
            DiskReads::Copy => &[NbdGoal::Best(1.0), NbdGoal::Link(0.9)],
            DiskReads::Cached | DiskReads::CachedDeep => &[NbdGoal::Best(0.9)],
            _ => &[NbdGoal::Best(1.0), NbdGoal::Plain(20.0)],
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
