//! How long reads waited.

use std::collections::BTreeMap;

use crate::outcome::Outcome;
use crate::show::mean;

use super::axis::Axis;
use super::comparison::Comparison;
use super::frame::Frame;
use super::legend;
use super::number;
use super::svg::{Node, el, text};

/// Waits shorter than this are drawn as if they took so long: nobody notices them.
const SHOWN_NS_MIN: u64 = 1000;

/// The section.
pub(super) fn section(cases: &[Comparison<'_>], policies: &[String]) -> Node {
    let figures = cases.iter().map(|case| figure(case, policies));
    el("section")
        .set("id", "waits")
        .with(text("h2", "How long reads waited"))
        .with(text("p", HOW).class("how"))
        .with(el("div").class("pair").with_all(figures))
}

const HOW: &str = "Each point shows which share of the reads waited no longer than a duration. Lines further up and left \
    are better. A line begins, at the left edge, with the share of reads that waited less than the axis shows. Equal lines \
    hide one another. The letter on a line is that of its policy in the table. The axis of durations is logarithmic. The curves have all seeds together. The table has the \
    means over seeds of the wait that 50, 90, 99 and 99.9 % of the reads did not exceed.";

fn figure(case: &Comparison<'_>, policies: &[String]) -> Node {
    let counts: Vec<BTreeMap<u64, u64>> = case.outcomes.iter().map(counts).collect();
    let longest = counts.iter().filter_map(|counts| counts.keys().next_back()).max();
    let shortest = counts.iter().flat_map(|counts| counts.keys().filter(|ns| **ns > SHOWN_NS_MIN)).min();
    let min = shortest.copied().unwrap_or(SHOWN_NS_MIN).max(SHOWN_NS_MIN) as f64;
    let max = longest.copied().unwrap_or(0).max(SHOWN_NS_MIN) as f64 * 17.0 / 16.0;
    let frame = Frame::new(Axis::log_time("wait", min, max), Axis::percent("reads"), 560.0, 280.0);
    let index = |outcome: &Outcome| policies.iter().position(|policy| *policy == outcome.policy).unwrap_or(0);
    let lines = case.outcomes.iter().zip(&counts).map(|(outcome, counts)| {
        let line =
            el("polyline").class(legend::line_class(index(outcome))).set("points", points(&frame, counts));
        el("g").with(text("title", &outcome.policy)).with(line)
    });
    // Above all lines, so that none crosses a letter.
    let letters = case.outcomes.iter().zip(&counts).filter_map(|(outcome, counts)| {
        let at = (index(outcome) as f64 + 0.5) / policies.len() as f64;
        let (x, y) = place_of_letter(&frame, counts, at)?;
        let letter = legend::letter(index(outcome));
        Some(text("text", letter).class("key mid").at([("x", x), ("y", y + 4.0)]))
    });
    el("figure")
        .with(text("figcaption", &case.name))
        .with(frame.picture(&format!("distribution of waits of {}", case.name), lines.chain(letters)))
        .with(quantiles(case, index))
}

/// Waits of all runs: the shortest of each bucket, and how many.
fn counts(outcome: &Outcome) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    for (ns, count) in outcome.runs.iter().flat_map(|run| run.waits.buckets()) {
        *counts.entry(ns).or_default() += count;
    }
    counts
}

/// A line of steps.
fn points(frame: &Frame, counts: &BTreeMap<u64, u64>) -> String {
    let total: u64 = counts.values().sum();
    let share = |seen: u64| 100.0 * seen as f64 / total as f64;
    let mut seen = 0;
    let mut points = Vec::new();
    let mut add =
        |x: f64, y: f64| points.push(format!("{},{}", number::coordinate(x), number::coordinate(y)));
    for (ns, count) in counts {
        let x = frame.x(*ns as f64);
        // The rise at the left edge would hide the axis.
        if x > 0.0 {
            add(x, frame.y(share(seen)));
        }
        seen += count;
        add(x, frame.y(share(seen)));
    }
    if total > 0 {
        add(frame.width, frame.y(100.0));
    }
    points.join(" ")
}

/// A point of the line. It is at the share `at` of the plot's width, so that the letters of lines that
/// are close to one another do not meet. A line that begins further right has it on its first rise.
fn place_of_letter(frame: &Frame, counts: &BTreeMap<u64, u64>, at: f64) -> Option<(f64, f64)> {
    let total = counts.values().sum::<u64>() as f64;
    let (first, first_count) = counts.first_key_value()?;
    let (x, first_x) = (frame.width * at, frame.x(*first as f64));
    if first_x > x {
        return Some((first_x, frame.y(100.0 * at * *first_count as f64 / total)));
    }
    let seen: u64 = counts.iter().filter(|(ns, _)| frame.x(**ns as f64) <= x).map(|(_, count)| count).sum();
    Some((x, frame.y(100.0 * seen as f64 / total)))
}

/// The legend, with the numbers that nobody can read off a curve.
fn quantiles(case: &Comparison<'_>, index: impl Fn(&Outcome) -> usize) -> Node {
    let head = ["policy", "p50", "p90", "p99", "p99.9"].map(|name| text("th", name).set("scope", "col"));
    let row = |outcome: &Outcome| {
        let line = legend::line(legend::line_class(index(outcome)));
        let letter = legend::letter(index(outcome));
        let quantile =
            |of: fn(&forerun_sim::run::Run) -> u64| text("td", number::duration(mean(outcome, of)));
        el("tr")
            .with(
                el("th")
                    .set("scope", "row")
                    .with(line)
                    .with(text("b", letter))
                    .text(format!(" {}", outcome.policy)),
            )
            .with(quantile(|run| run.waits.quantile(500)))
            .with(quantile(|run| run.waits.quantile(900)))
            .with(quantile(|run| run.waits.quantile(990)))
            .with(quantile(|run| run.waits.quantile(999)))
    };
    let body = el("tbody").with_all(case.outcomes.iter().map(row));
    let table = el("table").class("small").with(el("thead").with(el("tr").with_all(head))).with(body);
    el("div").class("wide").with(table)
}
