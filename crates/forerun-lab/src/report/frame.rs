//! A picture with two axes.

use super::axis::Axis;
use super::svg::{Node, el, text};

/// Room for numbers and titles left of and below the plot, and above and right of it.
pub(super) const LEFT: f64 = 80.0;
const BELOW: f64 = 42.0;
const ABOVE: f64 = 8.0;
pub(super) const RIGHT: f64 = 24.0;

/// Where a plot's values are in its picture.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    x: Axis,
    y: Axis,
    /// Of the plot itself.
    pub(super) width: f64,
    /// Of the plot itself.
    pub(super) height: f64,
}

impl Frame {
    /// A picture of `width` by `height` pixels.
    pub(super) fn new(x: Axis, y: Axis, width: f64, height: f64) -> Frame {
        Frame { x, y, width: width - LEFT - RIGHT, height: height - ABOVE - BELOW }
    }

    /// Pixels from the plot's left edge.
    pub(super) fn x(&self, value: f64) -> f64 {
        self.x.at(value) * self.width
    }

    /// Pixels from the plot's upper edge.
    pub(super) fn y(&self, value: f64) -> f64 {
        (1.0 - self.y.at(value)) * self.height
    }

    /// The picture with `marks` in it; `label` is for those who do not see it.
    pub(super) fn picture(&self, label: &str, marks: impl IntoIterator<Item = Node>) -> Node {
        let (width, height) = (self.width + LEFT + RIGHT, self.height + ABOVE + BELOW);
        let plot = el("g").set("transform", format!("translate({LEFT},{ABOVE})"));
        let plot = plot.with(self.grid()).with_all(marks).with(self.names());
        let picture = el("svg").set("viewBox", format!("0 0 {width} {height}")).set("width", width);
        picture.set("role", "img").set("aria-label", label).with(plot)
    }

    fn grid(&self) -> Node {
        let vertical = self.x.ticks.iter().map(|(value, _)| {
            let x = self.x(*value);
            el("line").at([("x1", x), ("x2", x), ("y1", 0.0), ("y2", self.height)])
        });
        let horizontal = self.y.ticks.iter().map(|(value, _)| {
            let y = self.y(*value);
            el("line").at([("x1", 0.0), ("x2", self.width), ("y1", y), ("y2", y)])
        });
        el("g").class("grid").with_all(vertical).with_all(horizontal)
    }

    fn names(&self) -> Node {
        let below = self.x.ticks.iter().map(|(value, name)| {
            text("text", name).class("mid").at([("x", self.x(*value)), ("y", self.height + 16.0)])
        });
        let beside = self.y.ticks.iter().map(|(value, name)| {
            text("text", name).class("end").at([("x", -6.0), ("y", self.y(*value) + 4.0)])
        });
        let x = text("text", &self.x.title).class("mid title");
        let x = x.at([("x", self.width / 2.0), ("y", self.height + 35.0)]);
        let y = text("text", &self.y.title).class("mid title").set("transform", "rotate(-90)");
        let y = y.at([("x", -self.height / 2.0), ("y", -64.0)]);
        el("g").with_all(below).with_all(beside).with(x).with(y)
    }
}
