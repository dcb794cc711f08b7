//! Lists as text.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use forerun::{Forerun, Part};

use super::mounted::{MountedDirectory, not_in_mount, too_many};

/// A longer line names nothing: paths have 4096 bytes at most.
const LINE_BYTES_MAX: u64 = 8192;

/// Where a list comes from.
#[derive(Debug)]
pub(super) enum Input {
    Standard,
    File(PathBuf),
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Input::Standard => f.write_str("standard input"),
            Input::File(path) => path.display().fmt(f),
        }
    }
}

/// The mount that the files of the list `input` are in, and what is to be read of them there. The list's
/// paths are relative to `base`.
///
/// # Errors
/// The first line that is wrong, and why.
pub(super) fn read(input: &Input, base: &Path) -> Result<(MountedDirectory, Vec<Part>), Box<dyn Error>> {
    let failed = |error: io::Error| match input {
        Input::File(path) if error.kind() == io::ErrorKind::NotFound => {
            format!("{} is neither a list nor a file in a mount: {error}", path.display())
        }
        input => format!("{input} cannot be read: {error}"),
    };
    let mut lines: Box<dyn BufRead> = match input {
        Input::Standard => Box::new(io::stdin().lock()),
        Input::File(path) => Box::new(BufReader::new(File::open(path).map_err(failed)?)),
    };
    let base = base.canonicalize().map_err(|error| format!("{}: {error}", base.display()))?;
    let mut places = Places { base, mounted: None, by_parent: HashMap::new() };
    let mut parts = Vec::new();
    for number in 1.. {
        let mut line = Vec::new();
        let len = io::Read::take(&mut lines, LINE_BYTES_MAX).read_until(b'\n', &mut line).map_err(failed)?;
        if len == 0 {
            break;
        }
        let wrong = |what: String| format!("line {number} of {input}: {what}");
        if line.pop_if(|byte| *byte == b'\n').is_none() && len as u64 == LINE_BYTES_MAX {
            return Err(wrong(format!("longer than {LINE_BYTES_MAX} bytes")).into());
        }
        if line.is_empty() {
            continue;
        }
        if parts.len() == Forerun::LIST_PARTS_MAX {
            return Err(wrong(too_many()).into());
        }
        let line = str::from_utf8(&line).map_err(|_| wrong("not UTF-8".to_owned()))?;
        let part: Part = line.parse().map_err(|error: forerun::Error| wrong(error.to_string()))?;
        let path = places.place(&part.path).map_err(|error| wrong(error.to_string()))?;
        parts.push(Part::new(path, part.offset, part.len));
    }
    let mounted = places.mounted.ok_or_else(|| format!("{input} holds no list: it is empty"))?;
    Ok((mounted, parts))
}

/// Where paths are in the mount that the first of them is in.
struct Places {
    base: PathBuf,
    mounted: Option<MountedDirectory>,
    /// Directories that were looked at: the files themselves are not, which may be many.
    by_parent: HashMap<PathBuf, PathBuf>,
}

impl Places {
    fn place(&mut self, path: &str) -> Result<String, Box<dyn Error>> {
        let whole = self.base.join(path);
        let name = whole.file_name().filter(|_| !path.ends_with('/')).ok_or("it names no file")?;
        let parent = whole.parent().unwrap_or(Path::new("/"));
        let place = match self.by_parent.get(parent) {
            Some(place) => place,
            None => {
                let place = self.look_at(parent)?;
                self.by_parent.entry(parent.to_owned()).or_insert(place)
            }
        };
        Ok(text(&place.join(name))?.to_owned())
    }

    fn look_at(&mut self, parent: &Path) -> Result<PathBuf, Box<dyn Error>> {
        let shown = parent.display();
        let canonical = parent.canonicalize().map_err(|error| format!("{shown}: {error}"))?;
        if self.mounted.is_none() {
            self.mounted = Some(MountedDirectory::of(&canonical).ok_or_else(|| not_in_mount(parent))?);
        }
        let Some(mounted) = &self.mounted else { return Ok(PathBuf::new()) };
        Ok(mounted.place(&canonical)?)
    }
}

/// `path` as a line of a list has it.
pub(super) fn text(path: &Path) -> Result<&str, Box<dyn Error>> {
    let shown = path.display();
    let text = path.to_str().ok_or_else(|| format!("{shown} is not UTF-8, so that no mount has it"))?;
    if text.contains(['\t', '\n', '\r', '\0']) {
        return Err(format!("{text:?} holds a tab or a line break, which no list can name").into());
    }
    Ok(text)
}
