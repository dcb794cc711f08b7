//! The cost of taking a rule away.
//!
//! Two judges look at each rule: the recordings and patterns of the gates, and the workloads that are made of
//! a number. The second ones are many, and nobody has chosen them.

use std::collections::HashMap;
use std::collections::HashSet;

use forerun_engine::ablation::switch_off;
use forerun_policies::PolicyKind;

pub use forerun_engine::ablation::Rule;

use super::means::{DIFFERENCE, short};
use super::{Place, Score, Survey};
use crate::error::Error;
use crate::stats::Ratio;
use crate::table::{Column, Table};

/// The threshold of harm: this many times as long as without readahead.
const HARM: f64 = 1.2;

/// The outcome of the rows of one judge without a rule, beside the same rows with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// Geometric mean of time without the rule to time with it.
    pub mean: f64,
    /// Rows that take over 3 % longer without it.
    pub worse: usize,
    /// Rows that take over 3 % less.
    pub better: usize,
    /// Rows over 1.2 times `none` without it, less those with it.
    pub harmed: i64,
    /// Unread bytes without it, in those with it; 1 if neither has any.
    pub unread: f64,
    /// The row that suffers most, and how many times as long it takes, if one takes longer.
    pub worst: Option<(f64, Place)>,
}

/// A rule, and what both judges say.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The rule that was off.
    pub rule: Rule,
    /// On the workloads of the gates.
    pub gates: Change,
    /// On the workloads that are made of a number.
    pub mixed: Change,
}

/// Runs `plan` under `adaptive` with every rule, and once without each of `rules`, whatever policies it has. The
/// rules are those of the whole process: nothing else may run beside it. `progress` hears each rule that is done.
///
/// # Errors
/// A recording cannot be read any more, or a reader hangs.
pub fn effects(plan: &Survey, rules: &[Rule], mut progress: impl FnMut(Rule)) -> Result<Vec<Effect>, Error> {
    let under = |policy| Survey { policies: vec![policy], ..plan.clone() }.run(|_, _| {});
    // Rows of devices with luck move by it: a rule that changes one request changes the luck of all after it.
    let lucky: HashSet<&str> =
        plan.devices.iter().filter(|device| device.has_luck()).map(|device| device.name()).collect();
    switch_off(&[]);
    let (none, with) = (under(PolicyKind::None)?, under(PolicyKind::Adaptive)?);
    let mut found = Vec::new();
    for rule in rules {
        switch_off(&[*rule]);
        let without = under(PolicyKind::Adaptive);
        switch_off(&[]);
        let trio = Trio { none: &none, with: &with, without: &without? };
        let [gates, mixed] = [false, true].map(|is_mixed| trio.change(is_mixed, &lucky));
        found.push(Effect { rule: *rule, gates, mixed });
        progress(*rule);
    }
    Ok(found)
}

/// The cells of the same plan without readahead, with the rule and without it.
struct Trio<'a> {
    none: &'a [Score],
    with: &'a [Score],
    without: &'a [Score],
}

impl Trio<'_> {
    fn change(&self, is_mixed: bool, lucky: &HashSet<&str>) -> Change {
        let times = |cells: &[Score]| -> HashMap<Place, u64> {
            cells.iter().map(|cell| (cell.place.clone(), cell.elapsed_ns)).collect()
        };
        let (none, with) = (times(self.none), times(self.with));
        let mut change = Change::default();
        let mut ratios = Vec::new();
        for Score { place, elapsed_ns, .. } in
            self.without.iter().filter(|cell| cell.place.is_mixed == is_mixed)
        {
            let ratio = *elapsed_ns as f64 / with[place] as f64;
            let is_harmed = |time: u64| i64::from(time as f64 > HARM * none[place] as f64);
            change.harmed += is_harmed(*elapsed_ns) - is_harmed(with[place]);
            ratios.push(ratio);
            if lucky.contains(place.device.as_str()) {
                continue;
            }
            change.worse += usize::from(ratio > 1.0 + DIFFERENCE);
            change.better += usize::from(ratio < 1.0 - DIFFERENCE);
            if ratio > change.worst.as_ref().map_or(1.0, |(worst, _)| *worst) {
                change.worst = Some((ratio, place.clone()));
            }
        }
        change.mean = Ratio::of(&ratios, &vec![1.0; ratios.len()]).mean;
        let unread = |cells: &[Score]| -> u64 {
            cells.iter().filter(|cell| cell.place.is_mixed == is_mixed).map(|cell| cell.wasted_bytes).sum()
        };
        change.unread = (unread(self.without).max(1)) as f64 / unread(self.with).max(1) as f64;
        change
    }
}

/// A line for each of `effects`, in their order.
pub fn table(effects: &[Effect]) -> Table {
    let mut columns = vec![Column::word("without")];
    for judge in ["gates", "mixed"] {
        let names = ["mean", "worse", "better", "harmed", "unread"];
        columns.extend(names.map(|name| Column::number(name).below(judge)));
    }
    columns.extend([Column::number("worst"), Column::word("row")]);
    let mut table = Table::new(columns);
    for Effect { rule, gates, mixed } in effects {
        let mut cells = vec![rule.name().to_owned()];
        for Change { mean, worse, better, harmed, unread, .. } in [gates, mixed] {
            cells.extend([format!("{mean:.3}"), worse.to_string(), better.to_string()]);
            cells.extend([format!("{harmed:+}"), format!("{unread:.2}")]);
        }
        let worst = [gates, mixed].into_iter().filter_map(|change| change.worst.as_ref());
        if let Some((ratio, place)) = worst.max_by(|(a, _), (b, _)| a.total_cmp(b)) {
            cells.push(format!("{ratio:.2}"));
            let memory = place.memory_bytes >> 20;
            cells.push(format!("{}, {}, {memory} MiB", place.workload, short(&place.device)));
        }
        table.row(cells);
    }
    table
}
