//! The numbers of every outcome, and what became of the bytes as bars.

use forerun_sim::bound::Bounds;

use crate::compare::Standing;
use crate::outcome::Outcome;
use crate::show::mean;

use super::comparison::Comparison;
use super::legend;
use super::number::{self, NONE};
use super::shares::Shares;
use super::svg::{Node, el, text};

/// Headings, and what each means.
const COLUMNS: [(&str, &str); 13] = [
    ("policy", "the readahead policy; the fastest in bold"),
    ("time", "mean of all seeds"),
    ("±", "99.7 % margin of the mean (Student's t)"),
    ("of bound", "lower bound and best known schedule as shares of the time"),
    ("read MB", "bytes that the programs read, in 10^6"),
    ("fetched", "bytes from the device, as a share of the bytes read"),
    ("hit", "share of the bytes read that were in memory"),
    ("late", "share of the bytes read that were in flight"),
    ("miss", "share of the bytes read that were neither"),
    ("wasted", "bytes fetched and never read, as a share of the bytes read"),
    ("peak MB", "the peak of memory, in 10^6 bytes"),
    ("p99 wait", "99 of 100 reads waited no longer"),
    ("hit, late, miss | wasted", "the line is at 100 % of the bytes read"),
];

/// Wasted bytes that a bar shows at most, as a share of what was read.
const WASTED_SHOWN_MAX: f64 = 1.0;

/// The section.
pub(super) fn section(cases: &[Comparison<'_>]) -> Node {
    let head = COLUMNS.map(|(name, meaning)| text("th", name).set("title", meaning).set("scope", "col"));
    let mut body = el("tbody");
    for case in cases {
        let name = text("th", &case.name).set("colspan", COLUMNS.len()).set("scope", "rowgroup");
        body = body.with(el("tr").class("case").with(name));
        let wasted = |outcome: &Outcome| Shares::of_outcome(outcome).parts()[3];
        let wasted = case.outcomes.iter().map(wasted).fold(0.0, f64::max);
        let rows = case.outcomes.iter().zip(&case.standings);
        body = body.with_all(
            rows.map(|(outcome, standing)| row(outcome, standing, 1.0 + wasted.min(WASTED_SHOWN_MAX))),
        );
    }
    let table = el("table").with(el("thead").with(el("tr").with_all(head))).with(body);
    el("section")
        .set("id", "summary")
        .with(text("h2", "Summary"))
        .with(text("p", HOW).class("how"))
        .with(legend::squares(&legend::CLASSES))
        .with(el("div").class("wide").with(table))
}

const HOW: &str = "One row per policy, one block per workload. Shorter times are better. \u{201c}Of bound\u{201d} compares \
    a time with the best possible: 100 % is perfect. Its two numbers are a lower bound that ignores some costs, and the best \
    known schedule that knows the future. The bars have the bytes that programs read left of the line, as hit, late \
    and miss, and the wasted bytes right of it.";

fn row(outcome: &Outcome, standing: &Standing, scale: f64) -> Node {
    let shares = Shares::of_outcome(outcome);
    let [fetched, hit, late, miss, wasted] = shares.percents();
    let megabytes = |bytes: f64| number::short(bytes / 1e6);
    let ns = standing.time.mean * 1e9;
    let cells = [
        number::duration(ns),
        standing.time.margin().map_or_else(|| NONE.to_owned(), |margin| number::duration(margin * 1e9)),
        share_of_bound(outcome.bounds, ns),
        shares.read_megabytes(),
        fetched,
        hit,
        late,
        miss,
        wasted,
        megabytes(mean(outcome, |run| run.memory_bytes_peak)),
        number::duration(mean(outcome, |run| run.waits.quantile(990))),
    ];
    let class = if standing.is_fastest { "fastest" } else { "other" };
    let policy = text("th", &outcome.policy).set("scope", "row");
    el("tr").class(class).with(policy).with_all(cells.map(|cell| text("td", cell))).with(bar(shares, scale))
}

/// Both ends of the bracket in percent of `ns`.
fn share_of_bound(bounds: Bounds, ns: f64) -> String {
    if bounds.clairvoyant_ns == 0 || ns <= 0.0 {
        return NONE.to_owned();
    }
    let percent = |bound: u64| (100.0 * bound as f64 / ns).round();
    match (percent(bounds.lower_ns), percent(bounds.clairvoyant_ns)) {
        (lower, upper) if lower == upper => format!("{upper} %"),
        (lower, upper) => format!("{lower}–{upper} %"),
    }
}

/// A bar whose whole width is `scale` times what was read.
fn bar(shares: Shares, scale: f64) -> Node {
    const WIDTH: f64 = 170.0;
    let mut x = 0.0;
    let mut picture = el("svg").set("viewBox", format!("0 0 {WIDTH} 14")).set("role", "img");
    let mut said = Vec::new();
    for (share, (class, name)) in shares.parts().into_iter().zip(legend::CLASSES) {
        let width = (share * WIDTH / scale).min(WIDTH - x);
        said.push(format!("{name}: {}", number::percent(share, 1.0)));
        if width > 0.0 {
            picture = picture.with(el("rect").class(class).at([
                ("x", x),
                ("y", 1.0),
                ("width", width),
                ("height", 12.0),
            ]));
        }
        x += width;
    }
    let whole = WIDTH / scale - 0.5;
    let line = el("line").class("whole").at([("x1", whole), ("x2", whole), ("y1", 0.0), ("y2", 14.0)]);
    el("td")
        .class("bar")
        .with(picture.set("aria-label", said.join(", ")).with(text("title", said.join("\n"))).with(line))
}
