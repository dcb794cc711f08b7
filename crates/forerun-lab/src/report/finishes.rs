//! The times at which clients finished: fairness.

use forerun_sim::run::{ClientRun, Run};

use crate::outcome::Outcome;
use crate::stats::jain_index;

use super::axis::Axis;
use super::comparison::Comparison;
use super::number;
use super::svg::{Node, el, text};

const WIDTH: f64 = 1100.0;
/// Room for names left of the strips, and for numbers right of them.
const LEFT: f64 = 130.0;
const RIGHT: f64 = 250.0;
const STRIP: f64 = 24.0;
const BELOW: f64 = 40.0;

/// The section.
pub(super) fn section(cases: &[Comparison<'_>]) -> Node {
    let shared: Vec<&Comparison<'_>> = cases.iter().filter(|case| has_many_clients(case)).collect();
    let section = el("section").set("id", "clients").with(text("h2", "When clients finished"));
    if shared.is_empty() {
        return section
            .with(text("p", "No workload has more than one client, so there is no fairness to show."));
    }
    section.with(text("p", HOW).class("how")).with_all(shared.into_iter().map(figure))
}

const HOW: &str = "Each mark is the moment at which a client had all its bytes, in the run of the first seed. The bar spans \
    from the first to the last. Clients with equal work should finish together: short bars are fair, and bars that \
    end further left are fast. Jain's index is over the clients' throughput: 1 is equal, and 1/n if one of n has everything. \
    First/last is the first finisher's time divided by the last one's: 1 is together.";

fn has_many_clients(case: &Comparison<'_>) -> bool {
    case.outcomes.iter().any(|outcome| first_run(outcome).is_some_and(|run| active(run).count() > 1))
}

fn first_run(outcome: &Outcome) -> Option<&Run> {
    outcome.runs.first()
}

/// Clients that did anything.
fn active(run: &Run) -> impl Iterator<Item = &ClientRun> {
    run.clients.iter().filter(|client| client.finished_ns > 0)
}

fn figure(case: &Comparison<'_>) -> Node {
    let finishes =
        case.outcomes.iter().filter_map(first_run).flat_map(active).map(|client| client.finished_ns);
    let axis = Axis::time("finished", finishes.max().unwrap_or(0) as f64);
    let strips: Vec<(&str, &Run)> = case
        .outcomes
        .iter()
        .filter_map(|outcome| Some((outcome.policy.as_str(), first_run(outcome)?)))
        .collect();
    let height = strips.len() as f64 * STRIP;
    let width = WIDTH - LEFT - RIGHT;
    let lines = axis.ticks.iter().map(|(value, _)| {
        let x = axis.at(*value) * width;
        el("line").at([("x1", x), ("x2", x), ("y1", 0.0), ("y2", height)])
    });
    let names = axis.ticks.iter().map(|(value, name)| {
        text("text", name).class("mid").at([("x", axis.at(*value) * width), ("y", height + 16.0)])
    });
    let title = text("text", &axis.title).class("mid title").at([("x", width / 2.0), ("y", height + 34.0)]);
    let rows =
        strips.iter().enumerate().map(|(at, (policy, run))| strip(&axis, policy, run, at as f64 * STRIP));
    let plot = el("g").set("transform", format!("translate({LEFT},4)"));
    let plot = plot.with(el("g").class("grid").with_all(lines)).with_all(names).with(title).with_all(rows);
    let picture = el("svg").set("viewBox", format!("0 0 {WIDTH} {}", height + BELOW)).set("width", WIDTH);
    el("figure").with(text("figcaption", &case.name)).with(
        picture.set("role", "img").set("aria-label", format!("finish times of {}", case.name)).with(plot),
    )
}

fn strip(axis: &Axis, policy: &str, run: &Run, top: f64) -> Node {
    let width = WIDTH - LEFT - RIGHT;
    let middle = top + STRIP / 2.0;
    // Places to half a pixel, each once: hundreds of clients are one broad mark.
    let mut places: Vec<u64> =
        active(run).map(|client| (axis.at(client.finished_ns as f64) * width * 2.0).round() as u64).collect();
    places.sort_unstable();
    places.dedup();
    let marks: String =
        places.iter().map(|place| format!("M{} {}v16", *place as f64 / 2.0, middle - 8.0)).collect();
    let mut row = el("g").with(text("text", policy).class("end").at([("x", -6.0), ("y", middle + 4.0)]));
    if let (Some(first), Some(last)) = (places.first(), places.last()) {
        let (first, last) = (*first as f64 / 2.0, *last as f64 / 2.0);
        row = row.with(el("rect").class("span").at([
            ("x", first),
            ("y", middle - 5.0),
            ("width", last - first),
            ("height", 10.0),
        ]));
    }
    let said = text("text", fairness(run)).at([("x", width + 12.0), ("y", middle + 4.0)]);
    row.with(el("path").class("mark").set("d", marks)).with(said)
}

/// The numbers right of a strip.
fn fairness(run: &Run) -> String {
    let finishes = || active(run).map(|client| client.finished_ns as f64);
    let (first, last) = (finishes().fold(f64::INFINITY, f64::min), finishes().fold(0.0, f64::max));
    if last == 0.0 {
        return "no client did anything".to_owned();
    }
    let count = active(run).count() as u64;
    format!("n = {}, Jain {:.3}, first/last {:.2}", number::count(count), jain(run), first / last)
}

/// Jain's index over the throughput of all clients.
fn jain(run: &Run) -> f64 {
    let rate =
        |client: &ClientRun| (client.read_bytes + client.write_bytes) as f64 / client.finished_ns as f64;
    jain_index(&active(run).map(rate).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jain_index_and_finish_ratio_are_right_for_known_shares() {
        let client = |finished_ns| ClientRun { finished_ns, read_bytes: 100, ..ClientRun::default() };
        let run = |clients: &[ClientRun]| Run { clients: clients.to_vec(), ..Run::default() };
        assert_eq!(fairness(&run(&[client(10), client(10)])), "n = 2, Jain 1.000, first/last 1.00");
        // Rates 10 and 5: 225 / (2 * 125).
        assert_eq!(fairness(&run(&[client(10), client(20)])), "n = 2, Jain 0.900, first/last 0.50");
        assert_eq!(fairness(&run(&[])), "no client did anything");
    }
}
