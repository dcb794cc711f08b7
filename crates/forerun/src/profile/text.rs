//! Profiles as text; `docs/profiles.md` describes it.

use std::fmt::Write;
use std::str::{FromStr, Lines};

use forerun_backend::Version;
use forerun_engine::{Config, Extent};

use super::Profiles;
use crate::driver::Name;

/// The first line.
const HEADER: &str = "forerun profile 1";

/// A flaw of a text, and its line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    pub(super) line: usize,
    pub(super) what: &'static str,
}

/// `profiles` as text.
pub(super) fn write(profiles: &Profiles) -> String {
    let mut text = format!("{HEADER}\n");
    for (name, extents) in profiles.iter() {
        let Name { path, version, size } = name;
        // Writing to a string does not fail.
        let _ = writeln!(text, "object {size} {} {}", escape(&version.0), escape(path));
        for extent in extents {
            let _ = writeln!(text, "{}+{}", extent.offset, extent.len);
        }
    }
    let _ = writeln!(text, "end {}", profiles.len());
    text
}

/// The profiles in `text`.
pub(super) fn read(text: &str) -> Result<Profiles, Flaw> {
    let mut reader = LineReader { lines: text.lines(), line: 0 };
    if reader.next() != Some(HEADER) {
        return Err(reader.flaw("it does not begin with \"forerun profile 1\""));
    }
    let mut profiles = Profiles::default();
    let mut current: Option<(Name, Vec<Extent>)> = None;
    while let Some(line) = reader.next() {
        let mut words = line.split(' ');
        let first = words.next().unwrap_or_default();
        if (first == "object" || first == "end")
            && let Some((name, extents)) = current.take()
        {
            profiles.put(name, extents);
        }
        match (first, current.as_mut()) {
            ("object", _) => {
                let name =
                    object(words).ok_or_else(|| reader.flaw("an object has a size, a version and a path"))?;
                current = Some((name, Vec::new()));
            }
            ("end", _) => {
                let count: Option<usize> = words.next().and_then(|count| count.parse().ok());
                return match (count, reader.next()) {
                    (Some(count), None) if profiles.len() == count => Ok(profiles),
                    _ => Err(reader.flaw("its end does not match the lines before it")),
                };
            }
            (_, Some((name, extents))) if extents.len() < Config::PLAN_EXTENTS_MAX => {
                let extent = extent(line).filter(|extent| extent.offset < name.size);
                extents.push(
                    extent.ok_or_else(|| reader.flaw("an extent is OFFSET+LENGTH, within its object"))?,
                );
            }
            _ => return Err(reader.flaw("an object or the end must stand here")),
        }
    }
    Err(reader.flaw("it has no end: it was cut short"))
}

struct LineReader<'a> {
    lines: Lines<'a>,
    line: usize,
}

impl<'a> LineReader<'a> {
    fn next(&mut self) -> Option<&'a str> {
        self.line += 1;
        self.lines.next()
    }

    fn flaw(&self, what: &'static str) -> Flaw {
        Flaw { line: self.line, what }
    }
}

fn object<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Name> {
    let size = words.next()?.parse().ok()?;
    let version = Version(unescape(words.next()?)?.into());
    let path = unescape(words.next()?)?.into();
    words.next().is_none().then_some(Name { path, version, size })
}

fn extent(line: &str) -> Option<Extent> {
    let (offset, len) = line.split_once('+')?;
    let (offset, len) = (u64::from_str(offset).ok()?, u64::from_str(len).ok()?);
    (len > 0 && offset.checked_add(len).is_some()).then_some(Extent::new(offset, len))
}

/// `word` without spaces and line ends, and not empty: those and `%` are percent-encoded.
fn escape(word: &str) -> String {
    let mut text = String::from("=");
    for c in word.chars() {
        match c {
            '%' | ' ' => _ = write!(text, "%{:02X}", c as u32),
            c if c.is_control() => _ = write!(text, "%{:02X}", c as u32),
            c => text.push(c),
        }
    }
    text
}

fn unescape(word: &str) -> Option<String> {
    let mut text = String::new();
    let mut parts = word.strip_prefix('=')?.split('%');
    text.push_str(parts.next()?);
    for part in parts {
        let code = u8::from_str_radix(part.get(..2)?, 16).ok()?;
        text.push(char::from(code));
        text.push_str(part.get(2..)?);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profiles() -> Profiles {
        let name = |path: &str, version: &str| Name {
            path: path.into(),
            version: Version(version.into()),
            size: 9000,
        };
        let mut profiles = Profiles::default();
        let touched = vec![Extent::new(4096, 4096), Extent::new(0, 4096)];
        profiles.put(name("ü/漢", ""), vec![]);
        profiles.put(name("a/b c%20\n", "\"etag\" 1"), touched);
        profiles
    }

    #[test]
    fn it_reads_what_it_writes() {
        let text = write(&profiles());
        assert_eq!(
            text,
            "forerun profile 1\nobject 9000 = =ü/漢\nobject 9000 =\"etag\"%201 =a/b%20c%2520%0A\n\
             4096+4096\n0+4096\nend 2\n"
        );
        assert_eq!(read(&text), Ok(profiles()));
        assert_eq!(read(&write(&Profiles::default())), Ok(Profiles::default()));
    }

    #[test]
    fn what_is_no_profile_is_told_by_its_line() {
        let line = |text: &str| read(text).unwrap_err().line;
        let whole = write(&profiles());
        assert_eq!(line(""), 1);
        assert_eq!(line("ELF"), 1);
        assert_eq!(line("forerun profile 2\n"), 1);
        assert_eq!(line("forerun profile 1\n0+4096\n"), 2);
        assert_eq!(line("forerun profile 1\nobject 9 =1\n"), 2);
        for extent in ["4096", "x+1", "1+0", "9000+1", "18446744073709551615+2", "+1+1x"] {
            assert_eq!(line(&format!("forerun profile 1\nobject 9000 =1 =a\n{extent}\nend 1\n")), 3);
        }
        for cut in 0..whole.len() - 1 {
            let Some(cut) = whole.get(..cut) else { continue };
            assert!(read(cut).is_err(), "{cut}");
        }
        assert!(read(&format!("{whole}more")).is_err());
    }
}
