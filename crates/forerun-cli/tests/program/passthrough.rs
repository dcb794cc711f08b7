//! `forerun mount --passthrough`.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};

use memmap2::Mmap;
use rustix::fs::{Advice, OFlags, fadvise};
use rustix::process::Signal;

use super::passed::{Passed, SIZE, all, bytes};
use super::support::{forerun, output};
use super::users::{ordinary_user, start_as_nobody};

#[test]
#[ignore = "needs root and Linux 6.9: make test runs it as root"]
fn every_way_of_reading_gets_the_bytes_and_none_comes_by_the_mount() {
    let passed = Passed::start(&[]);
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
#[ignore = "needs root and Linux 6.9: make test runs it as root"]
fn an_open_replaced_file_stays_and_a_new_open_gets_the_new_file() {
    // Known for long: an open that meets another file looks again.
    let passed = Passed::start(&["--metadata-ttl", "1h"]);
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

/// Retries `find` until it finds something: the mount hears of a closed file some time later.
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
#[ignore = "needs root and Linux 6.9: make test runs it as root"]
fn writes_to_an_open_file_are_seen_at_once() {
    let passed = Passed::start(&[]);
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
#[ignore = "needs root and Linux 6.9: make test runs it as root"]
fn many_who_open_and_close_a_file_at_once_all_get_its_bytes() {
    let passed = Passed::start(&[]);
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
    for _ in 0..2 {
        let cat = output(ordinary_user("cat").arg(directory.path().join("file")));
        assert!(cat.stdout == bytes(1), "{:?}", cat.status);
    }
    mount.signal(Signal::TERM);
    let (status, said) = mount.end();
    assert_eq!(status.code(), Some(0), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines[0].starts_with("forerun: --passthrough is not used: "), "{said}");
    assert!(
        lines[0].ends_with("mount as root") || lines[0].contains("this kernel does not support"),
        "{said}"
    );
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
