//! `forerun mount --daemon`.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;

use super::support::{DEADLINE, cat, forerun, is_mounted, output, unmount, unmount_leftovers};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, getsid, pidfd_open};

/// Unmounts, whatever becomes of the test.
pub(crate) struct Leftovers<'a>(pub(crate) &'a Path);

impl Drop for Leftovers<'_> {
    fn drop(&mut self) {
        unmount_leftovers(self.0);
    }
}

/// The process that was started with `directory` as its last argument.
pub(crate) fn daemon_of(directory: &Path) -> Pid {
    let ending = format!("\0{}\0", directory.to_str().unwrap());
    let mut found = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let pid = Pid::from_raw(entry.ok()?.file_name().to_str()?.parse().ok()?)?;
        let command = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).ok()?;
        command.ends_with(ending.as_bytes()).then_some(pid)
    });
    found.next().expect("the daemon runs")
}

pub(crate) fn wait_for_end(process: &OwnedFd) {
    let timeout = Timespec::try_from(DEADLINE).unwrap();
    let ended = poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&timeout)).unwrap();
    assert_eq!(ended, 1, "the daemon does not end");
}

#[test]
fn the_directory_can_be_used_when_the_command_ends_and_the_daemon_ends_with_the_mount() {
    let source = tempfile::tempdir().unwrap();
    let directory = tempfile::tempdir().unwrap();
    fs::write(source.path().join("hello"), "hello").unwrap();
    let log = source.path().join("log");
    let _leftovers = Leftovers(directory.path());

    let mut command = forerun();
    command.args(["mount", "-v", "--daemon", "--log"]).arg(&log).arg(source.path()).arg(directory.path());
    // Collecting its output ends only when the daemon has let go of it as well.
    let output = output(&mut command);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(cat(&directory.path().join("hello")), b"hello");
    assert!(fs::metadata(&log).is_ok());

    let daemon = daemon_of(directory.path());
    assert_eq!(getsid(Some(daemon)).unwrap(), daemon, "it leads its own session");
    let process = pidfd_open(daemon, PidfdFlags::empty()).unwrap();
    unmount(directory.path());
    wait_for_end(&process);
}

#[test]
fn why_the_daemon_did_not_mount_is_told_by_the_command() {
    let source = tempfile::tempdir().unwrap();
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("in the way"), "").unwrap();
    let output = output(forerun().args(["mount", "--daemon"]).arg(source.path()).arg(directory.path()));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("forerun: ") && stderr.contains("is not empty"), "{stderr}");
    assert_eq!(output.stdout, b"");
    assert!(!is_mounted(directory.path()));
}
