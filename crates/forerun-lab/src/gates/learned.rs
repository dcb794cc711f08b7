//! `adaptive` once more with what a run before it teaches, beside who knows the future.

use super::best::Best;
use super::repeat::outcome;
use crate::error::Error;
use crate::outcome::Outcome;
use crate::replay::{Cell, LEARNED};

/// See the module's page.
#[derive(Debug)]
pub(super) struct Learned {
    /// The runs; the bound is that of the first.
    pub(super) outcome: Outcome,
    /// The best possible times as a share of theirs, the geometric mean.
    pub(super) share: f64,
}

/// Runs `cell` with what it teaches itself, once for each seed of `best`.
pub(super) fn run(cell: &Cell<'_>, best: &Best) -> Result<Learned, Error> {
    let first = cell.settings.seed;
    let runs = (first..).take(best.seed_count()).map(|seed| cell.run_learned(seed));
    let outcome = outcome(cell, LEARNED, runs.collect::<Result<_, _>>()?, best.first());
    let share = best.share(&outcome);
    Ok(Learned { outcome, share })
}
