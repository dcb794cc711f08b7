//! The recordings of folders.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use forerun_trace::{Access, Op, ReadOptions};

use super::Case;
use crate::error::Error;
use crate::workload::{Failure, Workload, tell_apart};

/// Of reads' bytes, in percent: with more that continue something, a recording is one of streams.
const STREAM_PERCENT: u64 = 75;

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Recordings {
    /// Those that can be replayed.
    pub cases: Vec<Case>,
    /// What of them is not, and why: files that cannot be read, files that repeat others, and what
    /// comes after the first accesses.
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
    let case = |workload: Workload| Case { is_stream: is_stream(&workload), workload };
    found.cases = workloads.into_iter().map(case).collect();
    Ok(found)
}

/// The files in `path`, and in its folders.
fn find(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    let unfit = |error: std::io::Error| Error::Unfit {
        name: path.display().to_string(),
        reason: format!("cannot be looked at: {error}"),
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

/// Whether most bytes are read where an earlier read of the same file ended, or up to where
/// one began.
pub fn is_stream(workload: &Workload) -> bool {
    let (mut ends, mut begins) = (HashSet::new(), HashSet::new());
    let mut continued_bytes = 0;
    let is_read = |access: &Access| access.op == Op::Read && access.extent.len > 0;
    for Access { file, extent, .. } in workload.accesses(&Failure::default()).filter(is_read) {
        let continues = ends.contains(&(file, extent.offset)) || begins.contains(&(file, extent.end()));
        continued_bytes += if continues { extent.len } else { 0 };
        ends.insert((file, extent.end()));
        begins.insert((file, extent.offset));
    }
    continued_bytes * 100 > workload.scan().read_bytes * STREAM_PERCENT
}
