//! `forerun mount --passthrough` of what lies above other file systems.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use tempfile::TempDir;

use super::passed::{Passed, all, bytes};
use super::support::{Foreground, cat, forerun, output, unmount_leftovers};

/// Mounts of overlays, taken away when dropped; the last is above the others.
struct Overlays(Vec<TempDir>);

impl Overlays {
    /// `count` overlays above one another, the lowest above a directory of its own with
    /// `file`.
    fn new(count: usize) -> Overlays {
        let mut overlays = Overlays(vec![tempfile::tempdir().unwrap()]);
        fs::write(overlays.top().join("file"), bytes(1)).unwrap();
        for _ in 0..count {
            let (empty, above) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let layers = format!("lowerdir={}:{}", overlays.top().display(), empty.path().display());
            let mut mount = Command::new("mount");
            mount.args(["-t", "overlay", "overlay", "-o", &layers]).arg(above.path());
            let mounted = output(&mut mount);
            assert!(mounted.status.success(), "no overlays can be mounted here: {mounted:?}");
            overlays.0.push(above);
        }
        overlays
    }

    fn top(&self) -> &Path {
        self.0.last().unwrap().path()
    }
}

impl Drop for Overlays {
    fn drop(&mut self) {
        self.0.iter().skip(1).rev().for_each(|above| unmount_leftovers(above.path()));
    }
}

#[test]
#[ignore = "needs root and Linux 6.9: make test runs it as root"]
fn files_that_lie_above_too_many_file_systems_are_read_as_without_and_that_is_said_once() {
    let overlays = Overlays::new(2);
    let directory = tempfile::tempdir().unwrap();
    let mut command = forerun();
    command.args(["mount", "--passthrough"]).arg(overlays.top()).arg(directory.path());
    let mount = Foreground::start(&mut command, directory.path());
    for _ in 0..2 {
        assert!(cat(&directory.path().join("file")) == bytes(1));
    }
    mount.signal(Signal::TERM);
    let (status, said) = mount.end();
    assert_eq!(status.code(), Some(0), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    let reason = "its file system is stacked on too many others";
    assert!(lines[0].contains(reason) || lines[0].contains("--passthrough is not used"), "{said}");
}

#[test]
#[ignore = "needs root and Linux 6.9: make test runs it as root"]
fn a_directory_on_an_overlay_is_passed_through() {
    let overlays = Overlays::new(1);
    let passed = Passed::start_on(&[], overlays.top());
    assert!(all(&passed.open()) == bytes(1));
    passed.end();
}
