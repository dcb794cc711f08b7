//! Tables of plain text, aligned.

use std::fmt;

/// A column's heading and side.
#[derive(Clone, Debug)]
pub struct Column {
    group: String,
    name: String,
    left: bool,
}

impl Column {
    /// A column of numbers: to the right.
    pub fn number(name: &str) -> Column {
        Column { group: String::new(), name: name.to_owned(), left: false }
    }

    /// A column of words: to the left.
    pub fn word(name: &str) -> Column {
        Column { left: true, ..Column::number(name) }
    }

    /// Below `group`, together with its neighbours that are.
    pub fn below(self, group: &str) -> Column {
        Column { group: group.to_owned(), ..self }
    }
}

/// A table; shown by its [`Display`](fmt::Display), without spaces at the ends of lines.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// Between two columns.
const GAP: usize = 2;

impl Table {
    /// A table without rows.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Table {
        Table { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// Adds a row; cells that it lacks are empty.
    ///
    /// # Panics
    /// It has more cells than the table has columns.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert!(row.len() <= self.columns.len(), "{} cells in {} columns", row.len(), self.columns.len());
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
    }

    /// Columns that are below the same word: from, to, and the word.
    fn groups(&self) -> Vec<(usize, usize, &str)> {
        let mut groups: Vec<(usize, usize, &str)> = Vec::new();
        for (at, column) in self.columns.iter().enumerate() {
            match groups.last_mut() {
                Some((_, end, group)) if *group == column.group && !group.is_empty() => *end = at + 1,
                _ => groups.push((at, at + 1, &column.group)),
            }
        }
        groups
    }

    fn widths(&self) -> Vec<usize> {
        let width = |at: usize| {
            let cells = self.rows.iter().map(|row| row[at].chars().count());
            cells.chain([self.columns[at].name.chars().count()]).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        for (from, to, group) in self.groups() {
            let has = widths[from..to].iter().sum::<usize>() + GAP * (to - from - 1);
            widths[from] += group.chars().count().saturating_sub(has);
        }
        widths
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let pad = |text: &str, width: usize, left: bool| match left {
            true => format!("{text:<width$}"),
            false => format!("{text:>width$}"),
        };
        let line = |f: &mut fmt::Formatter<'_>, cells: Vec<String>| {
            writeln!(f, "{}", cells.join(&" ".repeat(GAP)).trim_end())
        };
        if self.columns.iter().any(|column| !column.group.is_empty()) {
            let group = |(from, to, group): (usize, usize, &str)| {
                let width = widths[from..to].iter().sum::<usize>() + GAP * (to - from - 1);
                pad(group, width, self.columns[from].left)
            };
            line(f, self.groups().into_iter().map(group).collect())?;
        }
        let cell = |at: usize, text: &str| pad(text, widths[at], self.columns[at].left);
        line(f, self.columns.iter().enumerate().map(|(at, column)| cell(at, &column.name)).collect())?;
        self.rows
            .iter()
            .try_for_each(|row| line(f, row.iter().enumerate().map(|(at, text)| cell(at, text)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_and_groups_line_up() {
        let number = |name, group| Column::number(name).below(group);
        let mut table = Table::new([
            Column::word("policy"),
            Column::number("time s"),
            number("ops", "readahead"),
            number("MB", "readahead"),
            number("%", "a long word"),
            Column::word(""),
        ]);
        table.row(["none", "9.0", "0", "0", "1", "*"]);
        table.row(["adaptive", "12.34", "12345", "6", "–"]);
        // A continued line would lose its spaces.
        let expected = "                  readahead  a long word
policy    time s    ops  MB            %
none         9.0      0   0            1  *
adaptive   12.34  12345   6            –
";
        assert_eq!(table.to_string(), expected);
    }
}
