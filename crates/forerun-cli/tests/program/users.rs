//! Mounts of ordinary users, and other users than the one who mounts.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::mount::{HELLO, source_and_directory};
use super::support::{Foreground, forerun, is_mounted, output};

/// An ordinary user, if these tests are run by root.
pub(crate) const NOBODY: u32 = 65534;

#[test]
#[ignore = "needs root: make test runs it as root"]
fn other_users_may_look_only_if_they_are_allowed_to() {
    for allow in [false, true] {
        let (source, directory) = source_and_directory();
        for path in [source.path(), directory.path()] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut command = forerun();
        command.arg("mount").args(allow.then_some("--allow-other")).arg(source.path()).arg(directory.path());
        let _mount = Foreground::start(&mut command, directory.path());
        let cat = output(nobody("cat").arg(directory.path().join("hello")));
        assert_eq!(cat.status.success(), allow, "{cat:?}");
        assert_eq!(cat.stdout, if allow { HELLO } else { b"" });
    }
}

/// A mount by an ordinary user, who is `nobody` where the tests are run by root.
pub(crate) fn start_as_nobody(options: &[&str], source: &Path, directory: &Path) -> Foreground {
    let mut command = forerun();
    if is_root() {
        for path in [source, directory] {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        command = nobody(env!("CARGO_BIN_EXE_forerun"));
    }
    Foreground::start(command.arg("mount").args(options).arg(source).arg(directory), directory)
}

/// `program`, run by an ordinary user.
pub(crate) fn nobody(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args([
        &format!("--reuid={NOBODY}"),
        &format!("--regid={NOBODY}"),
        "--clear-groups",
        "--",
        program,
    ]);
    command
}

/// `program` as the user of [`start_as_nobody`].
pub(crate) fn ordinary_user(program: &str) -> Command {
    if is_root() { nobody(program) } else { Command::new(program) }
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn an_ordinary_user_mounts_through_fusermount3() {
    let (source, directory) = source_and_directory();
    let mount = start_as_nobody(&[], source.path(), directory.path());
    assert!(is_mounted(directory.path()));
    if is_root() {
        let cat = output(nobody("cat").arg(directory.path().join("hello")));
        assert_eq!(cat.stdout, HELLO, "{cat:?}");
        // Without --allow-other not even root may look into it.
        assert!(fs::read(directory.path().join("hello")).is_err());
    }
    mount.signal(Signal::TERM);
    let (status, said) = mount.end();
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.starts_with("forerun: unmounted "), "{said}");
    assert!(!is_mounted(directory.path()));
}

#[test]
fn an_ordinary_users_mount_in_use_is_detached() {
    let (source, directory) = source_and_directory();
    let mount = start_as_nobody(&[], source.path(), directory.path());
    let mut user = ordinary_user("sh");
    user.args(["-c", "cd \"$0\"; echo inside; read line"]).arg(directory.path());
    let mut user = user.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(user.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "inside\n");

    mount.signal(Signal::TERM);
    let (status, said) = mount.end();
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.contains("was in use"), "{said}");
    assert!(!is_mounted(directory.path()));
    drop(user.stdin.take());
    user.wait().unwrap();
}

#[test]
fn an_ordinary_user_unmounts_and_the_process_has_ended() {
    let (source, directory) = source_and_directory();
    let mount = start_as_nobody(&[], source.path(), directory.path());
    let mut command = ordinary_user(env!("CARGO_BIN_EXE_forerun"));
    let output = output(command.args(["unmount", "--timeout", "20s"]).arg(directory.path()));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.starts_with("forerun: unmounted "), "{said}");
    assert!(!said.contains("no process of this user"), "{said}");
    assert!(!is_mounted(directory.path()));
    assert_eq!(mount.end().0.code(), Some(0));
}

#[test]
fn programs_of_an_ordinary_users_mount_start_unless_it_is_noexec() {
    for (options, can_start) in [(&[][..], true), (&["--noexec"][..], false)] {
        let (source, directory) = source_and_directory();
        let program = source.path().join("program");
        fs::write(&program, "#!/bin/sh\necho started\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let _mount = start_as_nobody(options, source.path(), directory.path());
        let mut command = ordinary_user("sh");
        command.args(["-c", "exec \"$0\""]).arg(directory.path().join("program"));
        let output = output(&mut command);
        assert_eq!(output.stdout == b"started\n", can_start, "{options:?}: {output:?}");
    }
}
