//! One line of a list.

use std::fmt;
use std::str::FromStr;

use forerun_backend::{Error, ErrorKind};

/// Bytes of one file that will be read; see [`Forerun::prefetch`](crate::Forerun::prefetch).
///
/// As text it is `PATH`, `PATH<TAB>OFFSET` or `PATH<TAB>OFFSET<TAB>LENGTH`, so that a name with spaces
/// needs no quotes. A name that holds a tab or a line break has no such text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The file's path, as [`Forerun::open`](crate::Forerun::open) takes it.
    pub path: String,
    /// The first byte.
    pub offset: u64,
    /// How many bytes; nothing for all up to the file's end.
    pub len: Option<u64>,
}

impl Part {
    /// `len` bytes of the file at `path` from `offset` on, or all up to its end.
    pub fn new(path: impl Into<String>, offset: u64, len: Option<u64>) -> Part {
        Part { path: path.into(), offset, len }
    }

    /// All of the file at `path`.
    pub fn whole(path: impl Into<String>) -> Part {
        Part::new(path, 0, None)
    }
}

impl FromStr for Part {
    type Err = Error;

    fn from_str(line: &str) -> Result<Part, Error> {
        let mut words = line.split('\t');
        let path = words.next().filter(|path| !path.is_empty()).ok_or_else(|| wrong("there is no path"))?;
        let offset = words.next().map(|word| number(word, "offset")).transpose()?;
        let len = words.next().map(|word| number(word, "length")).transpose()?;
        if words.next().is_some() {
            return Err(wrong("there is something after the length"));
        }
        let offset = offset.unwrap_or(0);
        if len == Some(0) {
            return Err(wrong("the length is 0"));
        }
        if offset.checked_add(len.unwrap_or(0)).is_none() {
            return Err(wrong("the offset and the length are larger than any file"));
        }
        Ok(Part { path: path.to_owned(), offset, len })
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part { path, offset: 0, len: None } => f.write_str(path),
            Part { path, offset, len: None } => write!(f, "{path}\t{offset}"),
            Part { path, offset, len: Some(len) } => write!(f, "{path}\t{offset}\t{len}"),
        }
    }
}

fn number(word: &str, what: &str) -> Result<u64, Error> {
    word.parse().map_err(|_| wrong(&format!("the {what} {word:?} is no number of bytes")))
}

fn wrong(what: &str) -> Error {
    let message = format!("{what}; a line is PATH, tab, OFFSET, tab, LENGTH, the last two if wanted");
    Error::new(ErrorKind::Invalid, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_a_file_or_a_part_of_it() {
        for (line, expected) in [
            ("a b/c", Part::new("a b/c", 0, None)),
            ("a\t4096", Part::new("a", 4096, None)),
            ("a\t0\t1", Part::new("a", 0, Some(1))),
            (" x\t7\t8", Part::new(" x", 7, Some(8))),
        ] {
            assert_eq!(line.parse::<Part>().unwrap(), expected);
            assert_eq!(expected.to_string(), line);
        }
    }

    #[test]
    fn a_line_that_is_wrong_says_what_is_wrong() {
        for (line, said) in [
            ("", "no path"),
            ("\t0", "no path"),
            ("a\tb", "the offset \"b\" is no number"),
            ("a\t-1", "the offset \"-1\" is no number"),
            ("a\t0\t1 ", "the length \"1 \" is no number"),
            ("a\t0\t0", "the length is 0"),
            ("a\t0\t1\t2", "after the length"),
            ("a\t18446744073709551615\t1", "larger than any file"),
        ] {
            let error = line.parse::<Part>().unwrap_err().to_string();
            assert!(error.contains(said), "{line:?}: {error}");
        }
    }
}
