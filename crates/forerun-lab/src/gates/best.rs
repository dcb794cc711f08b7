//! How near a time is to that of somebody who knows the future, with the same luck.

use forerun_sim::bound::Bounds;

use super::kind::Kind;
use crate::compare::seconds;
use crate::error::Error;
use crate::outcome::Outcome;
use crate::replay::{Cell, Settings};
use crate::stats::Ratio;

/// Seeds of a device with luck, each with a bound of its own: that of another one's luck says little.
const SEEDS_MAX: u64 = 5;

/// The bounds of a cell's first seeds, in their order; at least one.
#[derive(Debug)]
pub(super) struct Best(Vec<Bounds>);

impl Best {
    /// Of `cell`. Where no gate asks for the share of the bound, one seed has to do.
    pub(super) fn of(cell: &Cell<'_>, kind: Kind) -> Result<Best, Error> {
        let settings = cell.settings;
        let with_luck = cell.device.has_luck() && kind != Kind::Other;
        let seeds = if with_luck { settings.repeat.min(SEEDS_MAX) } else { 1 };
        let bounds = (settings.seed..settings.seed + seeds)
            .map(|seed| Cell { settings: Settings { seed, ..settings }, ..*cell }.bounds());
        bounds.collect::<Result<_, _>>().map(Best)
    }

    /// That of the first seed.
    pub(super) fn first(&self) -> Bounds {
        self.0[0]
    }

    /// How many seeds there are.
    pub(super) fn seed_count(&self) -> usize {
        self.0.len()
    }

    /// The best possible times as a share of those of `outcome`: the geometric mean. 1 if both are nothing.
    pub(super) fn share(&self, outcome: &Outcome) -> f64 {
        let best: Vec<f64> = self.0.iter().map(|bounds| bounds.clairvoyant_ns.max(1) as f64 / 1e9).collect();
        Ratio::of(&best, &seconds(outcome)).mean
    }
}
