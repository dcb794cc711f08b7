//! How a mount ends, and the program with it.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use super::mount::{HELLO, source_and_directory, start};
use super::support::{cat, is_mounted, output, runtime, unmount, unmount_leftovers};

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
#[ignore = "needs root: make test runs it as root"]
fn another_mount_in_the_place_of_one_still_in_use_survives_its_end() {
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
#[ignore = "needs root: make test runs it as root"]
fn a_mount_that_is_also_elsewhere_does_not_keep_the_program() {
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
#[ignore = "needs root: make test runs it as root"]
fn a_mount_that_the_system_has_no_room_for_is_taken_out() {
    let (source, directory) = source_and_directory();
    let mount = start(source.path(), directory.path());
    // The first queue is opened before any answer, so its number is the same each time. Those of
    // the others depend on the reads under way.
    let first_queue = first_fuse_descriptor(mount.id());
    drop(mount);

    let mut command = Command::new("prlimit");
    command
        .env("XDG_RUNTIME_DIR", runtime())
        .arg(format!("--nofile={}", first_queue + 1))
        .arg(env!("CARGO_BIN_EXE_forerun"));
    let output = output(command.arg("mount").arg(source.path()).arg(directory.path()));
    let is_left = is_mounted(directory.path());
    unmount_leftovers(directory.path());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("Too many open files"), "{said}");
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
fn a_mount_whose_program_was_killed_is_replaced() {
    let (source, directory) = source_and_directory();
    let mount = start(source.path(), directory.path());
    mount.signal(Signal::KILL);
    let (status, _) = mount.end();
    assert_eq!(status.signal(), Some(9));
    assert!(fs::read_dir(directory.path()).is_err(), "nobody answers");
    let mount = start(source.path(), directory.path());
    assert_eq!(cat(&directory.path().join("hello")), HELLO);
    mount.signal(Signal::TERM);
    assert_eq!(mount.end().0.code(), Some(0));
    assert!(!is_mounted(directory.path()));
}
