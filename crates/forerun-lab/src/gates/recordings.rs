//! The recordings of folders.

use std::path::{Path, PathBuf};

use forerun_trace::ReadOptions;

use super::{Case, kind};
use crate::error::Error;
use crate::workload::{Workload, tell_apart};

/// The recordings that were found.
#[derive(Clone, Debug, Default)]
pub struct Recordings {
    /// Those that can be replayed.
    pub cases: Vec<Case>,
    /// The parts that are not replayed, with reasons: files that cannot be read, files that repeat
    /// others, and accesses after the first ones.
    pub remarks: Vec<String>,
}

/// The recordings in `paths`, which are files or folders of them, each as far as its first
/// `accesses_max` accesses. They are in the order of paths, and of names in a folder.
///
/// # Errors
/// A path that cannot be looked at, or a file that is named twice.
pub fn recordings(paths: &[PathBuf], accesses_max: u64) -> Result<Recordings, Error> {
    let mut files = Vec::new();
    paths.iter().try_for_each(|path| find(path, &mut files))?;
    let mut found = Recordings::default();
    let mut workloads: Vec<Workload> = Vec::new();
    for file in files {
        let opened = Workload::open(&file, ReadOptions::default());
        let (whole, workload) =
            match opened.and_then(|whole| Ok((whole.scan().access_count, whole.first(accesses_max)?))) {
                Ok(opened) => opened,
                Err(error) => {
                    found.remarks.push(format!("left out: {error}"));
                    continue;
                }
            };
        if let Some(before) = workloads.iter().find(|before| before.repeats(&workload)) {
            found.remarks.push(format!("left out: {}: repeats {}", file.display(), before.path().display()));
            continue;
        }
        if whole > accesses_max {
            found.remarks.push(format!("cut: {}: {accesses_max} of {whole} accesses", file.display()));
        }
        workloads.push(workload);
    }
    tell_apart(&mut workloads)?;
    let case = |workload: Workload| Case { kind: kind(&workload), workload };
    found.cases = workloads.into_iter().map(case).collect();
    Ok(found)
}

/// The files in `path`, and in its folders.
fn find(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
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
    inside.iter().filter(|path| !is_text(path)).try_for_each(|path| find(path, files))
}

/// Folders have descriptions, too.
fn is_text(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "md" || ending == "json")
}
