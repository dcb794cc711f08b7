//! Recordings that are too large for the repository: in the folder that `FORERUN_SHARED` names, or
//! in `shared` next to the repository.

use std::path::{Path, PathBuf};

/// The path of the recording `name`, a file or a folder.
pub(crate) fn shared(name: &str) -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("FORERUN_SHARED").map_or(beside, PathBuf::from);
    let path = folder.join("traces").join(name);
    assert!(path.exists(), "{} is not here; set FORERUN_SHARED to the folder of recordings", path.display());
    path
}
