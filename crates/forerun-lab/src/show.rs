//! Outcomes as tables to read.

use std::fmt::Write;

use forerun_sim::bound::Bounds;
use forerun_sim::run::Run;

use crate::compare::{Standing, groups, standings};
use crate::outcome::Outcome;
use crate::stats::Sample;
use crate::table::{Column, Table};

/// A bracket of the best possible time this wide, as a share of its lower end, is one number.
const BRACKET_MAX: f64 = 0.1;

/// A table for each workload, device and budget, each below what `caption` says of its
/// first outcome. The outcomes of a table follow one another.
pub fn tables(outcomes: &[Outcome], caption: impl Fn(&Outcome) -> String) -> String {
    let mut text = String::new();
    for group in groups(outcomes) {
        let blank = if text.is_empty() { "" } else { "\n" };
        write!(text, "{blank}{}\n{}", caption(&group[0]), table(group)).expect("a string takes all text");
    }
    text
}

/// The meaning of the columns of [`tables`] mean, for outcomes of `repeat` runs each.
pub fn legend(repeat: usize) -> String {
    let luck = match repeat {
        1 => "Each row is one run: it has no margin, and no difference is marked.\n".to_owned(),
        _ => format!(
            "Time is the mean of n = {repeat} runs, ± its 99.7 % margin (Student's t). The margin has the device\n\
             model's randomness, and not its errors. * differs from none, and = does not differ from the\n\
             fastest (<), by paired t-tests on the logarithms with Holm's correction, 99.7 % in all.\n"
        ),
    };
    format!(
        "{luck}Of bound: the best possible time as a share of this one. It is the time of a schedule that knows\n\
         the future, or both ends of a bracket where no bound within 10 % is known. Reads are those of the\n\
         programs; readahead and demand are fetches from the device. Hit, late and miss are bytes in memory,\n\
         in flight, and neither when they were read. MB are 10^6 bytes.\n"
    )
}

/// The table of outcomes that differ in their policy only.
pub fn table(outcomes: &[Outcome]) -> Table {
    let number = |name: &str, group: &str| Column::number(name).below(group);
    let mut table = Table::new([
        Column::word("policy"),
        number("s", "time"),
        number("±", "time"),
        number("× none", ""),
        Column::word(""),
        number("%", "of bound"),
        number("ops", "readahead"),
        number("MB", "readahead"),
        number("ops", "demand"),
        number("MB", "demand"),
        number("ops", "reads"),
        number("MB", "reads"),
        number("hit", "% of bytes"),
        number("late", "% of bytes"),
        number("miss", "% of bytes"),
        number("MB", "wasted"),
        number("MB", "memory"),
    ]);
    let standings = standings(outcomes);
    let longest = standings.iter().map(|standing| standing.time.mean).fold(0.0, f64::max);
    let digits = match longest {
        ..0.1 => 6,
        0.1..100.0 => 3,
        _ => 1,
    };
    for (outcome, standing) in outcomes.iter().zip(&standings) {
        let mut row = vec![
            outcome.policy.clone(),
            format!("{:.digits$}", standing.time.mean),
            standing.time.margin().map_or_else(dash, |margin| format!("{margin:.digits$}")),
            standing.speedup.map_or_else(dash, |speedup| format!("{speedup:.2}")),
            marks(standing),
            share_of(outcome.bounds, standing.time.mean),
        ];
        row.extend(counts(outcome));
        table.row(row);
    }
    table
}

fn marks(standing: &Standing) -> String {
    let fastest = match (standing.is_fastest, standing.differs_from_fastest) {
        (true, _) => "<",
        (_, false) if standing.time.count > 1 => "=",
        _ => "",
    };
    format!("{}{fastest}", if standing.differs_from_none { "*" } else { "" })
}

/// The best possible time in percent of `seconds`.
fn share_of(bounds: Bounds, seconds: f64) -> String {
    if bounds.clairvoyant_ns == 0 {
        return dash();
    }
    let percent = |ns: u64| format!("{:.0}", 100.0 * ns as f64 / 1e9 / seconds);
    let (lower, upper) = (bounds.lower_ns, bounds.clairvoyant_ns);
    match is_narrow(bounds) {
        true => percent(upper),
        false => format!("{}–{}", percent(lower), percent(upper)),
    }
}

/// Whether the best possible time is as good as known.
pub(crate) fn is_narrow(bounds: Bounds) -> bool {
    bounds.clairvoyant_ns as f64 <= bounds.lower_ns as f64 * (1.0 + BRACKET_MAX)
}

fn counts(outcome: &Outcome) -> Vec<String> {
    let mean = |of: fn(&Run) -> u64| mean(outcome, of);
    let ops = |of| format!("{:.0}", mean(of));
    let megabytes = |of| format!("{:.1}", mean(of) / 1e6);
    let percent = |of| format!("{:.1}", 100.0 * mean(of) / mean(|run| run.read_bytes).max(1.0));
    vec![
        ops(|run| run.readahead_count),
        megabytes(|run| run.readahead_bytes),
        ops(|run| run.demand_count),
        megabytes(|run| run.demand_bytes),
        ops(|run| run.read_count),
        megabytes(|run| run.read_bytes),
        percent(|run| run.hit_bytes),
        percent(|run| run.late_bytes),
        percent(|run| run.miss_bytes),
        megabytes(|run| run.wasted_bytes),
        megabytes(|run| run.memory_bytes_peak),
    ]
}

/// The mean of a number of each run.
pub fn mean(outcome: &Outcome, of: fn(&Run) -> u64) -> f64 {
    let values: Vec<f64> = outcome.runs.iter().map(|run| of(run) as f64).collect();
    Sample::of(&values).mean
}

fn dash() -> String {
    "–".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(policy: &str, times_ms: &[u64]) -> Outcome {
        let run =
            |ms: &u64| Run { elapsed_ns: ms * 1_000_000, read_bytes: 100, hit_bytes: 25, ..Run::default() };
        Outcome {
            workload: "w".into(),
            policy: policy.into(),
            device: "d".into(),
            memory_bytes: 1 << 20,
            runs: times_ms.iter().map(run).collect(),
            bounds: Bounds { lower_ns: 400_000_000, clairvoyant_ns: 500_000_000, batch_blocks: 1 },
        }
    }

    fn columns(outcomes: &[Outcome], count: usize) -> Vec<String> {
        let text = format!("{:#}", table(outcomes));
        let cut = |line: &str| line.split_whitespace().take(count).collect::<Vec<_>>().join(" ");
        text.lines().skip(2).map(cut).collect()
    }

    #[test]
    fn marks_say_what_differs() {
        let outcomes = [
            outcome("none", &[1000, 1010, 1020, 1005]),
            outcome("plain", &[1003, 1008, 1021, 1006]),
            outcome("adaptive", &[500, 504, 511, 502]),
        ];
        assert_eq!(
            columns(&outcomes, 6),
            [
                "none 1.009 0.038 1.00 40–50 0",
                "plain 1.010 0.035 1.00 40–50 0",
                "adaptive 0.504 0.021 2.00 *< 79–99"
            ]
        );
    }

    #[test]
    fn one_run_has_no_margin_and_unknown_bounds_are_not_shown() {
        let mut outcomes = [outcome("plain", &[1000]), outcome("eager", &[900])];
        outcomes.iter_mut().for_each(|outcome| outcome.bounds = Bounds::default());
        assert_eq!(columns(&outcomes, 5), ["plain 1.000 – – –", "eager 0.900 – – <"]);
        outcomes[0].bounds = Bounds { lower_ns: 470_000_000, clairvoyant_ns: 500_000_000, batch_blocks: 1 };
        assert_eq!(columns(&outcomes[..1], 6), ["plain 1.000 – – < 50"]);
        assert!(legend(1).contains("one run") && legend(5).contains("n = 5"));
    }
}
