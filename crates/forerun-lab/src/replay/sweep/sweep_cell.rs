//! One cell, and its file.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::super::cell::{Cell, Job, Part};
use super::super::describe;
use super::digest::digest_of;
use super::numbers;
use crate::error::Error;

/// The bounds of a place, or one policy in it with all seeds.
#[derive(Debug)]
pub(super) struct SweepCell<'a> {
    name: String,
    /// All that the result depends on, in words.
    key: String,
    jobs: Vec<Job<'a>>,
}

/// The state in which a process found the file of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellFile {
    /// It had a result.
    Whole,
    /// It had something else, such as half of a result.
    Damaged,
    /// There was none.
    Missing,
}

impl<'a> SweepCell<'a> {
    /// The cell of `jobs` in `place`, which have a policy in common. `head` names program and recording.
    pub(super) fn new(head: &str, place: Cell<'a>, jobs: Vec<Job<'a>>) -> SweepCell<'a> {
        let settings = place.settings;
        let window = settings.window_bytes_max.map_or("its own".to_owned(), |bytes| bytes.to_string());
        // The bounds are of the first seed only.
        let what = match jobs.first().and_then(Job::contender) {
            None => format!("bounds, seed {}", settings.seed),
            Some(name) => {
                format!("policy {name}, window {window}, {} seeds from {}", settings.repeat, settings.seed)
            }
        };
        let key = format!(
            "{head}accesses {}, {}, each costs {} ns\ndevice {:?}\nmemory {}\n{what}\n",
            place.workload.scan().access_count,
            describe(settings.pace_of(place.workload)),
            settings.read_cost_ns,
            place.device,
            place.memory_bytes,
        );
        let mut name = digest_of(&key);
        name.truncate(32);
        SweepCell { name: name + ".cell", key, jobs }
    }

    /// The name of its file.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Runs it, unless its file in `folder` is whole.
    pub(super) fn fill(&self, folder: &Path) -> Result<CellFile, Error> {
        let found = self.look(folder)?;
        if let (CellFile::Whole, _) = found {
            return Ok(CellFile::Whole);
        }
        let parts = self.jobs.iter().map(Job::run).collect::<Result<Vec<_>, _>>()?;
        let text = self.key.clone() + &numbers::write(&parts);
        let sum = digest_of(&text);
        put(folder, &self.name, &format!("{text}sha256 {sum}\n"))
            .map_err(|error| self.error(folder, &error, "make room, or name a folder that you may write"))?;
        Ok(found.0)
    }

    /// Its parts, which [`SweepCell::fill`] has left in `folder`.
    pub(super) fn read(&self, folder: &Path) -> Result<Vec<Part>, Error> {
        let gone = io::Error::other("it was removed or changed meanwhile");
        self.look(folder)?.1.ok_or_else(|| self.error(folder, &gone, "run the command again"))
    }

    /// The state of its file, and the parts if it is whole.
    fn look(&self, folder: &Path) -> Result<(CellFile, Option<Vec<Part>>), Error> {
        let bytes = match fs::read(folder.join(&self.name)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((CellFile::Missing, None)),
            Err(error) => return Err(self.error(folder, &error, "remove it, or let it be read")),
        };
        let parts = String::from_utf8(bytes).ok().and_then(|text| self.parts(&text));
        Ok((if parts.is_some() { CellFile::Whole } else { CellFile::Damaged }, parts))
    }

    /// The parts in the file's `text`, if it is the whole text of this cell.
    fn parts(&self, text: &str) -> Option<Vec<Part>> {
        let (said, sum) = text.strip_suffix('\n')?.rsplit_once('\n')?;
        let said = &text[..=said.len()];
        if sum.strip_prefix("sha256 ")? != digest_of(said) {
            return None;
        }
        let parts = numbers::read(said.strip_prefix(&self.key)?)?;
        (parts.len() == self.jobs.len()).then_some(parts)
    }

    fn error(&self, folder: &Path, error: &io::Error, advice: &str) -> Error {
        let name = folder.join(&self.name).display().to_string();
        Error::Unfit { name, reason: format!("{error}; {advice}") }
    }
}

/// Puts `text` into `folder` as the file `name`, as a whole or not at all.
fn put(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let mut new = tempfile::Builder::new();
    // Another user may collect the results. The process's mask takes its bits away.
    new.prefix(".").suffix(".new").permissions(Permissions::from_mode(0o666));
    let mut file = new.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(folder.join(name))?;
    Ok(())
}
