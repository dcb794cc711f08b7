//! The figures of the documents that Forerun grew from.
//!
//! They are files of this crate (`data/`), one per document and kind. A table is a
//! file, or the rows of a file that agree in one column.

use std::collections::BTreeSet;

/// The files: name, column that tells its tables apart (none: it is one table),
/// content.
const FILES: &[(&str, Option<&str>, &str)] = &[
    ("s000_claims", Some("claim"), include_str!("../../data/s000_claims.csv")),
    ("s000_lighttpd", None, include_str!("../../data/s000_lighttpd.csv")),
    ("s000_pairs", Some("table"), include_str!("../../data/s000_pairs.csv")),
    ("s000_random_reads", Some("case"), include_str!("../../data/s000_random_reads.csv")),
    ("s001_blktrace", Some("pattern"), include_str!("../../data/s001_blktrace.csv")),
    ("s001_unplug", None, include_str!("../../data/s001_unplug.csv")),
    ("s002_overhead", Some("experiment"), include_str!("../../data/s002_overhead.csv")),
    ("s003_rbd", Some("workload"), include_str!("../../data/s003_rbd.csv")),
    ("s004_fairness", None, include_str!("../../data/s004_fairness.csv")),
];

/// The name of every table: `file` or `file/value of its column`.
pub fn tables() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (file, column, content) in FILES {
        match column {
            None => {
                names.insert((*file).to_owned());
            }
            Some(column) => {
                let rows = rows_of(content);
                names.extend(rows.iter().map(|row| format!("{file}/{}", row.text(column))));
            }
        }
    }
    names
}

/// The rows of a table, in their order.
///
/// # Panics
/// There is no such table: names are constants of this crate.
pub fn rows(table: &str) -> Vec<Record> {
    let (name, value) = table.split_once('/').map_or((table, None), |(name, value)| (name, Some(value)));
    let (_, column, content) =
        FILES.iter().find(|(file, ..)| *file == name).unwrap_or_else(|| panic!("no file of figures {name}"));
    let rows = rows_of(content);
    let rows = match (column, value) {
        (Some(column), Some(value)) => rows.into_iter().filter(|row| row.text(column) == value).collect(),
        _ => rows,
    };
    assert!(!rows.is_empty(), "no table of figures {table}");
    rows
}

/// One row.
#[derive(Clone, Debug)]
pub struct Record {
    cells: Vec<(&'static str, String)>,
}

impl Record {
    /// The values under `column`.
    ///
    /// # Panics
    /// There is no such column.
    pub fn text(&self, column: &str) -> &str {
        let cell = self.cells.iter().find(|(name, _)| *name == column);
        cell.map_or_else(|| panic!("no column {column}"), |(_, text)| text)
    }

    /// The number that stands under `column`; of minutes and seconds, the seconds.
    ///
    /// # Panics
    /// It is no number.
    pub fn number(&self, column: &str) -> f64 {
        let text = self.text(column);
        let seconds = text.split(':').try_fold(0.0, |sum, part| Some(sum * 60.0 + part.parse::<f64>().ok()?));
        seconds.unwrap_or_else(|| panic!("{text} under {column} is no number"))
    }
}

fn rows_of(content: &'static str) -> Vec<Record> {
    let mut lines = content.lines();
    let names = cells_of(lines.next().unwrap_or_default());
    let names: Vec<&'static str> = names.into_iter().map(|name| name.trim_matches('"')).collect();
    lines
        .filter(|line| !line.is_empty())
        .map(|line| {
            let cells = cells_of(line).into_iter().map(|cell| cell.trim_matches('"').to_owned());
            Record { cells: names.iter().copied().zip(cells).collect() }
        })
        .collect()
}

/// Cuts a line at its commas, those in quotes excepted.
fn cells_of(line: &'static str) -> Vec<&'static str> {
    let mut cells = Vec::new();
    let (mut start, mut quoted) = (0, false);
    for (at, letter) in line.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => {
                cells.push(&line[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    cells.push(&line[start..]);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read() {
        assert_eq!(rows("s003_rbd/boot-ide")[1].number("time_s"), 11.42);
        assert_eq!(rows("s004_fairness")[1].number("last_finished"), 336.0);
        assert_eq!(rows("s000_pairs/backward").len(), 2);
        let claim = &rows("s000_claims/800 slow streams in 64 MB of memory without thrashing")[0];
        assert_eq!(claim.text("value"), "0.15 % of readahead requests thrashed; stock limit 70 streams");
        assert_eq!(tables().len(), 5 + 1 + 6 + 5 + 2 + 1 + 2 + 4 + 1);
    }

    /// In the folder where the documents' tables are kept, if it is there.
    #[test]
    fn figures_are_those_of_the_documents() {
        let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/seeds");
        for (file, _, content) in FILES {
            match std::fs::read_to_string(format!("{seeds}/{file}.csv")) {
                Ok(original) => assert_eq!(*content, original, "{file}"),
                Err(_) => println!("{seeds} is not there: {file} is not compared"),
            }
        }
    }
}
