//! `forerun mount` in the foreground.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::support::{Foreground, cat, forerun, is_mounted, output, runtime, unmount, unmount_leftovers};
use rustix::process::Signal;
use tempfile::TempDir;

/// An ordinary user, if these tests are run by root.
const NOBODY: u32 = 65534;
const HELLO: &[u8] = b"hello\n";

/// A directory with one file, and an empty one to mount it on.
fn source_and_directory() -> (TempDir, TempDir) {
    let source = tempfile::tempdir().unwrap();
    fs::write(source.path().join("hello"), HELLO).unwrap();
    (source, tempfile::tempdir().unwrap())
}

fn start(source: &Path, directory: &Path) -> Foreground {
    Foreground::start(forerun().arg("mount").arg(source).arg(directory), directory)
}

#[test]
fn says_what_is_mounted_where_and_how() {
    let (source, directory) = source_and_directory();
    let mut command = forerun();
    command.args(["mount", "--memory", "64MiB", "--policy", "none"]).arg(source.path()).arg(directory.path());
    let mount = Foreground::start(&mut command, directory.path());
    for word in [source.path().to_str().unwrap(), directory.path().to_str().unwrap(), "none", "64 MiB"] {
        assert!(mount.greeting.contains(word), "{word} is not in {}", mount.greeting);
    }
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let line = mounts.lines().find(|line| line.contains(directory.path().to_str().unwrap())).unwrap();
    let fields: Vec<&str> = line.split(' ').collect();
    assert!(fields[0].ends_with(source.path().to_str().unwrap()), "{line}");
    assert_eq!(fields[2], "fuse.forerun");
    for option in ["ro", "nosuid", "nodev", "default_permissions"] {
        assert!(fields[3].split(',').any(|given| given == option), "{option} is not in {line}");
    }
}

#[test]
fn a_signal_unmounts() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let (source, directory) = source_and_directory();
        let mount = start(source.path(), directory.path());
        assert_eq!(cat(&directory.path().join("hello")), HELLO);
        mount.signal(signal);
        let (status, said) = mount.end();
        assert_eq!(status.code(), Some(0), "{signal:?}: {said}");
        assert!(said.starts_with("forerun: unmounted "), "{said}");
        assert!(!is_mounted(directory.path()));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_mount_in_use_is_detached_and_the_program_ends() {
    const ENOTCONN: i32 = 107;
    let (source, directory) = source_and_directory();
    let mount = start(source.path(), directory.path());
    let mut file = File::open(directory.path().join("hello")).unwrap();
    let inside = File::open(directory.path()).unwrap();
    mount.signal(Signal::TERM);
    let (status, said) = mount.end();
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.contains("was in use"), "{said}");
    assert!(!is_mounted(directory.path()));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    assert_eq!(file.read(&mut [0]).unwrap_err().raw_os_error(), Some(ENOTCONN));
    drop(inside);
}

#[test]
fn an_unmount_from_outside_ends_the_program() {
    let (source, directory) = source_and_directory();
    let mount = start(source.path(), directory.path());
    unmount(directory.path());
    let (status, said) = mount.end();
    assert_eq!(status.code(), Some(0), "{said}");
}

#[test]
fn a_newer_mount_in_the_same_place_survives_the_end_of_the_older() {
    let (source, directory) = source_and_directory();
    let older = start(source.path(), directory.path());
    unmount(directory.path());
    let newer = start(source.path(), directory.path());
    older.end();
    assert_eq!(cat(&directory.path().join("hello")), HELLO);
    newer.signal(Signal::TERM);
    assert_eq!(newer.end().0.code(), Some(0));
}

#[test]
fn another_mount_in_the_place_of_one_still_in_use_survives_its_end() {
    if !is_root() {
        return;
    }
    let (source, directory) = source_and_directory();
    let mount = start(source.path(), directory.path());
    let file = File::open(directory.path().join("hello")).unwrap();
    run(Command::new("umount").arg("-l").arg(directory.path()));
    run(Command::new("mount").args(["-t", "tmpfs", "other"]).arg(directory.path()));
    mount.signal(Signal::TERM);
    let (status, said) = mount.end();
    let other_is_there = is_mounted(directory.path());
    unmount_leftovers(directory.path());
    assert!(other_is_there, "{said}");
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.contains("was in use"), "{said}");
    drop(file);
}

#[test]
fn a_mount_that_is_also_elsewhere_does_not_keep_the_program() {
    if !is_root() {
        return;
    }
    let (source, directory) = source_and_directory();
    let elsewhere = tempfile::tempdir().unwrap();
    let mount = start(source.path(), directory.path());
    run(Command::new("mount").arg("--bind").arg(directory.path()).arg(elsewhere.path()));
    mount.signal(Signal::TERM);
    let (status, said) = mount.end();
    unmount_leftovers(elsewhere.path());
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.contains("was in use"), "{said}");
    assert!(!is_mounted(directory.path()));
}

#[test]
fn a_mount_that_fails_by_itself_is_a_failure_of_the_program() {
    if !is_root() {
        // The helper that mounts for ordinary users needs more files than the mount has.
        return;
    }
    let (source, directory) = source_and_directory();
    let mount = start(source.path(), directory.path());
    // The first queue is opened before anything is answered, so its number is
    // the same each time; those of the others depend on what is just being read.
    let first_queue = first_fuse_descriptor(mount.id());
    drop(mount);

    let mut command = Command::new("prlimit");
    command
        .env("XDG_RUNTIME_DIR", runtime())
        .arg(format!("--nofile={}", first_queue + 1))
        .arg(env!("CARGO_BIN_EXE_forerun"));
    command.arg("mount").arg(source.path()).arg(directory.path());
    let mount = Foreground::start(&mut command, directory.path());
    let (status, said) = mount.end();
    let is_left = is_mounted(directory.path());
    unmount_leftovers(directory.path());
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("Too many open files"), "{said}");
    assert!(!said.contains("forerun: unmounted "), "{said}");
    assert!(!is_left);
}

/// The lowest number of a descriptor that the process `pid` has of the FUSE device.
fn first_fuse_descriptor(pid: u32) -> u32 {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().map(|entry| entry.unwrap());
    let numbers = descriptors.filter_map(|descriptor| {
        let is_fuse = fs::read_link(descriptor.path()).is_ok_and(|file| file == Path::new("/dev/fuse"));
        is_fuse.then(|| descriptor.file_name().to_str().unwrap().parse().unwrap())
    });
    numbers.min().unwrap()
}

fn run(command: &mut Command) {
    let output = output(command);
    assert!(output.status.success(), "{command:?}: {output:?}");
}

#[test]
fn a_single_file_is_a_directory_with_that_file() {
    let (source, directory) = source_and_directory();
    fs::write(source.path().join("other"), "other").unwrap();
    let mount = start(&source.path().join("hello"), directory.path());
    assert!(mount.greeting.contains("/hello on "), "{}", mount.greeting);
    let names: Vec<_> =
        fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["hello"]);
    assert_eq!(cat(&directory.path().join("hello")), HELLO);
}

#[test]
fn a_mount_whose_program_was_killed_is_recognised() {
    let (source, directory) = source_and_directory();
    let mount = start(source.path(), directory.path());
    mount.signal(Signal::KILL);
    let (status, _) = mount.end();
    assert_eq!(status.signal(), Some(9));
    let output = output(forerun().arg("mount").arg(source.path()).arg(directory.path()));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("holds a mount whose program is gone: remove it with"), "{said}");
    unmount(directory.path());
}

#[test]
fn other_users_may_look_only_if_they_are_allowed_to() {
    if !is_root() {
        // What another user sees takes another user.
        return;
    }
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
    let mut user = if is_root() { nobody("sh") } else { Command::new("sh") };
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
