//! `forerun run`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tempfile::TempDir;

use super::mount::{HELLO, source_and_directory};
use super::service::notice;
use super::support::{DEADLINE, cat, forerun, is_mounted, output, send, unmount, unmount_leftovers, within};

/// `forerun run` of a file that a test writes.
pub(super) struct Run {
    child: Child,
    manager: UnixDatagram,
    folder: TempDir,
    directories: Vec<PathBuf>,
}

/// A file that mounts each source on its directory.
pub(super) fn listed(places: &[&(TempDir, TempDir)]) -> String {
    let table = |(source, directory): &&(TempDir, TempDir)| {
        format!("[[mount]]\nurl = {:?}\ntarget = {:?}\n", source.path(), directory.path())
    };
    places.iter().map(table).collect()
}

impl Run {
    fn start(text: &str, directories: &[&(TempDir, TempDir)]) -> Run {
        Run::of(text, directories, |command| command.args(["--memory", "16MiB"]))
    }

    /// Standard error of it and of its mounts is kept.
    pub(super) fn saying(text: &str, directories: &[&(TempDir, TempDir)]) -> Run {
        Run::of(text, directories, |command| command.args(["--memory", "16MiB"]).stderr(Stdio::piped()))
    }

    /// Its command line and its environment are as `set` leaves them.
    pub(super) fn of(
        text: &str,
        directories: &[&(TempDir, TempDir)],
        set: impl FnOnce(&mut Command) -> &mut Command,
    ) -> Run {
        let folder = tempfile::tempdir().unwrap();
        let (file, socket) = (folder.path().join("f.toml"), folder.path().join("notify"));
        fs::write(&file, text).unwrap();
        let manager = UnixDatagram::bind(&socket).unwrap();
        let mut command = forerun();
        command.env("NOTIFY_SOCKET", &socket).args(["run", "--config"]).arg(&file).stderr(Stdio::null());
        let child = set(&mut command).spawn().unwrap();
        let directories = directories.iter().map(|place| place.1.path().to_owned()).collect();
        Run { child, manager, folder, directories }
    }

    /// Waits for the notice that says how many mounts can be used.
    pub(super) fn wait_for(&self, status: &str) {
        self.wait_for_notice(&format!("READY=1\nSTATUS={status} "));
    }

    /// Waits for the notice that begins so, among others that may come for ever.
    fn wait_for_notice(&self, beginning: &str) {
        let start = Instant::now();
        while !notice(&self.manager).starts_with(beginning) {
            assert!(start.elapsed() < DEADLINE, "no notice begins with {beginning:?}");
        }
    }

    /// Whether `count` lines of standard error end with `words`.
    pub(super) fn has_said(&mut self, words: &str, count: usize) -> bool {
        let said = self.child.stderr.take().unwrap();
        let words = words.to_owned();
        let told = within(DEADLINE, move || {
            let lines = BufReader::new(said).lines().map(Result::unwrap);
            lines.filter(|line| line.ends_with(&words)).take(count).count()
        });
        told == Some(count)
    }

    pub(super) fn change(&self, text: &str) {
        fs::write(self.folder.path().join("f.toml"), text).unwrap();
        send(self.child.id(), Signal::HUP);
    }

    pub(super) fn end(&mut self) -> Option<i32> {
        send(self.child.id(), Signal::TERM);
        self.child.wait().unwrap().code()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.directories.iter().for_each(|directory| unmount_leftovers(directory));
    }
}

fn hello(directory: &Path) -> Vec<u8> {
    cat(&directory.join("hello"))
}

#[test]
fn a_file_that_is_read_again_adds_and_removes_mounts_and_keeps_the_others() {
    let places = [source_and_directory(), source_and_directory(), source_and_directory()];
    let [first, second, third] = [&places[0], &places[1], &places[2]];
    let mut run = Run::start(&listed(&[first, second]), &[first, second, third]);
    run.wait_for("2 of 2");
    assert_eq!(hello(first.1.path()), HELLO);
    assert_eq!(hello(second.1.path()), HELLO);
    run.change("[[mount]]\nurll = 1\n");
    run.wait_for_notice("RELOADING=1\n");
    run.wait_for("2 of 2");
    run.change(&listed(&[second, third]));
    while !is_mounted(third.1.path()) || is_mounted(first.1.path()) {
        notice(&run.manager);
    }
    assert_eq!(hello(second.1.path()), HELLO);
    assert_eq!(run.end(), Some(0));
    assert!(!is_mounted(second.1.path()) && !is_mounted(third.1.path()));
}

#[test]
fn a_process_that_is_killed_is_started_again_and_an_unmounted_one_is_not() {
    let place = source_and_directory();
    let mut run = Run::start(&listed(&[&place]), &[&place]);
    run.wait_for("1 of 1");
    send(process_of(place.1.path()), Signal::KILL);
    run.wait_for("0 of 1");
    run.wait_for("1 of 1");
    assert_eq!(hello(place.1.path()), HELLO);
    unmount(place.1.path());
    assert_eq!(run.child.wait().unwrap().code(), Some(0), "no mount is left");
}

/// The line of `directory` in `forerun list`.
pub(super) fn line_of(directory: &Path) -> String {
    let list = String::from_utf8(output(forerun().arg("list")).stdout).unwrap();
    list.lines().find(|line| line.starts_with(directory.to_str().unwrap())).unwrap().to_owned()
}

/// The process that serves `directory`.
pub(super) fn process_of(directory: &Path) -> u32 {
    let line = line_of(directory);
    let (_, rest) = line.split_once("process ").unwrap();
    rest.split(',').next().unwrap().parse().unwrap()
}

#[test]
fn a_file_that_is_read_again_changes_log_levels_of_mounts_that_run() {
    let place = source_and_directory();
    let text = listed(&[&place]);
    let mut run = Run::saying(&text, &[&place]);
    run.wait_for("1 of 1");
    let process = process_of(place.1.path());
    let level = " INFO forerun::mount: the log level is now warn,s3s=off,forerun=info";
    run.change(&format!("verbose = 1\n{text}"));
    // Of the mount, and of `forerun run` itself.
    assert!(run.has_said(level, 2));
    assert_eq!(process_of(place.1.path()), process, "it was not mounted anew");
    assert_eq!(run.end(), Some(0));
}

/// A process that does nothing any more, not even end at a signal.
struct Stopped(OwnedFd);

impl Stopped {
    fn new(process: u32) -> Stopped {
        let process = Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
        let process = pidfd_open(process, PidfdFlags::empty()).unwrap();
        pidfd_send_signal(&process, Signal::STOP).unwrap();
        Stopped(process)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // If a failed test left it, its mount would hold up every program that looks there.
        let _ = pidfd_send_signal(&self.0, Signal::KILL);
    }
}

#[test]
fn a_mount_that_stops_answering_is_started_again_within_the_time_of_the_watchdog() {
    let place = source_and_directory();
    // Two seconds, in which a mount on a busy machine answers.
    let mut run = Run::of(&listed(&[&place]), &[&place], |command| command.env("WATCHDOG_USEC", "2000000"));
    run.wait_for("1 of 1");
    run.wait_for_notice("WATCHDOG=1");
    let _stopped = Stopped::new(process_of(place.1.path()));
    run.wait_for("0 of 1");
    run.wait_for("1 of 1");
    assert_eq!(hello(place.1.path()), HELLO);
    run.wait_for_notice("WATCHDOG=1");
    assert_eq!(run.end(), Some(0));
    run.wait_for_notice("STOPPING=1\n");
}
