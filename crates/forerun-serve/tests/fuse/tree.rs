//! A mounted tree equals its source.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirEntryExt, FileExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use super::support::{Mounted, fill_with_everything, pattern, run};

const TTL: Duration = Duration::from_secs(1);

fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap()
}

/// The entries below `directory`, their names sorted.
fn names(directory: &Path) -> BTreeSet<String> {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn every_byte_name_and_link_is_the_same() {
    let mounted = Mounted::new(TTL, TTL, fill_with_everything);
    run(Command::new("diff").args(["-r", "--no-dereference"]).arg(mounted.source.path()).arg(mounted.path()));
    assert_eq!(fs::read(mounted.at("a/large")).unwrap(), pattern(3 << 20, 1));
    assert_eq!(fs::read(mounted.at("link")).unwrap(), b"space");
    assert_eq!(fs::read_link(mounted.at("a/dangling")).unwrap(), Path::new("/nowhere/at all"));
}

#[test]
fn every_attribute_is_the_same() {
    fn compare(source: &Path, mounted: &Path) {
        let (a, b) = (fs::symlink_metadata(source).unwrap(), fs::symlink_metadata(mounted).unwrap());
        assert_eq!(a.file_type(), b.file_type(), "{mounted:?}");
        assert_eq!((a.mtime(), a.mtime_nsec()), (b.mtime(), b.mtime_nsec()), "{mounted:?}");
        assert_eq!(a.permissions(), b.permissions(), "{mounted:?}");
        assert_eq!((a.uid(), a.gid()), (b.uid(), b.gid()), "{mounted:?}");
        if !a.is_dir() {
            assert_eq!(a.len(), b.len(), "{mounted:?}");
            assert_eq!(b.blocks(), a.len().div_ceil(512), "{mounted:?}");
            return;
        }
        assert_eq!(names(source), names(mounted));
        for name in names(source) {
            compare(&source.join(&name), &mounted.join(&name));
        }
    }
    let mounted = Mounted::new(TTL, TTL, fill_with_everything);
    compare(mounted.source.path(), mounted.path());
    assert_eq!(fs::metadata(mounted.at("hello.txt")).unwrap().permissions().mode(), 0o100640);
}

#[test]
fn a_directory_of_thousands_lists_each_once_with_its_inode() {
    let mounted = Mounted::new(TTL, TTL, |root| {
        for index in 0..3000 {
            fs::write(root.join(format!("file number {index}")), index.to_string()).unwrap();
        }
    });
    let entries: Vec<_> = fs::read_dir(mounted.path()).unwrap().map(Result::unwrap).collect();
    assert_eq!(entries.len(), 3000);
    assert_eq!(names(mounted.path()), names(mounted.source.path()));
    for entry in &entries {
        assert_eq!(entry.ino(), entry.metadata().unwrap().ino(), "{:?}", entry.path());
    }
    assert!(entries.iter().map(DirEntryExt::ino).is_sorted(), "whoever sorts by it keeps the order");
    let inodes: BTreeSet<u64> = entries.iter().map(DirEntryExt::ino).collect();
    assert_eq!(inodes.len(), 3000);
}

#[test]
fn reads_at_random_and_from_many_threads_are_the_same() {
    let bytes = pattern(3 << 20, 7);
    let mounted = Mounted::new(TTL, TTL, |root| fs::write(root.join("file"), &bytes).unwrap());
    let file = File::open(mounted.at("file")).unwrap();
    thread::scope(|scope| {
        for reader in 0..4 {
            let (bytes, file) = (&bytes, &file);
            scope.spawn(move || {
                for step in 0..100 {
                    let offset = (reader * 7_919_113 + step * 1_000_003) % bytes.len();
                    let mut buffer = vec![0; 1 + (step * 977) % 70_000];
                    let len = file.read_at(&mut buffer, offset as u64).unwrap();
                    assert_eq!(len, buffer.len().min(bytes.len() - offset));
                    assert_eq!(buffer[..len], bytes[offset..offset + len], "{len} bytes at {offset}");
                }
            });
        }
    });
    assert_eq!(file.read_at(&mut [0; 10], 3 << 20).unwrap(), 0);
}

#[test]
fn nothing_can_be_written() {
    const EROFS: i32 = 30;
    let mounted = Mounted::new(TTL, TTL, fill_with_everything);
    let hello = mounted.at("hello.txt");
    let attempts: Vec<(&str, io::Result<()>)> = vec![
        ("create", File::create(mounted.at("new")).map(drop)),
        ("open to write", OpenOptions::new().write(true).open(&hello).map(drop)),
        ("truncate", OpenOptions::new().write(true).truncate(true).open(&hello).map(drop)),
        ("remove", fs::remove_file(&hello)),
        ("rename", fs::rename(&hello, mounted.at("other"))),
        ("link", fs::hard_link(&hello, mounted.at("other"))),
        ("symlink", std::os::unix::fs::symlink("x", mounted.at("other"))),
        ("mkdir", fs::create_dir(mounted.at("other"))),
        ("rmdir", fs::remove_dir(mounted.at("no files"))),
        ("chmod", fs::set_permissions(&hello, fs::Permissions::from_mode(0o777))),
    ];
    for (what, result) in attempts {
        assert_eq!(errno(&result.unwrap_err()), EROFS, "{what}");
    }
    assert_eq!(fs::read(&hello).unwrap(), b"hello\n");
}

#[test]
fn a_missing_name_is_not_found() {
    const ENOENT: i32 = 2;
    const ENOTDIR: i32 = 20;
    let mounted = Mounted::new(TTL, TTL, fill_with_everything);
    for _ in 0..2 {
        assert_eq!(errno(&fs::metadata(mounted.at("none")).unwrap_err()), ENOENT);
        assert_eq!(errno(&File::open(mounted.at("a/b/none")).unwrap_err()), ENOENT);
    }
    assert_eq!(errno(&fs::metadata(mounted.at("hello.txt/x")).unwrap_err()), ENOTDIR);
}

#[test]
fn a_new_file_appears_at_once_if_nothing_is_remembered() {
    let mounted = Mounted::new(Duration::ZERO, Duration::ZERO, |_| {});
    assert!(names(mounted.path()).is_empty());
    assert!(fs::metadata(mounted.at("new")).is_err());
    fs::write(mounted.source.path().join("new"), "new").unwrap();
    assert_eq!(fs::read(mounted.at("new")).unwrap(), b"new");
    fs::remove_file(mounted.source.path().join("new")).unwrap();
    assert!(fs::metadata(mounted.at("new")).is_err());
    assert!(names(mounted.path()).is_empty());
}
