//! How much slower than the fastest each policy is, for every workload at a glance.

use super::comparison::Comparison;
use super::svg::{Node, el, text};

/// Up to how many times the fastest one's time each shade goes; the last one has no end.
const SHADES: [f64; 7] = [1.02, 1.1, 1.25, 1.5, 2.0, 4.0, 8.0];

/// The section.
pub(super) fn section(cases: &[Comparison<'_>], policies: &[String]) -> Node {
    let head = policies.iter().map(|policy| text("th", policy).set("scope", "col"));
    let head = el("tr").with(text("th", "workload").set("scope", "col")).with_all(head);
    let rows = cases.iter().map(|case| {
        let name = text("th", &case.name).set("scope", "row");
        el("tr").with(name).with_all(policies.iter().map(|policy| cell(case, policy)))
    });
    let table = el("table").class("heat").with(el("thead").with(head)).with(el("tbody").with_all(rows));
    el("section")
        .set("id", "heat")
        .with(text("h2", "Time relative to the fastest"))
        .with(text("p", HOW).class("how"))
        .with(scale())
        .with(el("div").class("wide").with(table))
}

const HOW: &str = "Each number is a policy's time divided by that of the fastest policy of the same row. 1.00 is \
    the fastest, and 2.00 took twice as long. The stronger the colour, the slower. A column without strong colours is a policy that is never a bad choice.";

fn cell(case: &Comparison<'_>, policy: &str) -> Node {
    let at = case.outcomes.iter().position(|outcome| outcome.policy == policy);
    let fastest = case.fastest();
    match at.map(|at| &case.standings[at]) {
        Some(standing) if fastest > 0.0 => {
            let ratio = standing.time.mean / fastest;
            let class = format!("h{}{}", shade(ratio), if standing.is_fastest { " fastest" } else { "" });
            text("td", format!("{ratio:.2}")).class(class)
        }
        _ => text("td", "–"),
    }
}

fn shade(ratio: f64) -> usize {
    SHADES.iter().position(|end| ratio <= *end).unwrap_or(SHADES.len())
}

fn scale() -> Node {
    let name = |at: usize| match SHADES.get(at) {
        Some(end) => format!("≤ {end}"),
        None => format!("> {}", SHADES[SHADES.len() - 1]),
    };
    let steps = (0..=SHADES.len()).map(|at| text("li", name(at)).class(format!("h{at}")));
    el("ul").class("scale").with_all(steps)
}
