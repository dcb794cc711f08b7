//! A walk that reads every file of a tree, as `grep -r` and `tar` do.

use std::path::Path;

use super::verified::{MountedBucket, Tally};

const TREE: &str = "tree";
/// The request size of `tar` and many other programs.
const READ_BYTES: usize = 128 << 10;

/// Reads every file of the tree.
pub(super) fn walk(mounted: MountedBucket<'_>) -> Result<Tally, String> {
    directory(mounted, Path::new(TREE))
}

fn directory(mounted: MountedBucket<'_>, path: &Path) -> Result<Tally, String> {
    let failed = |error: std::io::Error| format!("listing {}: {error}", path.display());
    let mut tally = Tally::default();
    for entry in mounted.directory.join(path).read_dir().map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let below = path.join(entry.file_name());
        let more = if entry.file_type().map_err(failed)?.is_dir() {
            directory(mounted, &below)?
        } else {
            let name =
                below.to_str().ok_or_else(|| format!("{} is not a name of the demo", below.display()))?;
            let size = mounted.size_of(name)?;
            mounted.open(name)?.read_all((0..size).step_by(READ_BYTES), READ_BYTES)?
        };
        tally = [tally, more].into_iter().sum();
    }
    Ok(tally)
}
