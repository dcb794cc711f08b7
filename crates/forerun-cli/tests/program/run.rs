//! `forerun run`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use rustix::process::Signal;
use tempfile::TempDir;

use super::mount::{HELLO, source_and_directory};
use super::service::notice;
use super::support::{DEADLINE, cat, forerun, is_mounted, output, send, unmount, unmount_leftovers, within};

/// `forerun run` of a file that a test writes.
struct Run {
    child: Child,
    manager: UnixDatagram,
    folder: TempDir,
    directories: Vec<PathBuf>,
}

/// A file that mounts each source on its directory.
fn listed(places: &[&(TempDir, TempDir)]) -> String {
    let table = |(source, directory): &&(TempDir, TempDir)| {
        format!("[[mount]]\nurl = {:?}\ntarget = {:?}\n", source.path(), directory.path())
    };
    places.iter().map(table).collect()
}

impl Run {
    fn start(text: &str, directories: &[&(TempDir, TempDir)]) -> Run {
        Run::saying(text, directories, Stdio::null())
    }

    /// Standard error of it and of its mounts goes to `said`.
    fn saying(text: &str, directories: &[&(TempDir, TempDir)], said: Stdio) -> Run {
        let folder = tempfile::tempdir().unwrap();
        let (file, socket) = (folder.path().join("f.toml"), folder.path().join("notify"));
        fs::write(&file, text).unwrap();
        let manager = UnixDatagram::bind(&socket).unwrap();
        let mut command = forerun();
        command.env("NOTIFY_SOCKET", &socket).args(["run", "--memory", "16MiB", "--config"]).arg(&file);
        let child = command.stderr(said).spawn().unwrap();
        let directories = directories.iter().map(|place| place.1.path().to_owned()).collect();
        Run { child, manager, folder, directories }
    }

    /// Waits for the notice that says how many mounts can be used.
    fn wait_for(&self, status: &str) {
        while !notice(&self.manager).starts_with(&format!("READY=1\nSTATUS={status} ")) {}
    }

    fn change(&self, text: &str) {
        fs::write(self.folder.path().join("f.toml"), text).unwrap();
        send(self.child.id(), Signal::HUP);
    }

    fn end(&mut self) -> Option<i32> {
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
    while !notice(&run.manager).starts_with("RELOADING=1\n") {}
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

/// The process that serves `directory`.
fn process_of(directory: &Path) -> u32 {
    let list = String::from_utf8(output(forerun().arg("list")).stdout).unwrap();
    let line = list.lines().find(|line| line.starts_with(directory.to_str().unwrap())).unwrap();
    let (_, rest) = line.split_once("process ").unwrap();
    rest.split(',').next().unwrap().parse().unwrap()
}

#[test]
fn a_file_that_is_read_again_changes_log_levels_of_mounts_that_run() {
    let place = source_and_directory();
    let text = listed(&[&place]);
    let mut run = Run::saying(&text, &[&place], Stdio::piped());
    run.wait_for("1 of 1");
    let process = process_of(place.1.path());
    let mut said = BufReader::new(run.child.stderr.take().unwrap()).lines();
    let level = " INFO forerun::mount: the log level is now warn,s3s=off,forerun=info";
    run.change(&format!("verbose = 1\n{text}"));
    let told = within(DEADLINE, move || {
        let is_level = |line: &String| line.ends_with(level);
        // Of the mount, and of `forerun run` itself.
        said.by_ref().map(Result::unwrap).filter(is_level).take(2).count()
    });
    assert_eq!(told, Some(2));
    assert_eq!(process_of(place.1.path()), process, "it was not mounted anew");
    assert_eq!(run.end(), Some(0));
}

#[test]
fn a_file_is_checked_without_mounting() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.toml");
    let check = |text: &str| {
        fs::write(&file, text).unwrap();
        let output = output(forerun().args(["run", "--check", "--config"]).arg(&file));
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let mount = "[[mount]]\nurl = \"s3://bucket\"\ntarget = \"/nowhere\"\n";
    let (code, said) = check(mount);
    assert!(code == Some(0) && said.contains("lists 1 mounts"), "{said}");
    let (code, said) = check(&format!("{mount}memry = \"1GiB\"\n"));
    assert_eq!(code, Some(1), "{said}");
    let place = format!("{}, line 4: ", file.display());
    assert!(
        said.contains(&place) && said.contains("memry") && said.contains("nearest key is memory"),
        "{said}"
    );
}
