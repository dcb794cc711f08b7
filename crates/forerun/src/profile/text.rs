//! A profile as text; `docs/profiles.md` describes it.

use std::fmt::Write;
use std::str::{FromStr, Lines};

use forerun_backend::Version;
use forerun_engine::{Config, Extent};

use super::Profile;
use super::touched::Touched;
use crate::driver::Name;

/// The first line.
const HEADER: &str = "forerun profile 1";

/// A flaw of a text, and its line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    pub(super) line: usize,
    pub(super) what: &'static str,
}

/// `profile` as text.
pub(super) fn write(profile: &Profile) -> String {
    let mut text = format!("{HEADER}\n");
    for (name, touched) in profile.iter() {
        let Name { path, version, size } = name;
        // Writing to a string does not fail.
        let _ = writeln!(text, "object {size} {} {}", escape(&version.0), escape(path));
        let mut before = 0;
        for (Extent { offset, len }, time_ms) in touched.iter() {
            let _ = match time_ms == before {
                true => writeln!(text, "{offset}+{len}"),
                false => writeln!(text, "{offset}+{len}@{time_ms}"),
            };
            before = time_ms;
        }
    }
    let _ = writeln!(text, "end {}", profile.len());
    text
}

/// The profile in `text`.
pub(super) fn read(text: &str) -> Result<Profile, Flaw> {
    let mut reader = LineReader { lines: text.lines(), line: 0 };
    if reader.next() != Some(HEADER) {
        return Err(reader.flaw("it does not begin with \"forerun profile 1\""));
    }
    let mut profile = Profile::default();
    let mut current: Option<(Name, Touched)> = None;
    while let Some(line) = reader.next() {
        let mut words = line.split(' ');
        let first = words.next().unwrap_or_default();
        if (first == "object" || first == "end")
            && let Some((name, touched)) = current.take()
        {
            profile.put(name, touched);
        }
        match (first, current.as_mut()) {
            ("object", _) => {
                let name =
                    object(words).ok_or_else(|| reader.flaw("an object has a size, a version and a path"))?;
                current = Some((name, Touched::default()));
            }
            ("end", _) => {
                let count: Option<usize> = words.next().and_then(|count| count.parse().ok());
                return match (count, reader.next()) {
                    (Some(count), None) if profile.len() == count => Ok(profile),
                    _ => Err(reader.flaw("its end does not match the lines before it")),
                };
            }
            (_, Some((name, touched))) if touched.extents().len() < Config::PLAN_EXTENTS_MAX => {
                let before = touched.times_ms().last().copied().unwrap_or(0);
                let read = extent(line, before).filter(|(extent, _)| extent.offset < name.size);
                let flaw = "an extent is OFFSET+LENGTH or OFFSET+LENGTH@TIME, within its object";
                let (extent, time_ms) = read.ok_or_else(|| reader.flaw(flaw))?;
                touched.push(extent, time_ms);
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

/// The extent of a line, and its time: that of the line `before` it unless it has its own.
fn extent(line: &str, before: u32) -> Option<(Extent, u32)> {
    let (extent, time_ms) = match line.split_once('@') {
        Some((extent, time_ms)) => (extent, time_ms.parse().ok()?),
        None => (line, before),
    };
    let (offset, len) = extent.split_once('+')?;
    let (offset, len) = (u64::from_str(offset).ok()?, u64::from_str(len).ok()?);
    (len > 0 && offset.checked_add(len).is_some()).then_some((Extent::new(offset, len), time_ms))
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

    fn profile() -> Profile {
        let name = |path: &str, version: &str| Name {
            path: path.into(),
            version: Version(version.into()),
            size: 9000,
        };
        let mut profile = Profile::default();
        let touched =
            [(Extent::new(4096, 4096), 0), (Extent::new(0, 4096), 70), (Extent::new(8192, 4096), 70)];
        let touched = touched.into_iter().collect();
        profile.put(name("ü/漢", ""), Touched::default());
        profile.put(name("a/b c%20\n", "\"etag\" 1"), touched);
        profile
    }

    #[test]
    fn it_reads_what_it_writes() {
        let text = write(&profile());
        assert_eq!(
            text,
            "forerun profile 1\nobject 9000 = =ü/漢\nobject 9000 =\"etag\"%201 =a/b%20c%2520%0A\n\
             4096+4096\n0+4096@70\n8192+4096\nend 2\n"
        );
        assert_eq!(read(&text), Ok(profile()));
        assert_eq!(read(&write(&Profile::default())), Ok(Profile::default()));
    }

    #[test]
    fn what_is_no_profile_is_told_by_its_line() {
        let line = |text: &str| read(text).unwrap_err().line;
        let whole = write(&profile());
        assert_eq!(line(""), 1);
        assert_eq!(line("ELF"), 1);
        assert_eq!(line("forerun profile 2\n"), 1);
        assert_eq!(line("forerun profile 1\n0+4096\n"), 2);
        assert_eq!(line("forerun profile 1\nobject 9 =1\n"), 2);
        for extent in [
            "4096",
            "x+1",
            "1+0",
            "9000+1",
            "18446744073709551615+2",
            "+1+1x",
            "0+1@",
            "0+1@-1",
            "0+1@4294967296",
        ] {
            assert_eq!(line(&format!("forerun profile 1\nobject 9000 =1 =a\n{extent}\nend 1\n")), 3);
        }
        for cut in 0..whole.len() - 1 {
            let Some(cut) = whole.get(..cut) else { continue };
            assert!(read(cut).is_err(), "{cut}");
        }
        assert!(read(&format!("{whole}more")).is_err());
    }
}
