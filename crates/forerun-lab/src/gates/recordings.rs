//! The recordings of folders, and their kinds.

use std::path::PathBuf;

use super::{Case, kind};
use crate::error::Error;
use crate::workload::{Workload, find};

/// The recordings that were found.
#[derive(Clone, Debug, Default)]
pub struct Recordings {
    /// Those that can be replayed.
    pub cases: Vec<Case>,
    /// The parts that are not replayed, with reasons.
    pub remarks: Vec<String>,
}

/// The recordings that [`find`] finds in `paths`, each as far as its first `accesses_max` accesses.
///
/// # Errors
/// As [`find`].
pub fn recordings(paths: &[PathBuf], accesses_max: u64) -> Result<Recordings, Error> {
    let found = find(paths, Some(accesses_max))?;
    let case = |workload: Workload| Case { kind: kind(&workload), workload };
    Ok(Recordings { cases: found.workloads.into_iter().map(case).collect(), remarks: found.remarks })
}
