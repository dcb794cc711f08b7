//! Whether a directory can be mounted on.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use forerun::{Error, ErrorKind, Result};
use rustix::io::Errno;

use super::remains;

/// Checks that `directory` exists, is a directory and is empty. Returns its full path. Takes out a
/// dead mount of this user first.
///
/// # Errors
/// [`ErrorKind::Invalid`] with the reason and the remedy.
pub fn check_mount_point(directory: &Path) -> Result<PathBuf> {
    let shown = directory.display();
    let invalid = |message: String| Error::new(ErrorKind::Invalid, message);
    let mut metadata = fs::metadata(directory);
    if metadata.as_ref().is_err_and(is_dead_mount) {
        match remains::remove(directory) {
            Ok(true) => {
                tracing::info!(target: "forerun::mount", "took a mount out of {shown} whose program is gone");
                metadata = fs::metadata(directory);
            }
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(target: "forerun::mount", "the dead mount on {shown} stays: {error}")
            }
        }
    }
    let metadata = metadata.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            invalid(format!("the mount point {shown} does not exist: create it with `mkdir -p {shown}`"))
        }
        _ if is_dead_mount(&error) => invalid(format!(
            "the mount point {shown} holds a mount whose program is gone: \
             remove it with `fusermount3 -u {shown}` (as root `umount {shown}`)"
        )),
        _ => invalid(format!("the mount point {shown} cannot be used: {error}")),
    })?;
    if !metadata.is_dir() {
        return Err(invalid(format!("the mount point {shown} is not a directory: give an empty directory")));
    }
    let mut content = fs::read_dir(directory)
        .map_err(|error| invalid(format!("the mount point {shown} cannot be read: {error}")))?;
    if content.next().is_some() {
        return Err(invalid(format!(
            "the mount point {shown} is not empty, and a mount would hide its files: give an empty \
             directory, or unmount the one mounted there"
        )));
    }
    fs::canonicalize(directory)
        .map_err(|error| invalid(format!("the mount point {shown} cannot be resolved: {error}")))
}

/// Whether `error` is that of a FUSE mount whose program is gone.
pub(crate) fn is_dead_mount(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NOTCONN | Errno::CONNABORTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(directory: &Path) -> String {
        let error = check_mount_point(directory).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid);
        error.message
    }

    #[test]
    fn only_an_empty_directory_will_do() {
        let temp = tempfile::tempdir().unwrap();
        assert_eq!(check_mount_point(temp.path()).unwrap(), temp.path().canonicalize().unwrap());

        assert!(message(&temp.path().join("none")).contains("does not exist: create it with `mkdir"));
        let file = temp.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(message(&file).contains("is not a directory"));
        assert!(message(temp.path()).contains("is not empty"));
    }
}
