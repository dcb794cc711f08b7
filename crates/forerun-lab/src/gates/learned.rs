//! `adaptive` once more with what a run before it teaches, beside who knows the future.

use forerun_sim::bound::Bounds;

use super::cell::outcome;
use crate::compare::seconds;
use crate::error::Error;
use crate::outcome::Outcome;
use crate::replay::{Cell, LEARNED, Settings};
use crate::stats::Ratio;

/// Seeds of a device with luck, each with a bound of its own: that of another one's luck says little.
const SEEDS_MAX: u64 = 5;

/// See the module's page.
#[derive(Debug)]
pub(super) struct Learned {
    /// The runs; the bound is that of the first.
    pub(super) outcome: Outcome,
    /// The best possible times as a share of theirs, the geometric mean.
    pub(super) share: f64,
}

/// Runs `cell` with what it teaches itself. `bounds` are those of its first seed.
pub(super) fn run(cell: &Cell<'_>, bounds: Bounds) -> Result<Learned, Error> {
    let settings = cell.settings;
    let seeds = if cell.device.has_luck() { settings.repeat.min(SEEDS_MAX) } else { 1 };
    let (mut runs, mut best) = (Vec::new(), vec![bounds]);
    for seed in settings.seed..settings.seed + seeds {
        runs.push(cell.run_learned(seed)?);
        if seed > settings.seed {
            best.push(Cell { settings: Settings { seed, ..settings }, ..*cell }.bounds()?);
        }
    }
    let outcome = outcome(cell, LEARNED, runs, bounds);
    let best: Vec<f64> = best.iter().map(|bounds| bounds.clairvoyant_ns.max(1) as f64 / 1e9).collect();
    let share = Ratio::of(&best, &seconds(&outcome)).mean;
    Ok(Learned { outcome, share })
}
