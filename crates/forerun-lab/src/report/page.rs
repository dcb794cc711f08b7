//! The page around the pictures.

use super::comparison::{cases, distinct, memory, policies};
use super::layout::{Group, groups};
use super::svg::{Node, el, text};
use super::{Imprint, Report, cdf, finishes, fold, heat, number, readahead, scatter, series, summary};

/// Shapes of all scatter plots together: at about 14 bytes each, well below 3 MB.
const SHAPE_COUNT_MAX: usize = 120_000;

/// Shapes that a scatter plot may have however many plots there are, and at most.
const SHAPES_OF_PLOT: (usize, usize) = (400, 10_000);

/// The sections, as the contents name them.
const SECTIONS: [(&str, &str); 7] = [
    ("#summary", "Summary"),
    ("#heat", "Relative time"),
    ("#waits", "Waits"),
    ("#clients", "Clients"),
    ("#streams", "Streams"),
    ("#offsets", "Offsets over time"),
    ("#levels", "Windows and memory"),
];

/// The whole document.
pub(super) fn document(report: &Report<'_>) -> String {
    let head = el("head")
        .with(el("meta").set("charset", "utf-8"))
        .with(el("meta").set("name", "viewport").set("content", "width=device-width, initial-scale=1"))
        .with(el("meta").set("name", "color-scheme").set("content", "light dark"))
        .with(text("title", report.title))
        .with(el("style").style(include_str!("style.css")));
    let mut page = String::from("<!DOCTYPE html>\n");
    el("html").set("lang", "en").with(head).with(body(report)).write(&mut page);
    page.push('\n');
    page
}

fn body(report: &Report<'_>) -> Node {
    let cases = cases(report.outcomes);
    let policies = policies(report.outcomes);
    let groups = groups(report.timelines);
    let main = el("main").with(header(report)).with(contents());
    let main = if cases.is_empty() {
        main.with(text("p", "There are no outcomes to show: nothing was run."))
    } else {
        main.with(summary::section(&cases))
            .with(heat::section(&cases, &policies))
            .with(cdf::section(&cases, &policies))
            .with(finishes::section(&cases))
            .with(readahead::section(&cases, &groups))
    };
    el("body").with(main.with(offsets(&groups)).with(levels(&groups)))
}

/// The title, and what the numbers depend on.
fn header(report: &Report<'_>) -> Node {
    let outcomes = report.outcomes;
    let repeats = distinct(outcomes, |outcome| number::count(outcome.runs.len() as u64)).join(", ");
    let workloads = distinct(outcomes, |outcome| outcome.workload.clone());
    let given = [
        ("Device", distinct(outcomes, |outcome| outcome.device.clone()).join(", ")),
        ("Memory", distinct(outcomes, memory).join(", ")),
        ("Runs", format!("{repeats} of each, by seed")),
        ("Policies", policies(outcomes).join(", ")),
        ("Workloads", format!("{}: {}", workloads.len(), workloads.join(", "))),
    ];
    let given = given.into_iter().filter(|_| !outcomes.is_empty());
    let told = report.parameters.iter().map(|(name, value)| (name.as_str(), value.clone()));
    let mut list = el("dl");
    for (name, value) in given.chain(told) {
        list = list.with(el("div").with(text("dt", name)).with(text("dd", value)));
    }
    let header = el("header").with(text("h1", report.title));
    match &report.imprint {
        Some(imprint) => header.with(made(imprint)).with(list),
        None => header.with(list),
    }
}

/// When, by which version and by which command the page was made.
fn made(imprint: &Imprint) -> Node {
    let Imprint { date, version, command } = imprint;
    text("p", format!("Made on {date} by version {version} of Forerun with "))
        .class("made")
        .with(text("code", command))
}

fn contents() -> Node {
    let links = SECTIONS.map(|(target, name)| text("a", name).set("href", target));
    el("nav").with_all(links)
}

/// Offsets over time, all groups.
fn offsets(groups: &[Group<'_>]) -> Node {
    let section = el("section").set("id", "offsets").with(text("h2", "Offsets over time"));
    let count: usize = groups.iter().map(|group| group.timelines.len()).sum();
    if count == 0 {
        return section.with(text("p", "No run kept a timeline."));
    }
    let (least, most) = SHAPES_OF_PLOT;
    let shapes = (SHAPE_COUNT_MAX / count).clamp(least, most);
    let section = section.with(text("p", scatter::HOW).class("how")).with(scatter::legend());
    section.with_all(fold::groups(groups, "pair", |group, policy, timeline| {
        scatter::figure(group, policy, timeline, shapes)
    }))
}

/// Windows and memory over time, all groups.
fn levels(groups: &[Group<'_>]) -> Node {
    let section = el("section").set("id", "levels").with(text("h2", "Windows and memory over time"));
    if groups.is_empty() {
        return section.with(text("p", "No run kept a timeline."));
    }
    let section = section
        .with(text("p", series::HOW_WINDOWS).class("how"))
        .with(series::legend_of_windows())
        .with(text("p", series::HOW_MEMORY).class("how"))
        .with(series::legend());
    section.with_all(fold::groups(groups, "rows", |group, policy, timeline| {
        let windows = series::windows(group, policy, timeline);
        el("div").class("pair").with(windows).with(series::memory(group, policy, timeline))
    }))
}
