//! The figures of several runs of a program with one contender.

use super::program_bench::{Figures, RunOutcome};
use crate::demo::median::median;

/// The figures of a contender.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::demo) struct Summary {
    /// The median. None if a run was too slow, failed or read wrong bytes.
    pub(in crate::demo) seconds: Option<f64>,
    pub(in crate::demo) touched: Option<u64>,
    /// Bytes fetched for each byte touched; the most of all runs.
    pub(in crate::demo) fetched_ratio: Option<f64>,
    /// Bytes; the most of all runs.
    pub(in crate::demo) memory_peak: Option<u64>,
    /// Processor seconds, medians.
    pub(in crate::demo) store: Option<f64>,
    pub(in crate::demo) mount: Option<f64>,
    pub(in crate::demo) program: Option<f64>,
    /// The most of all runs.
    pub(in crate::demo) taken: f64,
    pub(in crate::demo) is_wrong: bool,
    pub(in crate::demo) has_failed: bool,
    /// The reason why there are no figures.
    pub(in crate::demo) unavailable: Option<String>,
}

impl Summary {
    /// Summarizes `outcomes`. A run read the right bytes if it reports `checksum`.
    pub(super) fn of(outcomes: &[RunOutcome], checksum: &str) -> Summary {
        let measured: Vec<_> = outcomes.iter().filter_map(measured).collect();
        let middle = |value: fn(&Figures) -> Option<f64>| {
            let values: Vec<_> = measured.iter().filter_map(|one| value(one)).collect();
            (!values.is_empty()).then(|| median(values))
        };
        let is_wrong = measured.iter().any(|one| one.reading.checksum != checksum);
        let is_sound = !is_wrong && measured.len() == outcomes.len();
        Summary {
            seconds: middle(|one| Some(one.reading.seconds)).filter(|_| is_sound),
            touched: measured.first().map(|one| one.reading.touched),
            fetched_ratio: measured.iter().filter_map(|one| fetched_ratio(one)).reduce(f64::max),
            memory_peak: measured.iter().filter_map(|one| one.memory_peak).max(),
            store: middle(|one| one.store),
            mount: middle(|one| one.mount),
            program: middle(|one| Some(one.reading.processor)),
            taken: measured.iter().map(|one| one.taken).fold(0.0, f64::max),
            is_wrong,
            has_failed: outcomes.iter().any(|outcome| matches!(outcome, RunOutcome::Failed(_))),
            unavailable: outcomes.iter().find_map(|outcome| match outcome {
                RunOutcome::Unavailable(why) => Some(why.clone()),
                _ => None,
            }),
        }
    }

    /// Millions of touched bytes per second.
    pub(in crate::demo) fn mb_s(&self) -> Option<f64> {
        Some(self.touched? as f64 / 1e6 / self.seconds?)
    }
}

fn measured(outcome: &RunOutcome) -> Option<&Figures> {
    match outcome {
        RunOutcome::Measured(measured) => Some(measured),
        _ => None,
    }
}

fn fetched_ratio(one: &Figures) -> Option<f64> {
    Some(one.fetched? as f64 / one.reading.touched.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::super::program::ReadingReport;
    use super::*;

    fn run(seconds: f64, fetched: u64, checksum: &str) -> RunOutcome {
        RunOutcome::Measured(Figures {
            reading: ReadingReport {
                seconds,
                processor: seconds / 2.0,
                touched: 100,
                checksum: checksum.to_owned(),
            },
            fetched: Some(fetched),
            memory_peak: Some(fetched * 1000),
            store: Some(0.5),
            mount: None,
            taken: seconds,
        })
    }

    #[test]
    fn medians_of_seconds_and_the_worst_of_the_rest() {
        let summary = Summary::of(&[run(3.0, 100, "a"), run(1.0, 120, "a"), run(2.0, 90, "a")], "a");
        let expected = Summary {
            seconds: Some(2.0),
            touched: Some(100),
            fetched_ratio: Some(1.2),
            memory_peak: Some(120_000),
            store: Some(0.5),
            mount: None,
            program: Some(1.0),
            taken: 3.0,
            is_wrong: false,
            has_failed: false,
            unavailable: None,
        };
        assert_eq!(summary, expected);
        assert_eq!(summary.mb_s(), Some(100.0 / 1e6 / 2.0));
    }

    #[test]
    fn one_wrong_run_makes_the_row_wrong() {
        assert!(Summary::of(&[run(1.0, 1, "a"), run(1.0, 1, "b")], "a").is_wrong);
    }

    #[test]
    fn one_failed_run_makes_the_row_failed() {
        assert!(Summary::of(&[run(1.0, 1, "a"), RunOutcome::Failed("no file".to_owned())], "a").has_failed);
        assert!(!Summary::of(&[run(1.0, 1, "a")], "a").has_failed);
    }

    #[test]
    fn one_slow_run_makes_the_row_slow() {
        let summary = Summary::of(&[run(1.0, 100, "a"), RunOutcome::TooSlow], "a");
        assert_eq!((summary.seconds, summary.mb_s()), (None, None));
        assert_eq!(summary.fetched_ratio, Some(1.0));
    }

    #[test]
    fn keeps_why_a_program_is_unavailable() {
        let summary = Summary::of(&[RunOutcome::Unavailable("no erofs".to_owned())], "a");
        assert_eq!(summary.unavailable.as_deref(), Some("no erofs"));
        assert!(summary.seconds.is_none() && !summary.is_wrong);
    }
}
