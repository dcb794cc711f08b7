//! The recordings of folders.

use std::path::{Path, PathBuf};

use forerun_trace::ReadOptions;

use super::{Workload, tell_apart};
use crate::error::Error;

/// The recordings that were found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Those that can be replayed; their names differ.
    pub workloads: Vec<Workload>,
    /// The parts that are not replayed, with reasons: files that cannot be read, files that repeat
    /// others, and accesses after the first ones.
    pub remarks: Vec<String>,
}

/// The recordings in `paths`, which are files or folders of them, in the order of paths, and of names in a
/// folder. With `accesses_max`, each is held in memory as far as its first so many accesses.
///
/// # Errors
/// A path that cannot be looked at, or a file that is named twice.
pub fn find(paths: &[PathBuf], accesses_max: Option<u64>) -> Result<Found, Error> {
    let mut files = Vec::new();
    paths.iter().try_for_each(|path| find_files(path, &mut files))?;
    let mut found = Found::default();
    for file in files {
        let (whole, workload) = match open(&file, accesses_max) {
            Ok(opened) => opened,
            Err(error) => {
                found.remarks.push(format!("left out: {error}"));
                continue;
            }
        };
        if let Some(before) = found.workloads.iter().find(|before| before.repeats(&workload)) {
            found.remarks.push(format!("left out: {}: repeats {}", file.display(), before.path().display()));
            continue;
        }
        if let Some(accesses_max) = accesses_max.filter(|accesses_max| whole > *accesses_max) {
            found.remarks.push(format!("cut: {}: {accesses_max} of {whole} accesses", file.display()));
        }
        found.workloads.push(workload);
    }
    tell_apart(&mut found.workloads)?;
    Ok(found)
}

/// How many accesses the whole recording has, and what is replayed of it.
fn open(file: &Path, accesses_max: Option<u64>) -> Result<(u64, Workload), Error> {
    let whole = Workload::open(file, ReadOptions::default())?;
    let count = whole.scan().access_count;
    Ok((count, accesses_max.map_or(Ok(whole.clone()), |accesses_max| whole.first(accesses_max))?))
}

/// The files in `path`, and in its folders.
fn find_files(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    let unfit = |error: std::io::Error| Error::Unfit {
        name: path.display().to_string(),
        reason: format!("cannot be read: {error}"),
    };
    if !std::fs::metadata(path).map_err(unfit)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let entries = std::fs::read_dir(path).map_err(unfit)?;
    let mut inside =
        entries.map(|entry| Ok(entry.map_err(unfit)?.path())).collect::<Result<Vec<_>, Error>>()?;
    inside.sort();
    inside.iter().filter(|path| !is_text(path)).try_for_each(|path| find_files(path, files))
}

/// Folders have descriptions, too.
fn is_text(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "md" || ending == "json")
}
