//! Markdown tables that are readable as plain text.

/// A table: the first column aligned left, the others right.
///
/// Every row must have as many cells as `header`.
pub(crate) fn render(header: &[String], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = std::iter::once(header).chain(rows.iter().map(Vec::as_slice));
        cells.map(|cells| cells[column].chars().count()).max().unwrap_or_default().max(3)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: &[String]| {
        let cells = cells.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
            0 => format!(" {cell:<width$} "),
            _ => format!(" {cell:>width$} "),
        });
        format!("|{}|\n", cells.collect::<Vec<_>>().join("|"))
    };
    let rule = widths.iter().enumerate().map(|(column, width)| match column {
        0 => format!(" {} ", "-".repeat(*width)),
        _ => format!(" {}: ", "-".repeat(width - 1)),
    });
    let rule = format!("|{}|\n", rule.collect::<Vec<_>>().join("|"));
    [line(header), rule].into_iter().chain(rows.iter().map(|row| line(row))).collect()
}

/// A cell with `value`, or an empty one.
pub(crate) fn figure(value: Option<f64>, precision: usize) -> String {
    value.map(|value| format!("{value:.precision$}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let cells = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let table = render(
            &cells(["reader", "none", "adaptive"]),
            &[cells(["one", "6 MB/s", "395 MB/s · 1.00×"]), cells(["random", "–", ""])],
        );
        let expected = "\
| reader |   none |         adaptive |
| ------ | -----: | ---------------: |
| one    | 6 MB/s | 395 MB/s · 1.00× |
| random |      – |                  |
";
        assert_eq!(table, expected);
    }
}
