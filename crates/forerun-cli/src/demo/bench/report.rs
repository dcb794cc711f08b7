//! The table of the bench.

use super::gate::Gate;
use super::{BenchCase, Outcome};
use crate::demo::markdown;
use crate::demo::processors::doubt;

const HEADER: [&str; 12] = [
    "reader",
    "latency",
    "memory",
    "MB/s",
    "at least",
    "share",
    "fetched ÷ read",
    "at most",
    "peak MB",
    "waits",
    "bytes",
    "",
];

pub(super) fn report(judged: &[(&BenchCase, Gate, Outcome)]) -> String {
    let rows: Vec<_> = judged
        .iter()
        .map(|(row, gate, outcome)| {
            vec![
                row.title(),
                format!("{} ms", row.shape.latency.as_millis()),
                format!("{} MiB", row.memory_bytes >> 20),
                rate(outcome.mb_s),
                if gate.mb_s_min > 0.0 { rate(gate.mb_s_min) } else { String::new() },
                format!("{:.0} %", outcome.mb_s * 1e8 / row.shape.total_bytes_per_s as f64),
                format!("{:.3}", outcome.fetched_ratio),
                if gate.fetched_ratio_max.is_finite() {
                    format!("{:.2}", gate.fetched_ratio_max)
                } else {
                    String::new()
                },
                format!("{:.0}", outcome.memory_peak_mb),
                outcome.late_reads.to_string(),
                if outcome.is_correct { "right" } else { "WRONG" }.to_owned(),
                if outcome.passes(gate) { "pass" } else { "FAIL" }.to_owned(),
            ]
        })
        .collect();
    format!(
        "\n{}\nPolicy `adaptive`: medians of MB/s, and the worst run of the other columns. Random reads are \
         compared with policy `none`, measured in turn. `waits` counts the reads of players that waited \
         after the first second.\n{}",
        markdown::render(&HEADER.map(str::to_owned), &rows),
        doubt(judged.iter().map(|(_, _, outcome)| outcome.processors_taken).fold(0.0, f64::max))
    )
}

fn rate(mb_s: f64) -> String {
    if mb_s < 10.0 { format!("{mb_s:.3}") } else { format!("{mb_s:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::link::Shape;
    use crate::demo::reader::Pattern;

    #[test]
    fn verdicts_and_a_busy_machine_are_told() {
        let (pattern, shape) = (Pattern::Sequential, Shape::default());
        let row = BenchCase { pattern, shape, memory_bytes: 256 << 20, is_learned: false };
        let gate = row.gate(1 << 30, None);
        let table = report(&[(&row, gate, Outcome::GOOD)]);
        assert!(table.contains("pass") && !table.contains("processors"), "{table}");
        let disturbed = Outcome { processors_taken: 1.3, ..Outcome::GOOD };
        assert!(report(&[(&row, gate, disturbed)]).contains("up to 1.3 processors"));
        assert!(report(&[(&row, gate, Outcome { mb_s: 300.0, ..Outcome::GOOD })]).contains("FAIL"));
    }
}
