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
///
/// One that is wider than [`WIDTH_MAX`] goes on below: each block has the first columns of words
/// again. Columns below one word stay together where they fit. `{:#}` has one line for each row.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// The most characters of a line, unless the first columns and one more are wider.
pub const WIDTH_MAX: usize = 100;

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

    /// How many columns each block begins with: the first, and words that follow it.
    fn key_count(&self) -> usize {
        let words = self.columns.iter().take_while(|column| column.left && !column.name.is_empty());
        let count = words.count();
        if count < self.columns.len() { count.max(1) } else { 1 }
    }

    /// The parts of a table that stand below one another.
    fn blocks(&self) -> Vec<Table> {
        let keys: Vec<usize> = (0..self.key_count().min(self.columns.len())).collect();
        let mut blocks = vec![keys.clone()];
        for unit in self.units(keys.len()) {
            let (last, is_new) = (blocks.len() - 1, blocks[blocks.len() - 1].len() == keys.len());
            let longer = [blocks[last].as_slice(), &unit].concat();
            if is_new || self.part(&longer).width() <= WIDTH_MAX {
                blocks[last] = longer;
            } else {
                blocks.push([keys.as_slice(), &unit].concat());
            }
        }
        blocks.iter().map(|columns| self.part(columns)).collect()
    }

    /// Columns from the one at `start` on that stay together. These are those below one word, and marks
    /// without a name, which belong to the column before them.
    fn units(&self, start: usize) -> Vec<Vec<usize>> {
        let mut units: Vec<Vec<usize>> = Vec::new();
        for at in start..self.columns.len() {
            let (column, before) = (&self.columns[at], &self.columns[at - 1]);
            let is_mark = column.name.is_empty() && column.group.is_empty();
            let is_together = is_mark || (column.group == before.group && !column.group.is_empty());
            match units.last_mut() {
                Some(unit) if is_together => unit.push(at),
                _ => units.push(vec![at]),
            }
        }
        let is_narrow =
            |unit: &[usize]| self.part(&[(0..start).collect(), unit.to_vec()].concat()).width() <= WIDTH_MAX;
        let split = |unit: Vec<usize>| match is_narrow(&unit) {
            true => vec![unit],
            false => unit.into_iter().map(|at| vec![at]).collect(),
        };
        units.into_iter().flat_map(split).collect()
    }

    /// The table with these columns alone.
    fn part(&self, columns: &[usize]) -> Table {
        let cells = |row: &Vec<String>| columns.iter().map(|at| row[*at].clone()).collect();
        Table {
            columns: columns.iter().map(|at| self.columns[*at].clone()).collect(),
            rows: self.rows.iter().map(cells).collect(),
        }
    }

    fn width(&self) -> usize {
        self.widths().iter().sum::<usize>() + GAP * self.columns.len().saturating_sub(1)
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
        let blocks =
            if !f.alternate() && self.width() > WIDTH_MAX { self.blocks() } else { vec![self.clone()] };
        blocks.iter().try_for_each(|block| block.write(f))
    }
}

impl Table {
    /// All columns beside one another.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

    #[test]
    fn a_wide_table_goes_on_below_with_its_first_column() {
        let number = |name: &str, group: &str| Column::number(name).below(group);
        let mut columns = vec![Column::word("policy"), number("time", ""), Column::word("")];
        for group in ["first", "second", "third", "fourth"] {
            columns.extend(["a", "b", "c"].map(|name| number(name, group)));
        }
        let mut table = Table::new(columns);
        table.row(["adaptive", "12.5", "*<"].into_iter().chain(["1234567"; 12]));
        let text = table.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH_MAX), "{text}");
        assert_eq!(lines.iter().filter(|line| line.starts_with("adaptive  ")).count(), 2, "{text}");
        assert_eq!(text.matches("1234567").count(), 12, "{text}");
        assert!(lines[2].starts_with("adaptive  12.5  *<  1234567"), "{text}");
        assert!(lines[3].trim_start().starts_with("fourth"), "columns below a word were torn apart: {text}");
    }

    #[test]
    fn a_group_that_is_too_wide_is_split() {
        let columns = (0..12).map(|_| Column::number("a number").below("all"));
        let mut table = Table::new([Column::word("row")].into_iter().chain(columns));
        table.row(["x"].into_iter().chain(["123456789"; 12]));
        let text = table.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH_MAX), "{text}");
        assert_eq!(text.matches("123456789").count(), 12, "{text}");
    }
}
