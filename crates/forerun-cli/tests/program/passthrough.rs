//! `forerun mount --passthrough`.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use memmap2::Mmap;
use rustix::fs::{Advice, OFlags, fadvise};
use rustix::process::Signal;
use tempfile::TempDir;

use super::mount::{is_root, nobody, start_as_nobody};
use super::support::{Foreground, cat, forerun, output, unmount_leftovers};

const SIZE: usize = 3 << 20;

/// `SIZE` bytes that differ everywhere and for every `seed`.
fn bytes(seed: u64) -> Vec<u8> {
    let word =
        |index: u64| (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15 ^ seed.rotate_left(32)).to_le_bytes();
    (0..SIZE as u64 / 8).flat_map(word).collect()
}

/// A mount with `--passthrough`, and what `forerun explain` says of it.
struct Passed {
    mount: Foreground,
    runtime: TempDir,
    /// Unless it is somebody else's.
    source: Option<TempDir>,
    directory: TempDir,
}

impl Passed {
    /// Mounts a directory with a file called `file`; nothing where files cannot be passed
    /// through, which is said.
    fn start(options: &[&str]) -> Option<Passed> {
        let source = tempfile::tempdir().unwrap();
        fs::write(source.path().join("file"), bytes(1)).unwrap();
        let path = source.path().to_owned();
        Passed::start_on(options, &path).map(|passed| Passed { source: Some(source), ..passed })
    }

    /// The same with `source`, which has such a file.
    fn start_on(options: &[&str], source: &Path) -> Option<Passed> {
        let [runtime, directory] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let mut command = forerun();
        command.env("XDG_RUNTIME_DIR", runtime.path()).args(["mount", "--passthrough", "--log"]);
        command.arg(runtime.path().join("log")).args(options).arg(source).arg(directory.path());
        let mount = Foreground::start(&mut command, directory.path());
        let passed = Passed { mount, runtime, source: None, directory };
        let file = passed.open();
        let is_passed = !passed.explained().contains("\"path\": \"file\"");
        drop(file);
        if is_passed {
            return Some(passed);
        }
        let log = fs::read_to_string(passed.runtime.path().join("log")).unwrap();
        passed.mount.signal(Signal::TERM);
        let (_, said) = passed.mount.end();
        assert!(
            said.contains(" as without ") || log.contains(" as without"),
            "not passed through: {said}{log}"
        );
        println!("skipped: files cannot be passed through here: {said}{log}");
        None
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn open(&self) -> File {
        File::open(self.at("file")).unwrap()
    }

    /// A file of the directory that is mounted.
    fn stored(&self, name: &str) -> PathBuf {
        self.source.as_ref().unwrap().path().join(name)
    }

    /// Writes `bytes` to another file, and puts that in place of `file`.
    fn replace(&self, bytes: &[u8]) {
        fs::write(self.stored("new"), bytes).unwrap();
        fs::rename(self.stored("new"), self.stored("file")).unwrap();
    }

    /// What the mount says of itself.
    fn explained(&self) -> String {
        let mut command = forerun();
        command.env("XDG_RUNTIME_DIR", self.runtime.path()).args(["explain", "--json"]);
        let output = output(command.arg(self.mount.id().to_string()));
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Unmounts, which must go well and leave nothing in the log; what it said.
    fn end(self) -> String {
        self.mount.signal(Signal::TERM);
        let (status, said) = self.mount.end();
        assert_eq!(status.code(), Some(0), "{said}");
        assert_eq!(fs::read_to_string(self.runtime.path().join("log")).unwrap(), "");
        said
    }
}

fn all(mut file: &File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn every_way_of_reading_gets_the_bytes_and_none_comes_by_the_mount() {
    let Some(passed) = Passed::start(&[]) else { return };
    let expected = bytes(1);
    let file = passed.open();
    // Asks for readahead of what the kernel would have of the mount, which has nothing of it.
    fadvise(&file, 0, None, Advice::WillNeed).unwrap();
    let mut piece = vec![0; 70_000];
    for offset in [0, 1, 4095, 65_536, SIZE - 70_000] {
        file.read_exact_at(&mut piece, offset as u64).unwrap();
        assert!(piece == expected[offset..offset + piece.len()], "at {offset}");
    }
    // SAFETY: nobody writes to the file.
    let mapped = unsafe { Mmap::map(&file) }.unwrap();
    assert!(mapped[..] == expected[..]);
    let direct =
        OpenOptions::new().read(true).custom_flags(OFlags::DIRECT.bits() as i32).open(passed.at("file"));
    // As in the directory: not every file system has it.
    if let Ok(direct) = direct {
        let other = passed.open();
        assert!(all(&other) == expected, "beside one who passes the page cache by");
        drop(direct);
    }
    assert!(all(&passed.open()) == expected, "a second open beside the first");
    let copy = passed.runtime.path().join("copy");
    fs::copy(passed.at("file"), &copy).unwrap();
    assert!(fs::read(copy).unwrap() == expected);

    assert_eq!(file.metadata().unwrap().len(), SIZE as u64);
    let explained = passed.explained();
    assert!(
        explained.contains("\"objects\": []") && explained.contains("\"memory_bytes\": 0,"),
        "{explained}"
    );
    drop((mapped, file));
    passed.end();
}

#[test]
fn who_has_a_replaced_file_open_keeps_it_and_who_opens_it_then_gets_the_new_one() {
    // Known for long: an open that meets another file looks again.
    let Some(passed) = Passed::start(&["--metadata-ttl", "1h"]) else { return };
    let before = passed.open();
    for seed in 2..5 {
        passed.replace(&bytes(seed));
        let joined = all(&passed.open());
        assert!(joined == bytes(1), "the same inode, which is open, is the same file");
    }
    let mut piece = vec![0; 4096];
    before.read_exact_at(&mut piece, (SIZE - 4096) as u64).unwrap();
    assert!(piece == bytes(1)[SIZE - 4096..]);
    drop(before);
    let new = all(&until(|| Some(passed.open()).filter(|file| head(file) == head_of(4))));
    assert!(new == bytes(4));
    fs::remove_file(passed.stored("file")).unwrap();
    until(|| File::open(passed.at("file")).err());
    passed.end();
}

/// What `find` finds at last: closing a file is told to the mount some time after.
fn until<T>(find: impl Fn() -> Option<T>) -> T {
    let deadline = std::time::Instant::now() + super::support::DEADLINE;
    while std::time::Instant::now() < deadline {
        match find() {
            Some(found) => return found,
            None => std::thread::yield_now(),
        }
    }
    panic!("it never comes");
}

fn head(file: &File) -> Vec<u8> {
    let mut head = vec![0; 4096];
    file.read_exact_at(&mut head, 0).unwrap();
    head
}

fn head_of(seed: u64) -> Vec<u8> {
    bytes(seed)[..4096].to_vec()
}

#[test]
fn what_is_written_to_an_open_file_is_seen_at_once() {
    let Some(passed) = Passed::start(&[]) else { return };
    let (file, mut piece) = (passed.open(), [0; 5]);
    // SAFETY: that it changes is what is to be seen.
    let mapped = unsafe { Mmap::map(&file) }.unwrap();
    let source = OpenOptions::new().write(true).open(passed.stored("file")).unwrap();
    source.write_all_at(b"hello", 100).unwrap();
    file.read_exact_at(&mut piece, 100).unwrap();
    assert_eq!((&piece, &mapped[100..105]), (b"hello", &b"hello"[..]));
    drop((mapped, file));
    passed.end();
}

#[test]
fn many_who_open_and_close_a_file_at_once_all_get_its_bytes() {
    let Some(passed) = Passed::start(&[]) else { return };
    let expected = bytes(1);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..50).for_each(|_| assert!(head(&passed.open()) == expected[..4096])));
        }
    });
    passed.end();
}

#[test]
fn where_it_is_not_allowed_files_are_read_as_without_and_that_is_said_once() {
    let (source, directory) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(source.path().join("file"), bytes(1)).unwrap();
    let mount = start_as_nobody(&["--passthrough"], source.path(), directory.path());
    let program = |name: &str| if is_root() { nobody(name) } else { Command::new(name) };
    for _ in 0..2 {
        let cat = output(program("cat").arg(directory.path().join("file")));
        assert!(cat.stdout == bytes(1), "{:?}", cat.status);
    }
    mount.signal(Signal::TERM);
    let (status, said) = mount.end();
    assert_eq!(status.code(), Some(0), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines[0].starts_with("forerun: files are read as without --passthrough: "), "{said}");
    assert!(lines[0].ends_with("mount as root") || lines[0].contains("this kernel cannot"), "{said}");
}

/// Mounts of overlays, taken away when dropped; the last is above the others.
struct Overlays(Vec<TempDir>);

impl Overlays {
    /// `count` overlays above one another, the lowest above a directory of its own with
    /// `file`; nothing where there are none.
    fn new(count: usize) -> Option<Overlays> {
        let mut overlays = Overlays(vec![tempfile::tempdir().unwrap()]);
        fs::write(overlays.top().join("file"), bytes(1)).unwrap();
        for _ in 0..count {
            let (empty, above) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let layers = format!("lowerdir={}:{}", overlays.top().display(), empty.path().display());
            let mut mount = Command::new("mount");
            mount.args(["-t", "overlay", "overlay", "-o", &layers]).arg(above.path());
            if !output(&mut mount).status.success() {
                println!("skipped: no overlays can be mounted here");
                return None;
            }
            overlays.0.push(above);
        }
        Some(overlays)
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
fn files_that_lie_above_too_many_file_systems_are_read_as_without_and_that_is_said_once() {
    let Some(overlays) = Overlays::new(2) else { return };
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
    let reason = "it is on a file system that lies above too many others";
    assert!(lines[0].contains(reason) || lines[0].contains("files are read as without"), "{said}");
}

#[test]
fn a_directory_on_an_overlay_is_passed_through() {
    let Some(overlays) = Overlays::new(1) else { return };
    let Some(passed) = Passed::start_on(&[], overlays.top()) else { return };
    assert!(all(&passed.open()) == bytes(1));
    passed.end();
}

#[test]
fn it_is_for_directories_and_not_for_what_must_see_reads() {
    let run = |arguments: &[&str]| {
        let output = output(forerun().arg("mount").arg("--passthrough").args(arguments));
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for option in ["--hints", "--learn=profile"] {
        let (code, said) = run(&[option, "/", "/mnt"]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("cannot be used with"), "{said}");
    }
}
