//! The device, the programs and the limits that a mount needs of this machine.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, geteuid, getrlimit};

use super::finding::{Finding, Level};

const DEVICE: &str = "/dev/fuse";
const HELPER: &str = "fusermount3";
const SETTINGS: &str = "/etc/fuse.conf";
/// The capability that mounts (`CAP_SYS_ADMIN`).
const MAY_MOUNT: u32 = 21;
const SET_USER_ID: u32 = 0o4000;
/// Descriptors that a busy mount needs: one for each connection, of which there may be hundreds.
const FILES_MIN: u64 = 1024;

/// Checks this machine for a mount of this user, for other users too if `allow_other`.
pub(super) fn check(allow_other: bool) -> Vec<Finding> {
    let is_root = geteuid().is_root();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let settings = fs::read_to_string(SETTINGS).unwrap_or_default();
    let right = if is_root { capability(&status) } else { helper(find(HELPER).as_deref(), &status) };
    vec![
        device(OpenOptions::new().read(true).write(true).open(DEVICE).map(drop)),
        right,
        others(is_root, allow_other, &settings),
        files(getrlimit(Resource::Nofile).current),
    ]
}

fn device(opened: io::Result<()>) -> Finding {
    let fault = |message: String| Finding::new(Level::Fault, "device", message);
    match opened {
        Ok(()) => Finding::new(Level::Ok, "device", format!("{DEVICE} can be opened")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => fault(format!(
            "{DEVICE} does not exist: run `modprobe fuse` as root, or start the container with `--device {DEVICE}`"
        )),
        Err(error) => fault(format!(
            "{DEVICE} cannot be opened ({error}): start the container with `--device {DEVICE}`, or run \
             `chmod 666 {DEVICE}` as root"
        )),
    }
}

/// Whether root may mount, which a container takes away.
fn capability(status: &str) -> Finding {
    let effective = field(status, "CapEff:").and_then(|value| u64::from_str_radix(value, 16).ok());
    if effective.is_none_or(|effective| effective >> MAY_MOUNT & 1 == 1) {
        return Finding::new(Level::Ok, "right", "this process is root, and may mount");
    }
    let message = "this process is root without CAP_SYS_ADMIN: start the container with `--cap-add SYS_ADMIN`, or \
                   serve a descriptor (docs/containers.md)";
    Finding::new(Level::Fault, "right", message)
}

/// Whether the set-user-id program `path` mounts for this process.
fn helper(path: Option<&Path>, status: &str) -> Finding {
    let fault = |message: String| Finding::new(Level::Fault, "right", message);
    let Some(path) = path else {
        return fault(format!("{HELPER} is not in PATH: install the package fuse3"));
    };
    let shown = path.display();
    if field(status, "NoNewPrivs:") == Some("1") {
        return fault(format!(
            "{shown} cannot mount under no-new-privileges: run as root, or serve a descriptor (docs/containers.md)"
        ));
    }
    let has_right = fs::metadata(path).is_ok_and(|found| found.uid() == 0 && found.mode() & SET_USER_ID != 0);
    if has_right {
        return Finding::new(Level::Ok, "right", format!("{shown} mounts for this user"));
    }
    fault(format!("{shown} may not mount: run `chown root {shown} && chmod u+s {shown}` as root"))
}

fn others(is_root: bool, allow_other: bool, settings: &str) -> Finding {
    let is_set = settings.lines().any(|line| line.trim() == "user_allow_other");
    let advice = format!("add the line `user_allow_other` to {SETTINGS}");
    let (level, message) = match (is_root || is_set, allow_other) {
        (true, _) => (Level::Ok, "this user may mount with --allow-other".to_owned()),
        (false, true) => (Level::Fault, format!("this user may not mount with --allow-other: {advice}")),
        (false, false) => {
            (Level::Ok, format!("this user may not mount with --allow-other; if it should, {advice}"))
        }
    };
    Finding::new(level, "allow-other", message)
}

fn files(limit: Option<u64>) -> Finding {
    match limit.filter(|limit| *limit < FILES_MIN) {
        None => Finding::new(Level::Ok, "files", "this process may open enough files"),
        Some(limit) => {
            let message = format!(
                "this process may open {limit} files, and a mount may need {FILES_MIN} connections: run \
                 `ulimit -n {FILES_MIN}` before, or set LimitNOFILE in the service"
            );
            Finding::new(Level::Warning, "files", message)
        }
    }
}

/// The program `name` in `PATH`.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// The value of `name` in `/proc/self/status`.
fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_missing_device_and_a_closed_one_get_different_advice() {
        assert_eq!(device(Ok(())).level, Level::Ok);
        let missing = device(Err(io::ErrorKind::NotFound.into()));
        assert!(missing.level == Level::Fault && missing.message.contains("modprobe"), "{missing}");
        assert!(device(Err(io::ErrorKind::PermissionDenied.into())).message.contains("chmod 666"));
    }

    #[test]
    fn root_without_the_capability_may_not_mount() {
        assert_eq!(capability("CapEff:\t000001ffffffffff\n").level, Level::Ok);
        assert!(capability("CapEff:\t00000000a80425fb\n").message.contains("--cap-add SYS_ADMIN"));
    }

    #[test]
    fn a_helper_that_cannot_become_root_is_a_fault() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(helper(Some(file.path()), "").message.contains("chmod u+s"));
        assert!(helper(Some(file.path()), "NoNewPrivs:\t1\n").message.contains("no-new-privileges"));
        assert!(helper(None, "").message.contains("install the package fuse3"));
    }

    #[test]
    fn only_a_user_who_wants_allow_other_needs_the_setting() {
        assert_eq!(others(false, true, "# user_allow_other\n").level, Level::Fault);
        assert_eq!(others(false, true, "user_allow_other\n").level, Level::Ok);
        assert_eq!(others(true, true, "").level, Level::Ok);
        assert!(others(false, false, "").message.contains("if it should"));
    }

    #[test]
    fn a_low_limit_of_files_is_a_warning() {
        assert_eq!(files(Some(256)).level, Level::Warning);
        assert_eq!([files(Some(1024)).level, files(None).level], [Level::Ok; 2]);
    }
}
