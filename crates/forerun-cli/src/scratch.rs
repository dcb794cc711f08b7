//! A folder for the files of one measurement.

use std::path::Path;

use tempfile::TempDir;

/// A new folder, in memory if possible: the machine's own disk would add its time to what is measured.
///
/// # Errors
/// The reason why it cannot be made.
pub(crate) fn scratch() -> Result<TempDir, String> {
    let memory = Path::new("/dev/shm");
    let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let folder = TempDir::with_prefix_in("forerun-bench-", &parent);
    folder.map_err(|error| format!("making a folder in {}: {error}", parent.display()))
}
