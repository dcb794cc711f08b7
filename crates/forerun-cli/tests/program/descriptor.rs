//! `forerun mount URL /dev/fd/N`: a FUSE descriptor that root has opened and mounted, served
//! by an ordinary user.

use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

use rustix::fs::{Mode, OFlags};
use rustix::mount::MountFlags;
use rustix::process::{PidfdFlags, Signal, pidfd_open};
use tempfile::TempDir;

use super::daemon::{Leftovers, daemon_of, wait_for_end};
use super::mount::{HELLO, source_and_directory};
use super::support::{Foreground, is_mounted, output, unmount};
use super::users::{NOBODY, nobody};

/// Opens the device and mounts it on `directory` for the ordinary user.
fn mount_for_nobody(directory: &Path) -> OwnedFd {
    let device = rustix::fs::open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).unwrap();
    let options = format!(
        "fd={},rootmode=40000,user_id={NOBODY},group_id={NOBODY},default_permissions\0",
        device.as_raw_fd()
    );
    let options = std::ffi::CStr::from_bytes_with_nul(options.as_bytes()).unwrap();
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::RDONLY;
    rustix::mount::mount("test", directory, "fuse.forerun", flags, options).unwrap();
    device
}

/// A source for the ordinary user, and an empty directory.
fn folders() -> (TempDir, TempDir) {
    let (source, directory) = source_and_directory();
    for folder in [&source, &directory] {
        chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    }
    (source, directory)
}

/// `forerun mount` as the ordinary user, with `device` as its descriptor `number`.
fn serving(device: OwnedFd, number: u32, options: &[&str], source: &Path) -> Command {
    let mut command = nobody("sh");
    command.args(["-c", &format!("exec \"$@\" {number}<&0 0</dev/null"), "sh"]);
    command.arg(env!("CARGO_BIN_EXE_forerun")).arg("mount").args(options).arg(source);
    command.arg(format!("/dev/fd/{number}")).stdin(device);
    command
}

fn start(device: OwnedFd, source: &Path, directory: &Path) -> Foreground {
    Foreground::start(&mut serving(device, 3, &[], source), directory)
}

/// The error of a command that ends with one.
fn error(command: &mut Command) -> String {
    let output = output(command);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
#[ignore = "needs root: make test runs it as root"]
fn an_ordinary_user_serves_what_root_has_mounted_until_it_is_terminated() {
    let (source, directory) = folders();
    let mount = start(mount_for_nobody(directory.path()), source.path(), directory.path());
    assert!(mount.greeting.contains(" on /dev/fd/3 "), "{}", mount.greeting);
    let status = fs::read_to_string(format!("/proc/{}/status", mount.id())).unwrap();
    assert!(status.contains("\nUid:\t65534\t65534\t65534\t65534\n"), "{status}");
    assert!(status.contains("\nCapEff:\t0000000000000000\n"), "{status}");
    let mut cat = nobody("cat");
    cat.arg(directory.path().join("hello"));
    assert_eq!(output(&mut cat).stdout, HELLO);

    mount.signal(Signal::TERM);
    let (status, said) = mount.end();
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.starts_with("forerun: /dev/fd/3 is not served any more"), "{said}");
    assert!(is_mounted(directory.path()), "this is left to root");
    let refused = error(&mut cat);
    assert!(refused.contains("not connected"), "{refused}");
    unmount(directory.path());
}

#[test]
#[ignore = "needs root: make test runs it as root"]
fn an_unmount_ends_the_server() {
    let (source, directory) = folders();
    let mount = start(mount_for_nobody(directory.path()), source.path(), directory.path());
    unmount(directory.path());
    let (status, said) = mount.end();
    assert_eq!((status.code(), &*said), (Some(0), "forerun: unmounted /dev/fd/3\n"));
}

#[test]
#[ignore = "needs root: make test runs it as root"]
fn the_descriptor_is_kept_from_other_programs() {
    let (source, directory) = folders();
    let mount = start(mount_for_nobody(directory.path()), source.path(), directory.path());
    let info = fs::read_to_string(format!("/proc/{}/fdinfo/3", mount.id())).unwrap();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
    let flags = u32::from_str_radix(flags.trim(), 8).unwrap();
    assert!(flags & OFlags::CLOEXEC.bits() != 0, "{info}");
}

#[test]
#[ignore = "needs root: make test runs it as root"]
fn a_daemon_takes_the_descriptor_along() {
    let (source, directory) = folders();
    let _leftovers = Leftovers(directory.path());
    let device = mount_for_nobody(directory.path());
    let started = output(&mut serving(device, 7, &["--daemon"], source.path()));
    assert!(started.status.success(), "{started:?}");
    let cat = output(nobody("cat").arg(directory.path().join("hello")));
    assert_eq!(cat.stdout, HELLO, "{cat:?}");
    let process = pidfd_open(daemon_of(Path::new("/dev/fd/7")), PidfdFlags::empty()).unwrap();
    unmount(directory.path());
    wait_for_end(&process);
}

#[test]
#[ignore = "needs root: make test runs it as root"]
fn explain_finds_it_by_its_process_and_by_its_url() {
    let (source, directory) = folders();
    let mount = start(mount_for_nobody(directory.path()), source.path(), directory.path());
    for target in [mount.id().to_string(), source.path().to_str().unwrap().to_owned()] {
        let said = output(nobody(env!("CARGO_BIN_EXE_forerun")).args(["explain", &target]));
        assert!(said.status.success(), "{said:?}");
        let said = String::from_utf8(said.stdout).unwrap();
        assert!(said.contains(" on /dev/fd/3"), "{said}");
    }
    let said = error(nobody(env!("CARGO_BIN_EXE_forerun")).arg("explain").arg(directory.path()));
    assert!(said.contains(&format!("on /dev/fd/3 (process {})", mount.id())), "{said}");
}

#[test]
#[ignore = "needs root: make test runs it as root"]
fn a_descriptor_or_option_that_does_not_fit_is_refused_with_advice() {
    let (source, directory) = folders();
    let device = || fs::OpenOptions::new().read(true).write(true).open("/dev/fuse").unwrap();
    let null = fs::File::open("/dev/null").unwrap();
    let said = error(&mut serving(null.into(), 3, &[], source.path()));
    assert!(said.contains("descriptor 3 is not of /dev/fuse: open that"), "{said}");
    let said = error(nobody(env!("CARGO_BIN_EXE_forerun")).arg("mount").arg(source.path()).arg("/dev/fd/9"));
    assert!(said.contains("descriptor 9 is not open"), "{said}");
    let said = error(&mut serving(device().into(), 3, &[], source.path()));
    assert!(said.contains("/dev/fd/3 is not mounted"), "{said}");
    for (options, advice) in [
        (&["--allow-other"][..], "mount with the option `allow_other`"),
        (&["--kernel-readahead", "1MiB"], "/sys/class/bdi/MAJOR:MINOR/read_ahead_kb"),
    ] {
        let _leftovers = Leftovers(directory.path());
        let mounted = mount_for_nobody(directory.path());
        let said = error(&mut serving(mounted, 3, options, source.path()));
        assert!(said.contains(advice), "{said}");
    }
}
