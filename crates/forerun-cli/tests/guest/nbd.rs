//! The kernel attaches exports of `forerun nbd`, and has file systems on them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::machine::Machine;
use super::served::{MIB, Served};
use super::support::Store;
use super::support::others::{DEADLINE, assert_same, run};
use super::support::program::output_within;

/// Each server also listens where the machine finds this computer.
const TCP: [&str; 2] = ["--listen", "127.0.0.1:0"];

fn sha256_of(path: &Path) -> String {
    run("sha256sum", &[path.to_str().unwrap()]).split(' ').next().unwrap().to_owned()
}

fn port_of(served: &Served) -> &str {
    served.server.address("nbd://").rsplit(':').next().unwrap()
}

/// A copy of the export, as a client in this computer reads it.
fn copy_of(served: &Served) -> PathBuf {
    let copy = served.at("copy");
    run("nbdcopy", &[&served.uri(), copy.to_str().unwrap()]);
    copy
}

/// The bytes that read as zeros and have no space.
fn hole_bytes(served: &Served) -> u64 {
    let map = run("nbdinfo", &["--map", &served.uri()]);
    let holes = map.lines().filter(|line| line.ends_with("hole,zero"));
    holes.map(|line| line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()).sum()
}

/// Whether the file system in `disk` has the files whose checksums the machine put beside them.
fn check_files(disk: &Path) {
    run("e2fsck", &["-fn", disk.to_str().unwrap()]);
    let files = tempfile::tempdir().unwrap();
    run("debugfs", &["-R", &format!("rdump / {}", files.path().display()), disk.to_str().unwrap()]);
    let mut check = Command::new("sha256sum");
    check.current_dir(files.path()).args(["--check", "--strict", "sums"]);
    let Output { status, stdout, stderr } = output_within(DEADLINE, &mut check);
    let [out, err] = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(status.success(), "{out}{err}");
    for name in ["./kept/bash: OK", "./kept/synced: OK", "./kept/direct: OK"] {
        assert!(out.contains(name), "{name} is not in {out}");
    }
    assert!(!files.path().join("removed").exists());
}

/// Whether the machine finds the bytes of the export, and leaves there what it says.
fn check_written(machine: &mut Machine, name: &str, served: &Served) {
    assert_eq!(machine.told(&format!("{name}-before")), sha256_of(&served.image));
    let trimmed: u64 = machine.told(&format!("{name}-trimmed")).parse().unwrap();
    assert!(trimmed > MIB as u64, "{trimmed} bytes were free");
    let after = machine.told(&format!("{name}-after"));
    let copy = copy_of(served);
    assert_eq!(sha256_of(&copy), after);
    check_files(&copy);
    let holes = hole_bytes(served);
    assert!(holes >= trimmed, "of {trimmed} trimmed bytes {holes} are holes");
}

/// Whether the file that the machine synced last is in the file system in `disk`, which nothing has unmounted.
fn check_last(disk: &Path, sha256: &str) {
    let shown = disk.to_str().unwrap();
    let replayed = output_within(DEADLINE, Command::new("e2fsck").args(["-y", "-E", "journal_only", shown]));
    // One stands for a file system that was changed and is whole.
    assert!(matches!(replayed.status.code(), Some(0 | 1)), "{replayed:?}");
    check_files(disk);
    let last = tempfile::tempdir().unwrap();
    let last = last.path().join("last");
    run("debugfs", &["-R", &format!("dump /last {}", last.display()), shown]);
    assert_eq!(sha256_of(&last), sha256);
}

#[test]
#[ignore = "needs a virtual machine, which `make nbd-guest` makes"]
fn the_kernel_reads_and_writes_exports() {
    let store = Store::start();
    let reads = Served::file(&TCP);
    let mut writable = Served::file(&[&["--writable"], &TCP[..]].concat());
    let overlay = Served::bucket(&store, &[&["--overlay", "changes"], &TCP[..]].concat());
    let script = format!(
        "reads={} writable={} overlay={}\n{}",
        port_of(&reads),
        port_of(&writable),
        port_of(&overlay),
        include_str!("nbd.sh")
    );
    let mut machine = Machine::start(&script, &[], None);
    let expected = sha256_of(&reads.image);
    for way in ["through the page cache", "past it, in small requests", "past it, in large requests"] {
        assert_eq!(machine.told("read"), expected, "{way}");
    }
    check_written(&mut machine, "writable", &writable);
    check_written(&mut machine, "overlay", &overlay);
    assert_same(&overlay.image, &store.at("disk.img"));
    let last = machine.told("last");
    drop(machine);
    writable.server.child.kill().unwrap();
    check_last(&writable.image, &last);
}
