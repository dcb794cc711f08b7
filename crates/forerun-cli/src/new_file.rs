//! Checks of a file that a command is going to write, before it works.

use std::fs;
use std::path::Path;

/// Refuses to overwrite an input.
pub(crate) fn check_output(output: &Path, inputs: &[&Path]) -> Result<(), String> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    match real(output).is_some_and(|output| inputs.iter().any(|input| real(input) == Some(output.clone()))) {
        true => Err(format!("{} is both read and written; write to another file", output.display())),
        false => Ok(()),
    }
}

/// Refuses to overwrite a file without `--force`.
pub(crate) fn check_new(output: &Path, force: bool) -> Result<(), String> {
    match !force && output.is_file() {
        true => Err(format!("{} exists: write to another file, or replace it by --force", output.display())),
        false => Ok(()),
    }
}

/// Refuses a path in a missing folder.
pub(crate) fn check_folder(path: &Path) -> Result<(), String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder.filter(|folder| !folder.is_dir()) {
        Some(folder) => {
            Err(format!("cannot write {}: there is no folder {}", path.display(), folder.display()))
        }
        None if path.is_dir() => Err(format!("cannot write {}: it is a folder", path.display())),
        None => Ok(()),
    }
}
