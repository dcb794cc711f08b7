//! The disk image that the machine boots from, as `make bench-vm` makes it.

use std::fs;
use std::path::{Path, PathBuf};

use super::boot_console::{BootStep, step_in};

/// The key of the image in the store.
pub(super) const IMAGE_KEY: &str = "disk.raw";

/// The image, and the result of reading it.
#[derive(Debug)]
pub(super) struct BootImage {
    /// The directory that the store serves.
    pub(super) store: PathBuf,
    pub(super) disk: PathBuf,
    pub(super) size: u64,
    /// The result of `grep -r` where the image was made.
    pub(super) expected: String,
}

impl BootImage {
    /// Opens the image in `folder`.
    ///
    /// # Errors
    /// If it has not been made.
    pub(super) fn open(folder: &Path) -> Result<BootImage, String> {
        let failed = |path: &Path, why: String| format!("{}: {why}: run `make bench-vm`", path.display());
        let store = folder.join("store");
        let disk = store.join(IMAGE_KEY);
        let size = fs::metadata(&disk).map_err(|error| failed(&disk, error.to_string()))?.len();
        let line = folder.join("expected");
        let text = fs::read_to_string(&line).map_err(|error| failed(&line, error.to_string()))?;
        match step_in(&text) {
            Some(BootStep::Grep(expected)) => Ok(BootImage { store, disk, size, expected }),
            _ => Err(failed(&line, "it has no result of grep".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_that_an_image_was_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let error = |folder: &Path| BootImage::open(folder).unwrap_err();
        assert!(error(folder.path()).contains("store/disk.raw: No such file"), "{}", error(folder.path()));
        fs::create_dir(folder.path().join("store")).unwrap();
        fs::write(folder.path().join("store/disk.raw"), "disk").unwrap();
        assert!(error(folder.path()).contains("expected: No such file"));
        fs::write(folder.path().join("expected"), "forerun-vm: shell\n").unwrap();
        assert!(error(folder.path()).ends_with("it has no result of grep: run `make bench-vm`"));
        fs::write(folder.path().join("expected"), "forerun-vm: grep 3 files, 0a\n").unwrap();
        let image = BootImage::open(folder.path()).unwrap();
        assert_eq!((image.size, image.expected.as_str()), (4, "3 files, 0a"));
    }
}
