//! One workload on one device with one budget: first with as many seeds as were asked for,
//! then with more where these do not decide.

use forerun_engine::Config;
use forerun_sim::bound::Bounds;
use forerun_sim::run::Run;

use super::best::Best;
use super::contender::{CONTENDERS, Contender};
use super::kind::Kind;
use super::row::{HARM_MARGIN, PEER_MARGIN, Row};
use crate::error::Error;
use crate::outcome::Outcome;
use crate::replay::Cell;
use crate::stats::Verdict;

/// An outcome for each contender, in their order. A device without luck has one run each.
/// `best` are its bounds.
pub(super) fn run(cell: &Cell<'_>, best: &Best, seeds_max: u64) -> Result<Vec<Outcome>, Error> {
    let seeds = if cell.device.has_luck() { cell.settings.repeat } else { 1 };
    let mut outcomes = Vec::new();
    for contender in &CONTENDERS {
        let runs = (0..seeds).map(|more| serve(cell, contender, more)).collect::<Result<_, _>>()?;
        outcomes.push(outcome(cell, contender.name, runs, best.first()));
    }
    let row = Row::of(&outcomes, best, None, Kind::Other, &[]);
    let doubtful = [(row.harm.verdict(HARM_MARGIN), 1), (row.peer.verdict(PEER_MARGIN), row.peer_at)];
    for at in doubtful.into_iter().filter(|(verdict, _)| *verdict == Verdict::Undecided).map(|(_, at)| at) {
        for at in [0, at] {
            for more in outcomes[at].runs.len() as u64..seeds_max {
                let run = serve(cell, &CONTENDERS[at], more)?;
                outcomes[at].runs.push(run);
            }
        }
    }
    Ok(outcomes)
}

/// `policy`'s.
pub(super) fn outcome(cell: &Cell<'_>, policy: &str, runs: Vec<Run>, bounds: Bounds) -> Outcome {
    Outcome {
        workload: cell.workload.name().to_owned(),
        policy: policy.to_owned(),
        device: cell.device.name().to_owned(),
        memory_bytes: cell.memory_bytes,
        runs,
        bounds,
    }
}

/// `contender`'s run with the seed that is `more` above the first.
fn serve(cell: &Cell<'_>, contender: &Contender, more: u64) -> Result<Run, Error> {
    let config = cell.config(contender.policy);
    let window_bytes_max = contender.window_bytes_max.unwrap_or(config.window_bytes_max);
    cell.run(contender.policy, Config { window_bytes_max, ..config }, cell.settings.seed + more, |world| {
        world
    })
}
