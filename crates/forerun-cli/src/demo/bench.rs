//! `forerun bench`: the demo's readers, measured several times, against gates.

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use super::link::Shape;
use super::reader::Pattern;
use super::session::{Measured, Run, Session};
use super::{parse_bytes, parse_pattern, say, table};
use crate::units::parse_duration;

const MEMORY_BYTES: u64 = 256 << 20;
/// What the whole process may occupy with that much for data.
const MEMORY_PEAK_MB_MAX: f64 = 400.0;
/// Nothing is to be cut short.
const TIME_MAX: Duration = Duration::from_secs(600);
/// What other programs may use of the processors before rates are in doubt.
pub(crate) const PROCESSORS_TAKEN_MAX: f64 = 0.2;

/// Measure what the mount promises and fail if it does not hold
///
/// Reads through the mount with policy `adaptive` at several latencies, takes medians, and compares
/// them with what is promised.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchCommand {
    /// The latencies to measure at
    #[arg(long, value_name = "TIMES", value_delimiter = ',', default_value = "10ms,2ms,50ms", value_parser = parse_duration)]
    latency: Vec<Duration>,

    /// The readers to run: sequential, parallel, interleaved, displaced or random
    #[arg(long, value_name = "READERS", value_delimiter = ',', value_parser = parse_pattern)]
    only: Vec<Pattern>,

    /// How often to measure; medians count
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    repeat: u32,

    /// How much each reader reads, except at random, as in 1GiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_bytes)]
    size: u64,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
struct Row {
    pattern: Pattern,
    shape: Shape,
}

/// What a row must come to.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gate {
    mb_s_min: f64,
    fetched_ratio_max: f64,
}

/// What a row came to: the median rate, and the worst of everything else.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Outcome {
    mb_s: f64,
    fetched_ratio: f64,
    memory_peak_mb: f64,
    processors_taken: f64,
    is_correct: bool,
}

impl BenchCommand {
    /// Runs the rows; fails if a gate does not hold.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let rows = self.rows();
        let measured = Session::with(self.size, async |session| {
            // All rows once, then again: what disturbs the machine for a while
            // then disturbs one measurement of each row, not all of one.
            let mut measured = vec![(Vec::new(), Vec::new()); rows.len()];
            for _ in 0..self.repeat {
                for (row, (adaptive, none)) in rows.iter().zip(&mut measured) {
                    if row.pattern == Pattern::Random {
                        none.push(row.measure(session, "none").await?);
                    }
                    adaptive.push(row.measure(session, "adaptive").await?);
                }
            }
            Ok(measured)
        })?;
        let judged: Vec<_> = rows
            .iter()
            .zip(&measured)
            .map(|(row, (adaptive, none))| {
                let none = (!none.is_empty()).then(|| Outcome::of(none));
                (row, row.gate(self.size, none), Outcome::of(adaptive))
            })
            .collect();
        say(&report(&judged));
        let passed = judged.iter().all(|(_, gate, outcome)| outcome.passes(gate));
        Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn rows(&self) -> Vec<Row> {
        let patterns = if self.only.is_empty() { Pattern::ALL.to_vec() } else { self.only.clone() };
        let shapes = self.latency.iter().map(|latency| Shape { latency: *latency, ..Shape::default() });
        shapes
            .flat_map(|shape| patterns.iter().map(move |pattern| Row { pattern: *pattern, shape }))
            .collect()
    }
}

impl Row {
    async fn measure(&self, session: &mut Session, policy: &str) -> Result<Measured, String> {
        let run = Run {
            policy: policy.to_owned(),
            pattern: self.pattern,
            shape: self.shape,
            memory_bytes: MEMORY_BYTES,
            time_max: TIME_MAX,
            // About 5 s for a reader that waits for each of them.
            random_reads: (5000 / (self.shape.latency.as_millis() as usize + 1)).clamp(50, 400),
        };
        let measured = session.measure(&run).await?;
        eprintln!(
            "{} ms, {}, policy {policy}: {:.2} MB/s{}",
            self.shape.latency.as_millis(),
            self.pattern.title(),
            measured.mb_s(),
            if measured.processors_taken > PROCESSORS_TAKEN_MAX { ", disturbed" } else { "" }
        );
        Ok(measured)
    }

    /// What is promised of reading `bytes`; `none` is what this row comes to
    /// without readahead.
    fn gate(&self, bytes: u64, none: Option<Outcome>) -> Gate {
        let total_mb_s = self.shape.total_bytes_per_s as f64 / 1e6;
        let mb_s_min = match self.pattern {
            // Nothing can be read ahead; trying must not cost anything.
            Pattern::Random => {
                return Gate { mb_s_min: none.map_or(0.0, |none| 0.97 * none.mb_s), fetched_ratio_max: 1.1 };
            }
            Pattern::Sequential | Pattern::Parallel if self.shape == Shape::default() => 0.9 * total_mb_s,
            _ if self.shape == Shape::default() => 0.8 * total_mb_s,
            _ => 0.8 * self.bound_mb_s(bytes),
        };
        Gate { mb_s_min, fetched_ratio_max: 1.05 }
    }

    /// No mount can be faster: the link's rate, and the latencies that somebody
    /// who does not know the future has to wait for one after the other: one for
    /// the file's name, and one for the first bytes of each stream that a thread
    /// meets.
    fn bound_mb_s(&self, bytes: u64) -> f64 {
        let latencies = 1 + self.pattern.streams_per_thread();
        let link = bytes as f64 / self.shape.total_bytes_per_s as f64;
        bytes as f64 / 1e6 / (link + latencies as f64 * self.shape.latency.as_secs_f64())
    }
}

impl Outcome {
    fn of(measured: &[Measured]) -> Outcome {
        let worst = |value: fn(&Measured) -> f64| measured.iter().map(value).fold(0.0, f64::max);
        Outcome {
            mb_s: median(measured.iter().map(Measured::mb_s).collect()),
            fetched_ratio: worst(Measured::fetched_ratio),
            memory_peak_mb: worst(Measured::memory_peak_mb),
            processors_taken: worst(|measured| measured.processors_taken),
            is_correct: measured.iter().all(Measured::is_correct),
        }
    }

    fn passes(&self, gate: &Gate) -> bool {
        self.is_correct
            && self.mb_s >= gate.mb_s_min
            && self.fetched_ratio <= gate.fetched_ratio_max
            && self.memory_peak_mb <= MEMORY_PEAK_MB_MAX
    }
}

/// The middle one of `values`, which are not none.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

fn report(judged: &[(&Row, Gate, Outcome)]) -> String {
    let header = [
        "reader",
        "latency",
        "MB/s",
        "at least",
        "share",
        "fetched ÷ read",
        "at most",
        "peak MB",
        "bytes",
        "",
    ];
    let rows: Vec<_> = judged
        .iter()
        .map(|(row, gate, outcome)| {
            vec![
                row.pattern.title().to_owned(),
                format!("{} ms", row.shape.latency.as_millis()),
                rate(outcome.mb_s),
                rate(gate.mb_s_min),
                format!("{:.0} %", outcome.mb_s * 1e8 / row.shape.total_bytes_per_s as f64),
                format!("{:.3}", outcome.fetched_ratio),
                format!("{:.2}", gate.fetched_ratio_max),
                format!("{:.0}", outcome.memory_peak_mb),
                if outcome.is_correct { "right" } else { "WRONG" }.to_owned(),
                if outcome.passes(gate) { "pass" } else { "FAIL" }.to_owned(),
            ]
        })
        .collect();
    format!(
        "\n{}\nPolicy `adaptive`; medians of MB/s, the worst of the rest; at most {MEMORY_PEAK_MB_MAX:.0} MB of memory. \
         Random reads are compared with policy `none`, measured in turn.\n{}",
        table::render(&header.map(str::to_owned), &rows),
        doubt(judged.iter().map(|(_, _, outcome)| outcome.processors_taken).fold(0.0, f64::max))
    )
}

/// What to say if other programs were in the way.
fn doubt(processors_taken: f64) -> String {
    if processors_taken <= PROCESSORS_TAKEN_MAX {
        return String::new();
    }
    format!(
        "Other programs kept up to {processors_taken:.1} processors busy meanwhile, so the rates are too low: \
         end them and measure again.\n"
    )
}

fn rate(mb_s: f64) -> String {
    if mb_s < 10.0 { format!("{mb_s:.3}") } else { format!("{mb_s:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Outcome = Outcome {
        mb_s: 390.0,
        fetched_ratio: 1.0,
        memory_peak_mb: 300.0,
        processors_taken: 0.0,
        is_correct: true,
    };

    fn row(pattern: Pattern, milliseconds: u64) -> Row {
        Row { pattern, shape: Shape { latency: Duration::from_millis(milliseconds), ..Shape::default() } }
    }

    #[test]
    fn gates() {
        let table = [
            (Pattern::Sequential, 10, 360.0),
            (Pattern::Parallel, 10, 360.0),
            (Pattern::Interleaved, 10, 320.0),
            (Pattern::Displaced, 10, 320.0),
            // 2.5 s on the link, and 2 or 9 times 50 ms.
            (Pattern::Sequential, 50, 0.8 * 1000.0 / 2.6),
            (Pattern::Interleaved, 50, 0.8 * 1000.0 / 2.95),
        ];
        for (pattern, milliseconds, mb_s_min) in table {
            let gate = row(pattern, milliseconds).gate(1_000_000_000, None);
            assert!((gate.mb_s_min - mb_s_min).abs() < 1e-6, "{}: {gate:?}", pattern.name());
            assert_eq!(gate.fetched_ratio_max, 1.05);
        }
        let none = Outcome { mb_s: 0.4, ..GOOD };
        let gate = row(Pattern::Random, 10).gate(1_000_000_000, Some(none));
        assert!((gate.mb_s_min - 0.388).abs() < 1e-9);
    }

    #[test]
    fn each_promise_can_be_broken() {
        let gate = row(Pattern::Sequential, 10).gate(1_000_000_000, None);
        assert!(GOOD.passes(&gate));
        for bad in [
            Outcome { mb_s: 359.0, ..GOOD },
            Outcome { fetched_ratio: 1.06, ..GOOD },
            Outcome { memory_peak_mb: 401.0, ..GOOD },
            Outcome { is_correct: false, ..GOOD },
        ] {
            assert!(!bad.passes(&gate), "{bad:?}");
            assert!(report(&[(&row(Pattern::Sequential, 10), gate, bad)]).contains("FAIL"));
        }
    }

    #[test]
    fn a_busy_machine_is_told() {
        let row = row(Pattern::Sequential, 10);
        let disturbed = Outcome { processors_taken: 1.3, ..GOOD };
        assert!(report(&[(&row, row.gate(1_000_000_000, None), disturbed)]).contains("up to 1.3 processors"));
        assert!(!report(&[(&row, row.gate(1_000_000_000, None), GOOD)]).contains("processors"));
    }

    #[test]
    fn medians() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0]), 2.5);
    }
}
