//! Windows and memory over time.

use std::collections::BTreeMap;

use forerun_engine::Class;

use crate::timeline::{Level, Timeline};

use super::axis::Axis;
use super::frame::Frame;
use super::layout::{self, Group};
use super::legend;
use super::number;
use super::raster::Raster;
use super::svg::{Node, el, text};

/// How to read [`windows`].
pub(super) const HOW_WINDOWS: &str = "Each mark is a window: the bytes that a policy planned to read ahead at a moment. \
    A policy that ramps up starts low; one that gives up has gaps. Colours show the kind of stream. The axis of sizes is logarithmic.";

/// How to read [`memory`].
pub(super) const HOW_MEMORY: &str = "One line is unread readahead: bytes, resident or in flight, that were not read yet. \
    The other line is all bytes in flight, demand included. Each interval shows its maximum. Memory that keeps bytes \
    already read is not included.";

/// The legend of [`windows`].
pub(super) fn legend_of_windows() -> Node {
    legend::squares(&COLOURS)
}

/// The legend of [`memory`].
pub(super) fn legend() -> Node {
    legend::lines(&[("unread-line", "resident or in flight, and not read yet"), ("flight-line", "in flight")])
}

/// Colours of windows.
const COLOURS: [(&str, &str); 5] = [
    ("w-way", "forward, and policies other than adaptive"),
    ("w-back", "backward"),
    ("w-stride", "strided"),
    ("w-files", "walk, planned"),
    ("w-bet", "filled, guessed"),
];

/// The colour of windows of `class`, and what else has it.
fn colour(class: Class) -> (&'static str, &'static str) {
    match class {
        Class::Backward => COLOURS[1],
        Class::Strided => COLOURS[2],
        Class::Walk | Class::Planned => COLOURS[3],
        Class::Filled | Class::Guessed => COLOURS[4],
        // `Forward`, `Other`, and what a later version may add.
        _ => COLOURS[0],
    }
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 230.0;
const CELL: f64 = 3.0;

/// Windows over time; sizes are on the axis of their group.
pub(super) fn windows(group: &Group<'_>, policy: &str, timeline: &Timeline) -> Node {
    let all = || group.timelines.iter().flat_map(|(_, timeline)| timeline.windows());
    let lens = || all().map(|window| window.len.max(1) as f64);
    let (min, max) = (lens().fold(f64::INFINITY, f64::min), lens().fold(0.0, f64::max));
    let axis = if max > 0.0 { Axis::log_size("window", min, max) } else { Axis::size("window", 0.0) };
    let frame = Frame::new(layout::time(timeline), axis, WIDTH, HEIGHT);
    let mut rasters: BTreeMap<&str, Raster> = BTreeMap::new();
    for window in timeline.windows() {
        let (x, y) = (frame.x(window.time.0 as f64), frame.y(window.len as f64));
        let raster = rasters.entry(colour(window.class).0);
        raster.or_insert_with(|| Raster::new(frame.width, frame.height, CELL)).mark((x, x), (y, y));
    }
    let count = rasters.len();
    let marks = rasters.iter().map(|(class, raster)| el("path").class(class).set("d", raster.path().0));
    let label = format!("windows over time of {} {policy}", group.name);
    let note = if count == 0 { " (no windows)" } else { "" };
    el("figure")
        .with(text("figcaption", format!("{}: window{note}", layout::caption(policy, timeline))))
        .with(frame.picture(&label, marks))
}

/// Memory over time; sizes are on the axis of their group.
pub(super) fn memory(group: &Group<'_>, policy: &str, timeline: &Timeline) -> Node {
    let all = group.timelines.iter().flat_map(|(_, timeline)| timeline.levels());
    let most = all.map(|(_, level)| level.in_flight.max(level.unread)).max().unwrap_or(0);
    let frame = Frame::new(layout::time(timeline), Axis::size("memory", most as f64), WIDTH, HEIGHT);
    let lines = [
        el("polyline")
            .class("line unread-line")
            .set("points", points(&frame, timeline, |level| level.unread)),
        el("polyline")
            .class("line flight-line")
            .set("points", points(&frame, timeline, |level| level.in_flight)),
    ];
    let label = format!("memory over time of {} {policy}", group.name);
    el("figure")
        .with(text("figcaption", format!("{}: memory", layout::caption(policy, timeline))))
        .with(frame.picture(&label, lines))
}

/// A line of steps, one for each two pixels at most.
fn points(frame: &Frame, timeline: &Timeline, of: fn(&Level) -> u64) -> String {
    let mut columns: Vec<(f64, u64)> = Vec::new();
    for (time, level) in timeline.levels().take_while(|(time, _)| *time <= timeline.end()) {
        let x = (frame.x(time.0 as f64) / 2.0).floor() * 2.0;
        match columns.last_mut() {
            Some((last, value)) if *last == x => *value = (*value).max(of(&level)),
            _ => columns.push((x, of(&level))),
        }
    }
    let mut points = Vec::new();
    let mut add =
        |x: f64, y: f64| points.push(format!("{},{}", number::coordinate(x), number::coordinate(y)));
    let mut last = None;
    for (x, value) in columns {
        let y = frame.y(value as f64);
        if last == Some(y) {
            continue;
        }
        if let Some(before) = last {
            add(x, before);
        }
        add(x, y);
        last = Some(y);
    }
    if let Some(y) = last {
        add(frame.x(timeline.end().0 as f64), y);
    }
    points.join(" ")
}
