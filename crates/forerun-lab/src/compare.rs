//! The policies of one table beside one another.

use crate::outcome::Outcome;
use crate::stats::{Sample, holm, paired_p};

/// How one policy stands among those of its table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Its time, in seconds.
    pub time: Sample,
    /// How many times as fast as `none`, if that is in the table.
    pub speedup: Option<f64>,
    /// Whether the difference from `none` is more than luck.
    pub differs_from_none: bool,
    /// Whether it is the fastest, by its mean.
    pub is_fastest: bool,
    /// Whether the difference from the fastest is more than luck.
    pub differs_from_fastest: bool,
}

/// How each of `outcomes` stands, which are of the same workload, device and budget.
///
/// Differences are tested in pairs of the same seed, and corrected for the number of
/// tests in the table. One run each tells no difference.
pub fn standings(outcomes: &[Outcome]) -> Vec<Standing> {
    let times: Vec<Vec<f64>> = outcomes.iter().map(seconds).collect();
    let samples: Vec<Sample> = times.iter().map(|times| Sample::of(times)).collect();
    let none = outcomes.iter().position(|outcome| outcome.policy == "none");
    let fastest = (0..outcomes.len()).min_by(|a, b| samples[*a].mean.total_cmp(&samples[*b].mean));

    // Pairs to test: with none and with the fastest, each pair once.
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for with in [none, fastest].into_iter().flatten() {
        for at in (0..outcomes.len()).filter(|at| *at != with) {
            let pair = (at.min(with), at.max(with));
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
    }
    let p: Vec<f64> = pairs.iter().map(|(a, b)| paired_p(&times[*a], &times[*b]).unwrap_or(1.0)).collect();
    let told = holm(&p);
    let differ = |at: usize, with: Option<usize>| {
        let pair = with.map(|with| (at.min(with), at.max(with)));
        pairs.iter().zip(&told).any(|(tested, told)| Some(*tested) == pair && *told)
    };
    let standing = |at: usize| Standing {
        time: samples[at],
        speedup: none.map(|none| samples[none].mean / samples[at].mean),
        differs_from_none: differ(at, none),
        is_fastest: fastest == Some(at),
        differs_from_fastest: differ(at, fastest),
    };
    (0..outcomes.len()).map(standing).collect()
}

/// The times of an outcome's runs. A run takes a nanosecond at least, so that times have
/// logarithms.
pub(crate) fn seconds(outcome: &Outcome) -> Vec<f64> {
    outcome.runs.iter().map(|run| run.elapsed_ns.max(1) as f64 / 1e9).collect()
}

/// Outcomes cut where workload, device or budget change.
pub fn groups(outcomes: &[Outcome]) -> impl Iterator<Item = &[Outcome]> {
    outcomes
        .chunk_by(|a, b| (&a.workload, &a.device, a.memory_bytes) == (&b.workload, &b.device, b.memory_bytes))
}
