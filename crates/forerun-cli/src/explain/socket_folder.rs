//! The sockets of running mounts: one folder for each user, which others cannot read, with a socket
//! for each process.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The end of a socket's name, after the process id.
const ENDING: &str = "sock";

/// The folders that may hold this user's sockets, best first.
pub(super) fn folders() -> Vec<PathBuf> {
    let user = rustix::process::geteuid();
    let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let system = user.is_root().then(|| PathBuf::from("/run"));
    let own = PathBuf::from(format!("/tmp/forerun-{}", user.as_raw()));
    session.into_iter().chain(system).map(|path| path.join("forerun")).chain([own]).collect()
}

/// The first folder that exists or can be made.
///
/// # Errors
/// If none can; that of the last.
pub(super) fn folder() -> io::Result<PathBuf> {
    let mut result = Err(io::ErrorKind::NotFound.into());
    for path in folders() {
        let made = match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => check(&path),
        };
        result = made.map(|()| path);
        if result.is_ok() {
            break;
        }
    }
    result
}

/// Checks that `folder` belongs to this user alone: others may make folders in /tmp.
pub(super) fn check(folder: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(folder)?;
    let is_own = found.is_dir() && found.uid() == rustix::process::geteuid().as_raw();
    if is_own && found.mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "it does not belong to this user alone"))
}

/// The socket of `process` in `folder`.
pub(super) fn socket(folder: &Path, process: u32) -> PathBuf {
    folder.join(format!("{process}.{ENDING}"))
}

/// The process id of the socket `path`.
pub(super) fn process(path: &Path) -> Option<u32> {
    let is_socket = path.extension().is_some_and(|ending| ending == ENDING);
    path.file_stem().filter(|_| is_socket)?.to_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_socket_is_named_by_its_process() {
        assert_eq!(process(&socket(Path::new("/run/forerun"), 17)), Some(17));
        for other in ["17", "17.txt", "x.sock", "/run/17.sock/x"] {
            assert_eq!(process(Path::new(other)), None, "{other}");
        }
    }

    #[test]
    fn a_folder_that_others_can_look_into_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        for (mode, is_fine) in [(0o700, true), (0o755, false), (0o770, false)] {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(check(folder.path()).is_ok(), is_fine, "{mode:o}");
        }
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        assert!(check(&link).is_err());
    }
}
