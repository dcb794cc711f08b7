//! A new overlay.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use forerun::Result;

use super::super::changes::file_error;
use super::head::Base;
use super::layout::Layout;

/// Creates the file `path` for `base`, unless it exists. It appears as a whole or not at all.
pub(super) fn unless_there(path: &Path, base: &Base) -> Result<()> {
    let created = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => create(path, base),
        // Its opening tells what is wrong with it.
        _ => Ok(()),
    };
    created.map_err(|error| file_error(path, "the overlay cannot be created", error))
}

fn create(path: &Path, base: &Base) -> io::Result<()> {
    let too_long = || io::Error::new(io::ErrorKind::InvalidData, "the version of its base is too long");
    let head = base.encode().ok_or_else(too_long)?;
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new().prefix(".forerun-overlay-").tempfile_in(folder)?;
    file.as_file().set_len(Layout::new(base.size).file_bytes())?;
    file.write_all(&head)?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        // Another server was faster, and its lock decides.
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        done => done?,
    };
    File::open(folder)?.sync_all()
}
