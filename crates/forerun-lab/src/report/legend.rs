//! The meaning of the colours.

use super::svg::{Node, el};

/// The outcomes of bytes: the colour's class and its name.
pub(super) const CLASSES: [(&str, &str); 4] = [
    ("hit", "hit: in memory"),
    ("late", "late: in flight"),
    ("miss", "miss: neither"),
    ("wasted", "wasted: fetched and never read"),
];

/// Line styles that differ; more policies than that use them again.
const STYLES: usize = 12;

/// The class of the line of the policy with this index.
pub(super) fn line_class(index: usize) -> String {
    format!("line l{}", index % STYLES)
}

/// The letter of the policy with this index.
pub(super) fn letter(index: usize) -> String {
    char::from(b'A' + (index % 26) as u8).to_string()
}

/// Names beside coloured squares.
pub(super) fn squares(names: &[(&str, &str)]) -> Node {
    let entry = |(class, name): &(&str, &str)| {
        let square = el("rect").class(class).at([("width", 12.0), ("height", 12.0)]);
        el("li").with(swatch(12.0).with(square)).text(format!(" {name}"))
    };
    el("ul").class("legend").with_all(names.iter().map(entry))
}

/// Names beside pieces of lines.
pub(super) fn lines(names: &[(&str, &str)]) -> Node {
    let entry =
        |(class, name): &(&str, &str)| el("li").with(line(format!("line {class}"))).text(format!(" {name}"));
    el("ul").class("legend").with_all(names.iter().map(entry))
}

/// A piece of a line of that class.
pub(super) fn line(class: impl ToString) -> Node {
    let line = el("line").class(class).at([("x1", 0.0), ("x2", 34.0), ("y1", 6.0), ("y2", 6.0)]);
    swatch(34.0).with(line)
}

fn swatch(width: f64) -> Node {
    let swatch =
        el("svg").class("swatch").set("viewBox", format!("0 0 {width} 12")).set("aria-hidden", "true");
    swatch.at([("width", width), ("height", 12.0)])
}
