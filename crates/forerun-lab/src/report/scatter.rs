//! Which bytes were asked for when, and what was found.

use forerun_engine::Cause;

use crate::timeline::{Class, FetchPoint, Timeline};

use super::frame::Frame;
use super::lanes;
use super::layout::{self, Group};
use super::legend;
use super::number;
use super::raster::Raster;
use super::shares::Shares;
use super::svg::{Node, el, text};

/// How to read [`figure`].
pub(super) const HOW: &str = "Each mark is a read: its time (left to right) and its offset in the file (bottom to top). Its colour \
    tells whether its bytes were in memory (hit), in flight (late), or neither (miss, the longest wait). The three lanes above \
    the plot show the share of reads with each outcome at each moment, so that none hides another. Grey is readahead, from \
    the dispatch of the fetch to its end. Readahead that was evicted unread, or left unread at the end, has the colour of waste. \
    Good readahead is a grey edge just in front of blue marks. Several files lie one above the other. Each picture has its own \
    axis of time, whose length is in its title. Long runs show a sample, and the totals below the title have all reads. \
    Writes are not shown; a dotted end of a picture has writes or no accesses. Point at a mark to see how many reads had the same outcome, and which kind of stream read their \
    bytes ahead.";

/// The legend of [`figure`].
pub(super) fn legend() -> Node {
    let [hit, late, miss, wasted] = legend::CLASSES;
    legend::squares(&[hit, late, miss, wasted, ("ahead", "fetched ahead")])
}

/// Cells are this many pixels wide; larger ones are for pictures that would have too many shapes.
const CELLS: [f64; 6] = [2.0, 3.0, 4.0, 6.0, 8.0, 12.0];

/// Borders between more files than that would hide the reads.
const BORDERS_MAX: usize = 24;

/// A picture with at most about `shape_count_max` shapes.
pub(super) fn figure(group: &Group<'_>, policy: &str, timeline: &Timeline, shape_count_max: usize) -> Node {
    let frame = Frame::new(layout::time(timeline), group.offset(), 640.0, 270.0);
    let mut marks = layers(group, timeline, &frame, CELLS[0]);
    for cell in &CELLS[1..] {
        if marks.1 <= shape_count_max {
            break;
        }
        marks = layers(group, timeline, &frame, *cell);
    }
    let label = format!("offsets over time of {} {policy}", group.name);
    let borders = borders(group, &frame);
    el("figure")
        .with(text("figcaption", layout::caption(policy, timeline)))
        .with(text("p", totals(timeline)).class("totals"))
        .with(lanes::picture(
            &frame,
            timeline,
            &format!("outcomes of reads over time of {} {policy}", group.name),
        ))
        .with(frame.picture(&label, quiet(&frame, timeline).into_iter().chain(borders).chain(marks.0)))
}

/// The end of a run in which nothing is read: the summary's time has it too.
fn quiet(frame: &Frame, timeline: &Timeline) -> Vec<Node> {
    let start = frame.x(timeline.quiet_from().0 as f64);
    let width = frame.width - start;
    if width < QUIET_MIN {
        return Vec::new();
    }
    let at = [("x", start), ("y", 0.0), ("width", width), ("height", frame.height)];
    let band = el("rect").class("quiet").at(at).with(text("title", QUIET));
    let name = text("text", "no reads").class("mid title");
    let name = (width >= QUIET_NAMED_MIN).then(|| name.at([("x", start + width / 2.0), ("y", 16.0)]));
    std::iter::once(band).chain(name).collect()
}

const QUIET: &str = "After the last read: writes, or time that the program spends";

/// Pixels of a quiet end that is marked, and of one that has its name in it.
const QUIET_MIN: f64 = 3.0;
const QUIET_NAMED_MIN: f64 = 60.0;

/// The numbers that the summary has, of this run.
fn totals(timeline: &Timeline) -> String {
    let shares = Shares::of_timeline(timeline);
    let [fetched, hit, late, miss, wasted] = shares.percents();
    let read = shares.read_megabytes();
    format!("{read} MB read: {hit} hit, {late} late, {miss} miss; {fetched} fetched, {wasted} wasted")
}

fn borders(group: &Group<'_>, frame: &Frame) -> Vec<Node> {
    if group.borders().count() > BORDERS_MAX {
        return Vec::new();
    }
    let line = |base: u64| {
        let y = frame.y(base as f64);
        el("line").class("border").at([("x1", 0.0), ("x2", frame.width), ("y1", y), ("y2", y)])
    };
    group.borders().map(line).collect()
}

/// A path for each colour, those further back first: a mark of many hits may have one miss, and how many shapes they have together.
fn layers(group: &Group<'_>, timeline: &Timeline, frame: &Frame, cell: f64) -> (Vec<Node>, usize) {
    let mut rasters = ["ahead", "wasted", "miss", "late", "hit"]
        .map(|class| (class, Raster::new(frame.width, frame.height, cell)));
    let [ahead, wasted, reads @ ..] = &mut rasters;
    let y = |(start, end): (f64, f64)| (frame.y(start), frame.y(end));
    for fetch in timeline.fetches() {
        let x = (frame.x(fetch.time.0 as f64), frame.x(end_of(fetch, timeline)));
        if fetch.cause == Cause::Readahead {
            ahead.1.mark(x, y(group.place(fetch.object, fetch.extent)));
        }
        if !fetch.wasted.is_empty() {
            wasted.1.mark(x, y(group.place(fetch.object, fetch.wasted)));
        }
    }
    for read in timeline.reads() {
        let raster = match read.class {
            Class::Hit => &mut reads[2].1,
            Class::Late => &mut reads[1].1,
            Class::Miss => &mut reads[0].1,
        };
        let x = frame.x(read.time.0 as f64);
        raster.mark((x, x), y(group.place(read.object, read.extent)));
    }
    let paths = rasters.map(|(class, raster)| (class, raster.path()));
    let count = paths.iter().map(|(_, (_, count))| count).sum();
    let filled = paths.into_iter().filter(|(_, (_, count))| *count > 0);
    let path = |(class, (data, _))| {
        let path = el("path").class(class).set("d", data);
        match tooltip(class, timeline) {
            Some(said) => path.with(text("title", said)),
            None => path,
        }
    };
    (filled.map(path).collect(), count)
}

/// How many reads found that, and what their bytes were read ahead for; nothing of what is
/// no read.
fn tooltip(class: &str, timeline: &Timeline) -> Option<String> {
    let found = match class {
        "hit" => Class::Hit,
        "late" => Class::Late,
        "miss" => Class::Miss,
        _ => return None,
    };
    let parts: Vec<String> = timeline
        .served()
        .filter(|(_, served)| served.of(found) > 0)
        .map(|(ahead, served)| {
            let ahead = ahead.map_or("not read ahead", |ahead| ahead.name());
            format!("{} {ahead}", number::count(served.of(found)))
        })
        .collect();
    Some(format!("{class}: {}", parts.join(", ")))
}

fn end_of(fetch: &FetchPoint, timeline: &Timeline) -> f64 {
    fetch.end.unwrap_or(timeline.end()).0 as f64
}
