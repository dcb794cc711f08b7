//! `forerun lab device` as its users meet it.

#[allow(dead_code, reason = "shared with the tests of `forerun mount`")]
#[path = "program/support.rs"]
mod support;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;

use rustix::process::Signal;
use support::{Foreground, forerun, is_mounted, output};
use tempfile::TempDir;

/// Every latency is over before anybody notices.
const FAST: &[&str] = &["--speed", "1000", "nfs-gbe"];

/// A device with `arguments`, the directory still missing. Unmounted when dropped.
struct Device {
    process: Foreground,
    directory: TempDir,
}

impl Device {
    fn start(arguments: &[&str]) -> Device {
        let directory = tempfile::tempdir().unwrap();
        let mut command = forerun();
        command.args(["lab", "device"]).args(arguments).arg(directory.path());
        Device { process: Foreground::start(&mut command, directory.path()), directory }
    }

    fn disk(&self) -> PathBuf {
        self.directory.path().join("disk")
    }

    fn open(&self) -> File {
        File::options().read(true).write(true).open(self.disk()).unwrap()
    }

    fn stat(&self, name: &str) -> u64 {
        let stats = fs::read_to_string(self.directory.path().join("stats")).unwrap();
        let mut lines = stats.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(found, _)| *found == name).unwrap().1.parse().unwrap()
    }

    fn end(self) {
        self.process.signal(Signal::TERM);
        let (status, said) = self.process.end();
        assert_eq!(status.code(), Some(0), "{said}");
        assert!(!is_mounted(self.directory.path()), "{said}");
    }
}

#[test]
fn written_bytes_are_read_back_and_counted() {
    let device = Device::start(&[FAST, &["--size", "3MiB", "--elevator", "deadline"]].concat());
    assert_eq!(fs::metadata(device.disk()).unwrap().len(), 3 << 20);
    let disk = device.open();
    let data: Vec<u8> = (0..100_000_u32).map(|n| (n % 251) as u8).collect();
    disk.write_all_at(&data, 1_000_001).unwrap();
    disk.sync_all().unwrap();
    let mut read = vec![1; 100_002];
    disk.read_exact_at(&mut read, 1_000_000).unwrap();
    assert_eq!((read[0], &read[1..100_001], read[100_001]), (0, &data[..], 0));
    assert_eq!((device.stat("write_bytes"), device.stat("read_bytes")), (100_000, 100_002));
    assert_eq!(device.stat("asked_write_bytes_max"), 100_000);
    assert!(device.stat("busy_ns") > 0);

    // Nothing is cached above, and the end is where it is.
    disk.read_exact_at(&mut read[..1], 1_000_000).unwrap();
    assert_eq!((device.stat("read_bytes"), device.stat("read_count") > 1), (100_003, true));
    assert_eq!(disk.read_at(&mut read, (3 << 20) - 7).unwrap(), 7);
    assert_eq!(disk.read_at(&mut read, 4 << 20).unwrap(), 0);
    assert!(disk.write_at(&data, 4 << 20).is_err());
    drop(disk);
    device.end();
}

#[test]
fn requests_are_in_flight_together() {
    // Long enough for the second to come before the first is answered.
    let device = Device::start(&["network:latency=1000ms,total=1GB/s", "--size", "1MiB"]);
    let disk = device.open();
    let together = Barrier::new(2);
    let read = |offset| {
        let mut bytes = [1; 4096];
        together.wait();
        disk.read_exact_at(&mut bytes, offset).unwrap();
        bytes
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| read(64 << 10));
        assert_eq!(read(0), [0; 4096]);
        assert_eq!(other.join().unwrap(), [0; 4096]);
    });
    assert_eq!((device.stat("in_flight_max"), device.stat("read_count")), (2, 2));
    drop(disk);
    device.end();
}

#[test]
fn a_backing_file_is_kept_and_a_backing_directory_left_empty() {
    let temp = tempfile::tempdir().unwrap();
    let image = temp.path().join("image");
    fs::write(&image, vec![7; 8192]).unwrap();
    let device = Device::start(&[FAST, &["--backing", path(&image)]].concat());
    assert_eq!(fs::metadata(device.disk()).unwrap().len(), 8192);
    // As `dd` and `cp` do, which cut the file off first.
    fs::write(device.disk(), [9; 4096]).unwrap();
    device.end();
    assert_eq!(fs::read(&image).unwrap(), [[9; 4096], [7; 4096]].concat());

    fs::remove_file(&image).unwrap();
    let device = Device::start(&[FAST, &["--size", "1GiB", "--backing", path(temp.path())]].concat());
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
    device.end();
}

#[test]
fn impossible_options_are_refused_with_the_possible_ones() {
    let temp = tempfile::tempdir().unwrap();
    let directory = path(temp.path());
    let missing = temp.path().join("missing");
    for (arguments, status, told) in [
        (vec!["floppy", directory], 2, "ide-2006"),
        (vec!["ide-2006", path(&missing)], 1, "mkdir -p"),
        (vec!["ide-2006", directory, "--size", "0"], 1, "--size such as 1GiB"),
        (vec!["ide-2006", directory, "--size", "1T"], 1, "give a --size of at most that"),
        (vec!["ide-2006", directory, "--size", "big"], 2, "256MiB"),
        (vec!["ide-2006", directory, "--speed", "0"], 2, "1..=1000"),
        (vec!["ide-2006", directory, "--elevator", "lift"], 2, "deadline"),
        (vec!["ide-2006", directory, "--backing", "/missing/file"], 1, "name a file or directory"),
    ] {
        let output = output(forerun().args(["lab", "device"]).args(&arguments));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
        assert!(said.contains(told), "{arguments:?}: {said}");
        assert!(!is_mounted(temp.path()));
    }
}

#[test]
fn the_self_check_compares_with_the_model() {
    let temp = tempfile::tempdir().unwrap();
    let check = ["lab", "device", "nfs-gbe", "--speed", "1000", "--size", "2MiB", "--self-check"];
    let output = output(forerun().args(check).arg(temp.path()));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(
        said.contains("1000 random reads of 4 KiB: modelled ") && said.contains("\n4 sequential"),
        "{said}"
    );
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}
