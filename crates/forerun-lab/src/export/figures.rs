//! Rows of named numbers, for tables that are not of runs.

use super::json::Json;
use super::quoted;

/// A cell of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// Words.
    Text(String),
    /// A whole number.
    Whole(u64),
    /// A share or a ratio.
    Ratio(f64),
    /// It is not known.
    Unknown,
}

impl Figure {
    fn text(&self) -> String {
        match self {
            Figure::Text(text) => text.clone(),
            Figure::Whole(number) => number.to_string(),
            Figure::Ratio(ratio) => format!("{ratio:.6}"),
            Figure::Unknown => String::new(),
        }
    }
}

/// A line of the names, which all rows have in common, and a line for each row.
pub fn figures_csv(rows: &[Vec<(&'static str, Figure)>]) -> String {
    let names = rows.first().map(|row| row.iter().map(|(name, _)| (*name).to_owned()).collect());
    let cells = rows.iter().map(|row| row.iter().map(|(_, figure)| quoted(&figure.text())).collect());
    names.into_iter().chain(cells).map(|cells: Vec<String>| cells.join(",") + "\n").collect()
}

/// An object with a list of the rows.
pub fn figures_json(rows: &[Vec<(&'static str, Figure)>]) -> String {
    let mut json = Json::default();
    json.object(|json| {
        json.key("forerun").text(env!("CARGO_PKG_VERSION"));
        json.key("rows").array(rows, |json, row| {
            json.object(|json| {
                for (name, figure) in row {
                    match figure {
                        Figure::Text(text) => json.key(name).text(text),
                        Figure::Whole(number) => json.key(name).number(*number),
                        Figure::Ratio(ratio) => json.key(name).ratio(*ratio),
                        Figure::Unknown => json.key(name).maybe(None),
                    };
                }
            });
        });
    });
    json.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_lines_and_objects() {
        let row = |text: &str, ratio| {
            vec![("name", Figure::Text(text.to_owned())), ("share", ratio), ("count", Figure::Whole(7))]
        };
        let rows = [row("a, b", Figure::Ratio(0.5)), row("c", Figure::Unknown)];
        assert_eq!(figures_csv(&rows), "name,share,count\n\"a, b\",0.500000,7\nc,,7\n");
        let json = figures_json(&rows);
        assert!(
            json.contains("\"name\": \"a, b\",\n      \"share\": 0.500000,\n      \"count\": 7\n"),
            "{json}"
        );
        assert!(json.contains("\"share\": null"), "{json}");
        assert_eq!(figures_csv(&[]), "");
    }
}
