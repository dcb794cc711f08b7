//! Dense marks as a few shapes: cells that are marked or not, joined to rectangles.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Cells over a plot.
#[derive(Clone, Debug)]
pub(super) struct Raster {
    columns: usize,
    rows: usize,
    cell: f64,
    marked: Vec<bool>,
}

impl Raster {
    /// Nothing marked, over `width` by `height` pixels in cells of `cell` pixels.
    pub(super) fn new(width: f64, height: f64, cell: f64) -> Raster {
        let (columns, rows) =
            ((width / cell).ceil().max(1.0) as usize, (height / cell).ceil().max(1.0) as usize);
        Raster { columns, rows, cell, marked: vec![false; columns * rows] }
    }

    /// Marks every cell that the rectangle between two corners touches.
    pub(super) fn mark(&mut self, (x0, x1): (f64, f64), (y0, y1): (f64, f64)) {
        let span = |a: f64, b: f64, count: usize| {
            let first = ((a.min(b) / self.cell).floor().max(0.0) as usize).min(count - 1);
            // A rectangle that ends on a cell's edge does not touch the next one.
            let last = ((a.max(b) / self.cell - 1e-6).ceil().max(1.0) as usize - 1).clamp(first, count - 1);
            first..=last
        };
        for row in span(y0, y1, self.rows) {
            for column in span(x0, x1, self.columns) {
                self.marked[row * self.columns + column] = true;
            }
        }
    }

    /// The data of an SVG path over all marked cells, and how many rectangles it has.
    pub(super) fn path(&self) -> (String, usize) {
        let rectangles = self.rectangles();
        let mut data = String::new();
        for [column, row, width, height] in &rectangles {
            let [x, y, width, height] = [column, row, width, height].map(|cells| *cells as f64 * self.cell);
            // Writing to a string cannot fail.
            let _ = write!(data, "M{x} {y}h{width}v{height}h-{width}z");
        }
        (data, rectangles.len())
    }

    /// Column, row, width and height of rectangles that cover all marked cells.
    fn rectangles(&self) -> Vec<[usize; 4]> {
        let mut finished = Vec::new();
        let mut open: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for row in 0..=self.rows {
            let runs = self.runs(row);
            let mut next = BTreeMap::new();
            for (column, width) in runs {
                next.insert((column, width), open.remove(&(column, width)).unwrap_or(row));
            }
            let ended = std::mem::replace(&mut open, next);
            finished.extend(
                ended.into_iter().map(|((column, width), start)| [column, start, width, row - start]),
            );
        }
        finished
    }

    /// Column and width of each run of marked cells in a row.
    fn runs(&self, row: usize) -> Vec<(usize, usize)> {
        let cells = self.marked.chunks(self.columns).nth(row).unwrap_or_default();
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for column in (0..cells.len()).filter(|column| cells[*column]) {
            match runs.last_mut() {
                Some((start, width)) if *start + *width == column => *width += 1,
                _ => runs.push((column, 1)),
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_join() {
        let mut raster = Raster::new(10.0, 10.0, 2.0);
        raster.mark((0.0, 4.0), (0.0, 4.0));
        raster.mark((9.0, 9.0), (9.9, 10.0));
        assert_eq!(raster.path(), ("M0 0h4v4h-4zM8 8h2v2h-2z".to_owned(), 2));
        raster.mark((-5.0, 50.0), (-5.0, 50.0));
        assert_eq!(raster.path(), ("M0 0h10v10h-10z".to_owned(), 1));
    }
}
