//! Rows as a table to read.

use std::fmt::Write;

use super::kind::Kind;
use super::row::{Gate, HARM_MARGIN, PEER_MARGIN, Row};
use super::{Inspection, Judgement};
use crate::stats::{Ratio, Verdict};
use crate::table::{Column, Table};

/// The rows, those that fail first, by the first gate that they fail and how badly. Then follow a
/// line for each gate, and the workloads that were left out.
pub fn table(plan: &Inspection, findings: &Judgement) -> String {
    let mut rows: Vec<&Row> = findings.rows.iter().collect();
    rows.sort_by(|a, b| match (a.worst(), b.worst()) {
        (Some((gate, missed)), Some((other, by))) => gate.cmp(&other).then(by.total_cmp(&missed)),
        (None, None) => b.harm.mean.total_cmp(&a.harm.mean),
        (one, other) => other.is_some().cmp(&one.is_some()),
    });
    let mut text = lines(&rows, plan.memory_bytes.len() > 1).to_string();
    text.push('\n');
    for gate in Gate::ALL {
        text += &summary(gate, findings);
    }
    for line in &findings.left_out {
        writeln!(text, "left out: {line}").expect("a string takes all text");
    }
    text
}

fn lines(rows: &[&Row], with_memory: bool) -> Table {
    let number = |name: &str, group: &str| Column::number(name).below(group);
    let word = |name: &str, group: &str| Column::word(name).below(group);
    let mut table = Table::new([
        Column::word("fails"),
        Column::word("workload"),
        Column::word("device"),
        number("n", ""),
        number("s", "adaptive"),
        number("ratio", "to none"),
        number("from", "to none"),
        number("to", "to none"),
        word("", "to none"),
        number("ratio", "to the best peer"),
        word("", "to the best peer"),
        word("", "to the best peer"),
        number("%", "of bound"),
        word("", "of bound"),
        number("learned", "of bound"),
        number("/asked", "fetched"),
        number("MB", "unread"),
        number("may be", "unread"),
        number("the peer's", "unread"),
    ]);
    for row in rows {
        let failing: Vec<String> = row.failing().map(|gate| gate.to_string()).collect();
        let memory = if with_memory { format!(", {} MiB", row.memory_bytes >> 20) } else { String::new() };
        table.row([
            failing.join(" "),
            row.workload.clone(),
            format!("{}{memory}", row.device),
            row.seed_count.to_string(),
            format!("{:.4}", row.seconds),
            ratio(row.harm.mean),
            ratio(row.harm.low),
            ratio(row.harm.high),
            row.harm.verdict(HARM_MARGIN).to_string(),
            ratio(row.peer.mean),
            row.peer.verdict(PEER_MARGIN).to_string(),
            row.peer_name().to_owned(),
            format!("{:.0}", 100.0 * row.bound),
            bound_marks(row),
            row.learned.map_or("–".to_owned(), |share| format!("{:.1}", 100.0 * share)),
            format!("{:.3}", row.fetched),
            format!("{:.1}", row.wasted_bytes / 1e6),
            format!("{:.1}", row.waste_bytes_max / 1e6),
            format!("{:.1}", row.peer_wasted_bytes / 1e6),
        ]);
    }
    table
}

fn ratio(value: f64) -> String {
    format!("{value:.3}")
}

fn bound_marks(row: &Row) -> String {
    format!("{}{}", if row.kind == Kind::Stream { "s" } else { "" }, if row.is_vague { "?" } else { "" })
}

/// One line: whether the gate holds, and how often it does.
fn summary(gate: Gate, findings: &Judgement) -> String {
    let rows = &findings.rows;
    let said = rows.iter().filter_map(|row| row.holds(gate));
    let (count, holds) = said.fold((0, 0), |(count, holds), said| (count + 1, holds + usize::from(said)));
    let more = match gate {
        Gate::Harm => verdicts(rows.iter().map(|row| row.harm), HARM_MARGIN),
        Gate::Peers => verdicts(rows.iter().map(|row| row.peer), PEER_MARGIN) + &wasteful(rows),
        Gate::Bound | Gate::Learned | Gate::Regret => String::new(),
    };
    let (word, how_often) = if findings.hold(gate) { ("holds", holds) } else { ("FAILS", count - holds) };
    format!("{gate:7}  {word}  in {how_often} of {count}: {}{more}\n", gate.promise())
}

/// How many of the rows that a peer wins it wins by more bytes than may be wasted.
fn wasteful(rows: &[Row]) -> String {
    let lost = rows.iter().filter(|row| row.holds(Gate::Peers) == Some(false));
    match lost.filter(|row| row.is_peer_wasteful()).count() {
        0 => String::new(),
        count => {
            format!("; of those that fail, {count} lose to a peer that breaks the last promise")
        }
    }
}

fn verdicts(ratios: impl Iterator<Item = Ratio>, margin: f64) -> String {
    let found: Vec<Verdict> = ratios.map(|ratio| ratio.verdict(margin)).collect();
    let all = [Verdict::Faster, Verdict::Equal, Verdict::NotSlower, Verdict::Undecided, Verdict::Slower];
    let count = |verdict: Verdict| found.iter().filter(|found| **found == verdict).count();
    let words: Vec<String> = all.into_iter().map(|verdict| format!("{} {verdict}", count(verdict))).collect();
    format!(" ({})", words.join(", "))
}
