//! Advice: a reader says how it will read.

use crate::types::Extent;

/// A reader says how it will read.
///
/// Advice never changes the bytes of a read, and never takes more memory than the budget. Wrong advice costs
/// time, or bytes up to a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice<'a> {
    /// Nothing special: takes back what was said before.
    Normal,
    /// It reads on from wherever it reads: readahead begins with its first read.
    Sequential,
    /// Where it reads next cannot be told: nothing is read ahead for it.
    Random,
    /// It will read these, in this order. They are fetched so, each byte once, with a
    /// bounded lead ahead of what is read of them, and nothing between them. Past
    /// [`Config::PLAN_EXTENTS_MAX`](crate::Config::PLAN_EXTENTS_MAX) the rest is
    /// left out.
    WillNeed(&'a [Extent]),
    /// Nobody needs these bytes soon: what is decided of them is not fetched, and
    /// whole blocks of them that nobody is copying leave the memory.
    DontNeed(Extent),
}
