//! Cells side by side.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use super::{Place, Score};
use crate::stats::Ratio;
use crate::table::{Column, Table};

/// A difference that counts, as a share.
pub(super) const DIFFERENCE: f64 = 0.03;
/// How much slower than `none` counts as slower.
const HARM: f64 = 0.01;
/// The number of rows that are named each way, those that changed most.
const NAMED: usize = 10;

/// One place under the policy in question, beside `none` and beside what it is compared with.
struct Contrast<'a> {
    this: &'a Score,
    none: &'a Score,
    other: Option<&'a Score>,
}

impl Contrast<'_> {
    fn to_none(&self) -> f64 {
        self.this.elapsed_ns as f64 / self.none.elapsed_ns as f64
    }

    fn to_other(&self) -> Option<f64> {
        self.other.map(|other| self.this.elapsed_ns as f64 / other.elapsed_ns as f64)
    }
}

/// A line for each device: `policy` of `cells` beside `none` of the same cells. Place by place, it
/// also stands beside `other` (a policy's name, its cells, and their title).
pub fn table(cells: &[Score], policy: &str, other: Option<(&str, &[Score], &str)>) -> String {
    let by_place = |cells: &'_ [Score], policy: &str| -> HashMap<Place, usize> {
        let of_policy = cells.iter().enumerate().filter(|(_, cell)| cell.policy == policy);
        of_policy.map(|(at, cell)| (cell.place.clone(), at)).collect()
    };
    let none = by_place(cells, "none");
    let others = other.map(|(name, cells, _)| (by_place(cells, name), cells));
    let pairs: Vec<Contrast<'_>> = cells
        .iter()
        .filter(|cell| cell.policy == policy)
        .filter_map(|this| {
            let none = &cells[*none.get(&this.place)?];
            let other = others.as_ref().and_then(|(by, cells)| Some(&cells[*by.get(&this.place)?]));
            Some(Contrast { this, none, other })
        })
        .collect();
    let mut text = lines(&pairs).to_string();
    if let Some((_, _, title)) = other {
        let missing = pairs.iter().filter(|pair| pair.other.is_none()).count();
        write!(text, "\nThe second group compares {policy} with {title}").expect("a string takes all text");
        match missing {
            0 => text += ".\n",
            _ => writeln!(text, "; {missing} of {} rows have no counterpart there.", pairs.len())
                .expect("a string takes all text"),
        }
        text += &changed(&pairs);
    }
    text
}

/// A line for each device and kind of workload, and one for all.
fn lines(pairs: &[Contrast<'_>]) -> Table {
    let number = |name: &str, group: &str| Column::number(name).below(group);
    let mut columns = vec![
        Column::word("device"),
        Column::word("workloads"),
        number("rows", ""),
        number("mean", "to none"),
        number("worst", "to none"),
        number("slower", "to none"),
        number("over 1.2", "to none"),
        number("unread MB", ""),
        number("/fetched", ""),
    ];
    if pairs.iter().any(|pair| pair.other.is_some()) {
        columns.extend(
            ["mean", "worst", "worse", "better", "unread MB"].map(|name| number(name, "to the other")),
        );
    }
    let mut table = Table::new(columns);
    let mut groups: BTreeMap<(bool, &str), Vec<&Contrast<'_>>> = BTreeMap::new();
    for pair in pairs {
        groups.entry((pair.this.place.is_mixed, &pair.this.place.device)).or_default().push(pair);
    }
    let mut line = |device: &str, kind: &str, pairs: &[&Contrast<'_>]| {
        table.row([short(device), kind.to_owned()].into_iter().chain(figures(pairs)));
    };
    for is_mixed in [false, true] {
        let kind = if is_mixed { "mixed" } else { "gates" };
        let of_kind: Vec<_> = groups.iter().filter(|((mixed, _), _)| *mixed == is_mixed).collect();
        of_kind.iter().for_each(|((_, device), pairs)| line(device, kind, pairs));
        let all: Vec<_> = of_kind.iter().flat_map(|(_, pairs)| pairs.iter().copied()).collect();
        line("all", kind, &all);
    }
    table
}

fn figures(pairs: &[&Contrast<'_>]) -> Vec<String> {
    let to_none: Vec<f64> = pairs.iter().map(|pair| pair.to_none()).collect();
    let to_other: Vec<f64> = pairs.iter().filter_map(|pair| pair.to_other()).collect();
    let mean = |ratios: &[f64]| Ratio::of(ratios, &vec![1.0; ratios.len()]).mean;
    let worst = |ratios: &[f64]| ratios.iter().copied().fold(0.0, f64::max);
    let count = |ratios: &[f64], is: &dyn Fn(f64) -> bool| ratios.iter().filter(|ratio| is(**ratio)).count();
    let wasted: u64 = pairs.iter().map(|pair| pair.this.wasted_bytes).sum();
    let fetched: u64 = pairs.iter().map(|pair| pair.this.fetched_bytes).sum();
    let mut cells = vec![
        pairs.len().to_string(),
        format!("{:.4}", mean(&to_none)),
        format!("{:.2}", worst(&to_none)),
        count(&to_none, &|ratio| ratio > 1.0 + HARM).to_string(),
        count(&to_none, &|ratio| ratio > 1.2).to_string(),
        format!("{:.0}", wasted as f64 / 1e6),
        format!("{:.3}", wasted as f64 / fetched.max(1) as f64),
    ];
    if !to_other.is_empty() {
        let others: u64 = pairs.iter().filter_map(|pair| pair.other).map(|other| other.wasted_bytes).sum();
        cells.extend([
            format!("{:.4}", mean(&to_other)),
            format!("{:.2}", worst(&to_other)),
            count(&to_other, &|ratio| ratio > 1.0 + DIFFERENCE).to_string(),
            count(&to_other, &|ratio| ratio < 1.0 - DIFFERENCE).to_string(),
            format!("{:.0}", others as f64 / 1e6),
        ]);
    }
    cells
}

/// The name of a device without the rates of a link.
pub(super) fn short(device: &str) -> String {
    device.split(',').next().unwrap_or(device).to_owned()
}

/// The rows that changed most, the worst first.
fn changed(pairs: &[Contrast<'_>]) -> String {
    let mut ratios: Vec<(f64, &Place)> =
        pairs.iter().filter_map(|pair| Some((pair.to_other()?, &pair.this.place))).collect();
    ratios.sort_by(|(a, place), (b, other)| b.total_cmp(a).then(place.cmp(other)));
    let worse = ratios.iter().take(NAMED).filter(|(ratio, _)| *ratio > 1.0 + DIFFERENCE);
    let better = ratios.iter().rev().take(NAMED).filter(|(ratio, _)| *ratio < 1.0 - DIFFERENCE);
    let mut table = Table::new([
        Column::number("times"),
        Column::word("device"),
        Column::number("MiB"),
        Column::word("workload"),
    ]);
    let named: Vec<_> = worse.chain(better.collect::<Vec<_>>().into_iter().rev()).collect();
    if named.is_empty() {
        return String::new();
    }
    for (ratio, place) in named {
        table.row([
            format!("{ratio:.3}"),
            short(&place.device),
            (place.memory_bytes >> 20).to_string(),
            place.workload.clone(),
        ]);
    }
    format!("\nThe rows that changed most:\n{table}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(policy: &str, workload: &str, elapsed_ns: u64) -> Score {
        Score {
            place: Place {
                device: "demo".to_owned(),
                is_mixed: false,
                workload: workload.to_owned(),
                memory_bytes: 16 << 20,
            },
            policy: policy.to_owned(),
            elapsed_ns,
            wasted_bytes: 1_000_000,
            fetched_bytes: 4_000_000,
        }
    }

    #[test]
    fn a_policy_beside_none_and_beside_an_earlier_build() {
        let cells = [
            cell("none", "a", 100),
            cell("adaptive", "a", 50),
            cell("none", "b", 100),
            cell("adaptive", "b", 200),
            cell("none", "c", 100),
            cell("adaptive", "c", 100),
        ];
        let alone = table(&cells, "adaptive", None);
        let all: Vec<&str> =
            alone.lines().find(|line| line.starts_with("all")).unwrap().split_whitespace().collect();
        assert_eq!(all, ["all", "gates", "3", "1.0000", "2.00", "1", "1", "3", "0.250"], "{alone}");

        let before = [cell("adaptive", "a", 25), cell("adaptive", "b", 400)];
        let both = table(&cells, "adaptive", Some(("adaptive", &before, "before.csv")));
        assert!(both.contains("before.csv; 1 of 3 rows have no counterpart there"), "{both}");
        // The second group of columns goes on below the first.
        let below = both.lines().filter(|line| line.starts_with("all")).nth(2).expect("a second block");
        let all: Vec<&str> = below.split_whitespace().collect();
        assert_eq!(all, ["all", "gates", "1.0000", "2.00", "1", "1", "2"], "{both}");
        let named = both.split("changed most").nth(1).unwrap();
        let (worse, better) = (named.find("2.000").unwrap(), named.find("0.500").unwrap());
        assert!(worse < better, "{both}");
    }
}
