//! Outcomes of the standard workloads, a row for each workload.

use forerun_sim::run::Run;

use crate::compare::groups;
use crate::outcome::Outcome;
use crate::show::is_narrow;
use crate::table::{Column, Table};

/// How many bytes a second each workload got under each policy, and how many were fetched
/// for each that it asked for. Every workload of `outcomes` has the same policies in the
/// same order.
pub fn tables(outcomes: &[Outcome]) -> String {
    let rate = |outcome: &Outcome| number(outcome.runs.first().map_or(0.0, rate));
    let fetched = |outcome: &Outcome| format!("{:.2}", outcome.runs.first().map_or(0.0, fetched));
    format!(
        "Useful MB/s: bytes that programs requested, divided by the time until the last of them arrived.\n\
         best is the rate of a schedule that knows the future; a second number is an upper bound. MB are\n\
         10^6 bytes.\n\n{}\n\
         Fetched/asked: bytes that the device read for each byte that programs requested.\n\n{}",
        table(outcomes, Some(best), rate),
        table(outcomes, None, fetched)
    )
}

fn table(
    outcomes: &[Outcome],
    bound: Option<fn(&Outcome) -> String>,
    cell: impl Fn(&Outcome) -> String,
) -> Table {
    let rows: Vec<&[Outcome]> = groups(outcomes).collect();
    let policies = rows.first().copied().unwrap_or_default().iter().map(|outcome| outcome.policy.as_str());
    let names = policies.chain(bound.map(|_| "best"));
    let columns = std::iter::once(Column::word("workload")).chain(names.map(Column::number));
    let mut table = Table::new(columns);
    for row in rows {
        let cells = row.iter().map(&cell).chain(bound.map(|bound| bound(&row[0])));
        table.row(std::iter::once(row[0].workload.clone()).chain(cells));
    }
    table
}

/// Bytes that programs read per microsecond, which is megabytes a second.
fn rate(run: &Run) -> f64 {
    per_microsecond(run.read_bytes, run.elapsed_ns)
}

fn fetched(run: &Run) -> f64 {
    run.device.read_bytes as f64 / run.read_bytes.max(1) as f64
}

fn best(outcome: &Outcome) -> String {
    let bytes = outcome.runs.first().map_or(0, |run| run.read_bytes);
    let bounds = outcome.bounds;
    let reached = number(per_microsecond(bytes, bounds.clairvoyant_ns));
    if is_narrow(bounds) {
        return reached;
    }
    format!("{reached}–{}", number(per_microsecond(bytes, bounds.lower_ns)))
}

fn per_microsecond(bytes: u64, ns: u64) -> f64 {
    bytes as f64 * 1e3 / ns.max(1) as f64
}

/// With three digits that count, or more before the point.
fn number(value: f64) -> String {
    match value {
        ..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use forerun_sim::bound::Bounds;
    use forerun_sim::device::DeviceStats;

    use super::*;

    fn outcome(workload: &str, policy: &str, elapsed_ms: u64, lower_ms: u64) -> Outcome {
        let device = DeviceStats { read_bytes: 1_500_000, ..DeviceStats::default() };
        let run = Run { elapsed_ns: elapsed_ms * 1_000_000, read_bytes: 1_000_000, device, ..Run::default() };
        Outcome {
            workload: workload.into(),
            policy: policy.into(),
            device: "d".into(),
            memory_bytes: 1 << 20,
            runs: vec![run],
            bounds: Bounds { lower_ns: lower_ms * 1_000_000, clairvoyant_ns: 10_000_000, batch_blocks: 1 },
        }
    }

    #[test]
    fn a_row_for_each_workload() {
        let outcomes = [
            outcome("one", "none", 1000, 5),
            outcome("one", "ara", 20, 5),
            outcome("two", "none", 100, 10),
            outcome("two", "ara", 10, 10),
        ];
        let text = tables(&outcomes);
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = text.lines().map(words).collect();
        assert_eq!(lines[4..7], ["workload none ara best", "one 1.00 50.0 100–200", "two 10.0 100 100"]);
        assert_eq!(lines[10..], ["workload none ara", "one 1.50 1.50", "two 1.50 1.50"]);
    }
}
