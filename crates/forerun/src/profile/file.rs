//! The file that a profile is kept in.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use forerun_backend::{Error, ErrorKind, Result};

use super::{Profile, text};

/// A file past it is none of ours: it would hold more than is kept.
const BYTES_MAX: u64 = 256 << 20;

/// The profile in the file at `path`; none if there is no file.
pub(super) fn read(path: &Path) -> Result<Option<Profile>> {
    let shown = path.display();
    let invalid = |what: String| {
        let advice = "name a profile, or for --learn move that file away to start a new one";
        Error::new(ErrorKind::Invalid, format!("{shown} is not a profile of Forerun: {what}; {advice}"))
    };
    let text = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Ok(file) if !file.is_file() => return Err(invalid("it is not a file".to_owned())),
        Ok(file) if file.len() > BYTES_MAX => {
            return Err(invalid(format!("it is too large ({} bytes)", file.len())));
        }
        _ => fs::read(path).map_err(|error| {
            let advice = "make it readable, or name another file";
            let message = format!("the profile {shown} cannot be read: {error}; {advice}");
            Error::new(ErrorKind::Invalid, message).with_source(error)
        })?,
    };
    let text = String::from_utf8(text).map_err(|_| invalid("it is not text".to_owned()))?;
    match text::read(&text) {
        Ok(profile) => Ok(Some(profile)),
        Err(text::Flaw { line, what }) => Err(invalid(format!("in line {line}, {what}"))),
    }
}

/// Whether [`write`] could put something at `path` now.
pub(super) fn check_writable(path: &Path) -> Result<()> {
    let new = beside(path);
    fs::File::create(&new).and_then(|_| fs::remove_file(&new)).map_err(|error| not_written(path, error))
}

/// Puts `profile` in the place of what was at `path`, as a whole or not at all.
pub(super) fn write(path: &Path, profile: &Profile) -> Result<()> {
    let new = beside(path);
    let written = write_all(&new, text::write(profile).as_bytes()).and_then(|()| fs::rename(&new, path));
    written.map_err(|error| {
        // It may not even be there.
        let _ = fs::remove_file(&new);
        not_written(path, error)
    })
}

/// Where what is to be at `path` is written first.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    path.with_file_name(name)
}

fn not_written(path: &Path, error: io::Error) -> Error {
    let shown = path.display();
    let advice = "name a file in a directory that you may write";
    let message = format!("the profile {shown} cannot be written: {error}; {advice}");
    Error::new(ErrorKind::Permanent, message).with_source(error)
}

fn write_all(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
