//! Readahead by the kind of its streams, the reasons for it, and its outcome.

use std::collections::BTreeMap;

use forerun_engine::{Class, ClassCounters, End, Time, Why};

use crate::outcome::Outcome;
use crate::timeline::{StreamPoint, Timeline};

use super::comparison::Comparison;
use super::fold;
use super::layout::Group;
use super::legend;
use super::number::{self, NONE};
use super::svg::{Node, el, text};

/// Streams of a run that are shown: those that wanted most.
const SHOWN_MAX: usize = 20;

const HOW_CLASSES: &str = "Readahead by the kind of stream that it was for, and by its outcome: in memory when read, in \
    flight when read, or never read. Means of all seeds; blocks are counted once, whole.";

const HOW_STREAMS: &str = "One row per stream, those with the largest windows in all first. Region readahead, \
    followers, guesses and the windows of other policies have no streams, and share a row for each kind. Began and last \
    are the first and the last window, each with the reason for its size. Ended is the reason why the stream is over.";

/// Colours of what became of readahead.
const OUTCOMES: [(&str, &str); 3] = [
    ("hit", "in time: in memory when read"),
    ("late", "late: in flight when read"),
    ("wasted", "wasted: never read"),
];

/// The section.
pub(super) fn section(cases: &[Comparison<'_>], groups: &[Group<'_>]) -> Node {
    let section = el("section")
        .set("id", "streams")
        .with(text("h2", "Streams"))
        .with(text("p", HOW_CLASSES).class("how"))
        .with(legend::squares(&OUTCOMES))
        .with(el("div").class("wide").with(classes(cases)));
    if groups.is_empty() {
        return section.with(text("p", "No run kept a timeline."));
    }
    let section = section.with(text("p", HOW_STREAMS).class("how")).with(reasons(groups));
    section.with_all(fold::groups(groups, "rows", |_, policy, timeline| streams(policy, timeline)))
}

/// The outcome of the readahead of each class.
fn classes(cases: &[Comparison<'_>]) -> Node {
    let head = ["policy", "for", "read ahead MB", "in time", "late", "wasted", "in time, late, wasted"];
    let head = head.map(|name| text("th", name).set("scope", "col"));
    let mut body = el("tbody");
    for case in cases {
        let name = text("th", &case.name).set("colspan", head.len()).set("scope", "rowgroup");
        body = body.with(el("tr").class("case").with(name));
        body = body.with_all(case.outcomes.iter().flat_map(classes_of));
    }
    el("table").with(el("thead").with(el("tr").with_all(head))).with(body)
}

fn classes_of(outcome: &Outcome) -> Vec<Node> {
    let by_class = means(outcome);
    let policy = |name: &str| text("th", name).set("scope", "row");
    if by_class.is_empty() {
        let cells = [NONE; 5].map(|cell| text("td", cell));
        return vec![el("tr").with(policy(&outcome.policy)).with_all(cells).with(el("td"))];
    }
    let rows = by_class.iter().enumerate().map(|(at, (class, [in_time, late, wasted]))| {
        let sum = in_time + late + wasted;
        let percent = |part: f64| text("td", number::percent(part, sum));
        el("tr")
            .with(policy(if at == 0 { &outcome.policy } else { "" }))
            .with(text("td", class.name()).class("word"))
            .with(text("td", number::short(sum / 1e6)))
            .with_all([*in_time, *late, *wasted].map(percent))
            .with(bar([*in_time, *late, *wasted], sum))
    });
    rows.collect()
}

/// Mean bytes in time, late and wasted of each class that there was anything of.
fn means(outcome: &Outcome) -> BTreeMap<Class, [f64; 3]> {
    let mut sums: BTreeMap<Class, [f64; 3]> = BTreeMap::new();
    for (class, counters) in outcome.runs.iter().flat_map(|run| run.readahead.iter()) {
        let ClassCounters { in_time_bytes, late_bytes, wasted_bytes, .. } = counters;
        let of = sums.entry(class).or_default();
        for (sum, bytes) in of.iter_mut().zip([in_time_bytes, late_bytes, wasted_bytes]) {
            *sum += bytes as f64 / outcome.runs.len() as f64;
        }
    }
    sums.retain(|_, of| of.iter().sum::<f64>() > 0.0);
    sums
}

fn bar(parts: [f64; 3], sum: f64) -> Node {
    const WIDTH: f64 = 170.0;
    let mut x = 0.0;
    let mut picture = el("svg").set("viewBox", format!("0 0 {WIDTH} 14")).set("aria-hidden", "true");
    for (part, (class, _)) in parts.into_iter().zip(OUTCOMES) {
        let width = part / sum * WIDTH;
        if width > 0.0 {
            let at = [("x", x), ("y", 1.0), ("width", width), ("height", 12.0)];
            picture = picture.with(el("rect").class(class).at(at));
        }
        x += width;
    }
    el("td").class("bar").with(picture)
}

/// The words for why that occur, and what each means.
fn reasons(groups: &[Group<'_>]) -> Node {
    let all = groups.iter().flat_map(|group| &group.timelines);
    let all =
        all.flat_map(|(_, timeline)| shown(timeline)).flat_map(|stream| [stream.first.1, stream.last.1]);
    let words: BTreeMap<&str, &str> = all.map(|why| (why.name(), meaning(why))).collect();
    let words =
        words.into_iter().map(|(name, meaning)| el("li").with(text("b", name)).text(format!(": {meaning}")));
    el("ul").class("legend").with_all(words)
}

fn meaning(why: Why) -> &'static str {
    match why {
        Why::FirstWindow => "little is known about its reader yet",
        Why::Growing => "its reader had to wait",
        Why::Steady => "the bytes that its reader takes during a fetch",
        Why::LimitedByShare => "its share of the bytes that keep the device busy",
        Why::LimitedByMemory => "its share of the memory",
        Why::LimitedByAccount => "the account of its file, for as much as it has read",
        Why::EndKnown => "the expected end of the object or the stream",
        Why::Planned => "it follows the profile of an earlier run",
        Why::Advised => "it follows the advice of a program",
        Why::Listed => "it follows the directory to that file",
        Why::Bet => "it costs little if it is wasted",
        // `Policy`, and what a later version may add.
        _ => "the policy\u{2019}s own rules",
    }
}

fn ended(class: Class, end: Option<End>) -> &'static str {
    match end {
        Some(End::ObjectEnd) if class == Class::Backward => "at the file\u{2019}s start",
        Some(End::ObjectEnd) => "at the file\u{2019}s end",
        Some(End::LeftOut) => "skipped too much",
        Some(End::ReaderLeft) => "went elsewhere",
        Some(End::PushedOut) => "replaced by other streams",
        Some(End::Closed) => "the file was closed",
        // `Forgotten`, and what a later version may add.
        Some(_) => "the run was over",
        None => NONE,
    }
}

/// The streams of `timeline` to show, those that wanted most first.
fn shown(timeline: &Timeline) -> Vec<StreamPoint> {
    let mut streams: Vec<StreamPoint> = timeline.streams().copied().collect();
    streams.sort_by_key(|stream| std::cmp::Reverse(stream.window_bytes));
    streams.truncate(SHOWN_MAX);
    streams
}

fn streams(policy: &str, timeline: &Timeline) -> Node {
    let count = timeline.stream_count();
    let shown = shown(timeline);
    let said = match (count, shown.len() as u64) {
        (0, _) => "nothing was read ahead".to_owned(),
        (1, _) => "1 stream".to_owned(),
        (_, shown) if shown == count => format!("{count} streams"),
        (_, shown) => format!("{shown} of {} streams", number::count(count)),
    };
    let figure = el("figure").with(text("figcaption", format!("{policy}: {said}")));
    if shown.is_empty() {
        return figure;
    }
    let head =
        ["for", "file", "where", "wanted MB", "windows", "mean", "largest", "began", "", "last", "", "ended"];
    let head = head.map(|name| text("th", name).set("scope", "col"));
    let rows = shown.iter().map(row);
    let table = el("table").with(el("thead").with(el("tr").with_all(head))).with(el("tbody").with_all(rows));
    figure.with(el("div").class("wide").with(table))
}

fn row(stream: &StreamPoint) -> Node {
    let StreamPoint { object, class, first, last, span, window_count, window_bytes, window_bytes_max, end } =
        *stream;
    let size = |bytes: u64| number::size(bytes as f64);
    let number = |cell: String| text("td", cell);
    let moment = |(time, why): (Time, Why)| {
        [number(number::duration(time.0 as f64)), text("td", why.name()).class("word")]
    };
    el("tr")
        .with(text("th", class.name()).set("scope", "row"))
        .with(number(object.map_or_else(|| "several".to_owned(), |object| object.0.to_string())))
        .with(number(format!("{} – {}", size(span.offset), size(span.end()))))
        .with(number(number::short(window_bytes as f64 / 1e6)))
        .with(number(number::count(window_count)))
        .with(number(size(window_bytes / window_count.max(1))))
        .with(number(size(window_bytes_max)))
        .with_all(moment(first))
        .with_all(moment(last))
        .with(text("td", ended(class, end)).class("word"))
}
