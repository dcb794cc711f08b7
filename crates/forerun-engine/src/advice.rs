//! Advice: a reader says how it will read.

use crate::types::Extent;

/// A reader says how it will read.
///
/// Advice never changes the bytes of a read, and never takes more memory than the budget. Wrong advice costs
/// time, or bytes up to a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice<'a> {
    /// No advice: takes earlier advice back.
    Normal,
    /// It reads on from wherever it reads: readahead begins with its first read.
    Sequential,
    /// The reader reads without order: nothing is read ahead for it.
    Random,
    /// The reader will read these extents, in this order. They are fetched in that order, each byte once,
    /// with a bounded lead ahead of the reader, and no bytes between them. Extents past
    /// [`Config::PLAN_EXTENTS_MAX`](crate::Config::PLAN_EXTENTS_MAX) are left out.
    WillNeed(&'a [Extent]),
    /// No reader needs these bytes soon. Queued readahead of them is dropped, and whole blocks leave the
    /// memory, unless they are being copied.
    DontNeed(Extent),
}
