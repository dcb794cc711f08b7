//! When reads were hits, late or misses: a lane for each, so that none hides another.

use crate::timeline::{Class, Served, Timeline};

use super::frame::{Frame, LEFT, RIGHT};
use super::number;
use super::svg::{Node, el, text};

/// Pixels from one lane to the next, and of its highest bar.
const LANE: f64 = 17.0;
const BAR: f64 = 13.0;

/// Pixels from one bar to the next.
const COLUMN: f64 = 4.0;

/// A bar that is not empty is at least this high, so that one read of many is seen.
const BAR_MIN: f64 = 2.0;

const LANES: [(Class, &str); 3] = [(Class::Hit, "hit"), (Class::Late, "late"), (Class::Miss, "miss")];

/// The lanes above the plot of `frame`, on its axis of time.
pub(super) fn picture(frame: &Frame, timeline: &Timeline, label: &str) -> Node {
    let columns = columns(frame, timeline);
    let (width, height) = (frame.width + LEFT + RIGHT, LANE * LANES.len() as f64);
    let lanes = LANES.iter().enumerate().map(|(at, (class, name))| {
        let bottom = LANE * at as f64 + BAR;
        let base = el("line").at([("x1", 0.0), ("x2", frame.width), ("y1", bottom), ("y2", bottom)]);
        let name_at = [("x", -6.0), ("y", bottom - 2.0)];
        el("g")
            .with(el("g").class("grid").with(base))
            .with(el("path").class(name).set("d", bars(&columns, *class, bottom)))
            .with(text("text", *name).class("end").at(name_at))
    });
    let plot = el("g").set("transform", format!("translate({LEFT},0)")).with_all(lanes);
    let picture = el("svg").set("viewBox", format!("0 0 {width} {height}")).set("width", width);
    picture.set("role", "img").set("aria-label", label).with(plot)
}

/// The reads of each bar.
fn columns(frame: &Frame, timeline: &Timeline) -> Vec<Served> {
    let mut columns = vec![Served::default(); (frame.width / COLUMN).ceil() as usize];
    let last = columns.len() - 1;
    for read in timeline.reads() {
        let at = (frame.x(read.time.0 as f64) / COLUMN) as usize;
        columns[at.min(last)].count(read.class);
    }
    columns
}

/// The data of a path: a bar's height is the share of its reads that are of `class`.
fn bars(columns: &[Served], class: Class, bottom: f64) -> String {
    let height = |served: &Served| {
        let all = served.hit_count + served.late_count + served.miss_count;
        match served.of(class) {
            0 => 0.0,
            count => (BAR * count as f64 / all as f64).max(BAR_MIN),
        }
    };
    let heights: Vec<String> = columns.iter().map(|served| number::coordinate(height(served))).collect();
    let mut data = String::new();
    let mut x = 0.0;
    for equal in heights.chunk_by(|a, b| a == b) {
        let (width, height) = (equal.len() as f64 * COLUMN, &equal[0]);
        if height != "0" {
            data.push_str(&format!("M{x} {bottom}v-{height}h{width}v{height}z"));
        }
        x += width;
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_among_hits_leaves_both_to_be_seen() {
        let mixed = Served { hit_count: 99, late_count: 0, miss_count: 1 };
        let columns = [mixed, mixed, Served::default()];
        assert_eq!(bars(&columns, Class::Hit, 13.0), "M0 13v-12.9h8v12.9z");
        assert_eq!(bars(&columns, Class::Miss, 30.0), "M0 30v-2h8v2z");
        assert_eq!(bars(&columns, Class::Late, 30.0), "");
    }
}
