//! `forerun mount` in the foreground.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::support::{Foreground, cat, forerun};

/// The contents of the file.
pub(crate) const HELLO: &[u8] = b"hello\n";

/// A directory with one file, and an empty one to mount it on.
pub(crate) fn source_and_directory() -> (TempDir, TempDir) {
    let source = tempfile::tempdir().unwrap();
    fs::write(source.path().join("hello"), HELLO).unwrap();
    (source, tempfile::tempdir().unwrap())
}

/// Mounts `source` on `directory`.
pub(crate) fn start(source: &Path, directory: &Path) -> Foreground {
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
