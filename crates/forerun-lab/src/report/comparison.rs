//! Which outcomes belong beside one another, and how they are called.

use crate::compare::{Standing, groups, standings};
use crate::outcome::Outcome;

use super::number;

/// One workload on one device with one budget, under several policies.
#[derive(Clone, Debug)]
pub(super) struct Comparison<'a> {
    /// The workload, and of device and budget what is not the same everywhere.
    pub(super) name: String,
    /// By policy.
    pub(super) outcomes: &'a [Outcome],
    /// How each of them stands.
    pub(super) standings: Vec<Standing>,
}

impl Comparison<'_> {
    /// How long the fastest policy took, in seconds.
    pub(super) fn fastest(&self) -> f64 {
        self.standings.iter().map(|standing| standing.time.mean).fold(f64::INFINITY, f64::min)
    }
}

/// The cases, in the order of `outcomes`.
pub(super) fn cases(outcomes: &[Outcome]) -> Vec<Comparison<'_>> {
    let differs =
        |key: &dyn Fn(&Outcome) -> String| outcomes.iter().any(|outcome| key(outcome) != key(&outcomes[0]));
    let many_devices = differs(&|outcome| outcome.device.clone());
    let many_budgets = differs(&|outcome| memory(outcome));
    let case = |group: &'_ [Outcome]| {
        let mut name = group[0].workload.clone();
        if many_devices {
            name.push_str(&format!(" on {}", group[0].device));
        }
        if many_budgets {
            name.push_str(&format!(" with {}", memory(&group[0])));
        }
        name
    };
    groups(outcomes)
        .map(|group| Comparison { name: case(group), outcomes: group, standings: standings(group) })
        .collect()
}

/// An outcome's budget, to read.
pub(super) fn memory(outcome: &Outcome) -> String {
    number::size(outcome.memory_bytes as f64)
}

/// The values of `of` for all outcomes, each once, in order.
pub(super) fn distinct(outcomes: &[Outcome], of: impl Fn(&Outcome) -> String) -> Vec<String> {
    let mut found = Vec::new();
    for name in outcomes.iter().map(of) {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// The policies, each once, in order.
pub(super) fn policies(outcomes: &[Outcome]) -> Vec<String> {
    distinct(outcomes, |outcome| outcome.policy.clone())
}
