//! `forerun mount --learn` and what programs say of how they will read.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use rustix::fs::{XattrFlags, getxattr, listxattr, removexattr, setxattr};
use rustix::io::Errno;
use rustix::process::Signal;
use tempfile::TempDir;

use super::support::{Foreground, cat, forerun, output};

const ATTRIBUTE: &str = "user.forerun.advice";

/// A directory with one file of a MiB, and an empty one to mount it on.
fn source_and_directory() -> (TempDir, TempDir) {
    let source = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..1 << 20).map(|index: u32| (index / 7) as u8).collect();
    fs::write(source.path().join("data"), bytes).unwrap();
    (source, tempfile::tempdir().unwrap())
}

fn start(options: &[&str], source: &Path, directory: &Path) -> Foreground {
    Foreground::start(forerun().arg("mount").args(options).arg(source).arg(directory), directory)
}

/// The extents in a profile of one object, as offsets and lengths in order, with adjacent ones
/// merged. The kernel may ask for a reader's next bytes in any order.
fn learned(profile: &str) -> Vec<(u64, u64)> {
    let extents = profile.lines().filter_map(|line| line.split_once('+'));
    let len = |rest: &str| rest.split('@').next().unwrap().parse().unwrap();
    let mut extents: Vec<(u64, u64)> =
        extents.map(|(offset, rest)| (offset.parse().unwrap(), len(rest))).collect();
    extents.sort();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (offset, len) in extents {
        match joined.last_mut() {
            Some(last) if last.0 + last.1 == offset => last.1 += len,
            _ => joined.push((offset, len)),
        }
    }
    joined
}

#[test]
fn an_unmount_writes_the_reads_to_the_profile_and_the_next_mount_uses_it() {
    let (source, directory) = source_and_directory();
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("boot.profile");
    let options = ["--learn", profile.to_str().unwrap()];
    for _ in 0..2 {
        let mount = start(&options, source.path(), directory.path());
        assert_eq!(cat(&directory.path().join("data")), fs::read(source.path().join("data")).unwrap());
        mount.signal(Signal::TERM);
        let (status, said) = mount.end();
        assert_eq!(status.code(), Some(0), "{said}");
        let text = fs::read_to_string(&profile).unwrap();
        assert!(text.starts_with("forerun profile 1\nobject 1048576 ="), "{text}");
        assert!(text.contains(" =data\n") && text.ends_with("\nend 1\n"), "{text}");
        assert_eq!(learned(&text), [(0, 1 << 20)], "{text}");
        assert!(!text.contains(source.path().to_str().unwrap()), "{text}");
    }
    fs::write(&profile, "my notes").unwrap();
    let refused = output(forerun().arg("mount").args(options).arg(source.path()).arg(directory.path()));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("boot.profile is not a profile of Forerun") && said.contains("--learn"), "{said}");
}

#[test]
fn a_profile_that_could_not_be_kept_is_refused_at_once_or_told_of_once() {
    let (source, directory) = source_and_directory();
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("boot.profile");
    let options = ["--learn", profile.to_str().unwrap()];
    let mount = start(&options, source.path(), directory.path());
    cat(&directory.path().join("data"));
    drop(folder);
    mount.signal(Signal::TERM);
    let (status, said) = mount.end();
    assert_eq!(status.code(), Some(1), "{said}");
    assert_eq!(said.matches("boot.profile cannot be written").count(), 1, "{said}");

    let refused = output(forerun().arg("mount").args(options).arg(source.path()).arg(directory.path()));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        said.contains("boot.profile cannot be written") && said.contains("name a file in a directory"),
        "{said}"
    );
}

#[test]
fn advice_is_an_attribute_where_hints_are_allowed() {
    let (source, directory) = source_and_directory();
    let _mount = start(&["--hints"], source.path(), directory.path());
    let data = directory.path().join("data");
    let set = |name: &str, text: &str| setxattr(&data, name, text.as_bytes(), XattrFlags::empty());
    let get = || {
        let mut buf = [0; 256];
        let len = getxattr(&data, ATTRIBUTE, &mut buf[..]).unwrap();
        String::from_utf8(buf[..len].to_vec()).unwrap()
    };
    assert_eq!(get(), "normal");
    for text in ["sequential", "random", "willneed 65536+65536 0+4096", "normal"] {
        set(ATTRIBUTE, text).unwrap();
        assert_eq!(get(), text);
        let expected = fs::read(source.path().join("data")).unwrap();
        assert_eq!(cat(&data), expected, "{text}");
    }
    set(ATTRIBUTE, "dontneed 0+1048576").unwrap();
    assert_eq!(get(), "normal", "nothing to remember");
    set(ATTRIBUTE, "random").unwrap();
    removexattr(&data, ATTRIBUTE).unwrap();
    assert_eq!(get(), "normal");
    assert_eq!(set(ATTRIBUTE, "fast"), Err(Errno::INVAL));
    let mut names = [0; 64];
    let len = listxattr(&data, &mut names[..]).unwrap();
    assert_eq!(&names[..len], format!("{ATTRIBUTE}\0").as_bytes());

    // Nothing else may be changed.
    assert_eq!(set("user.other", "x"), Err(Errno::ROFS));
    assert_eq!(setxattr(directory.path(), ATTRIBUTE, b"random", XattrFlags::empty()), Err(Errno::PERM));
    let refused = [
        File::options().write(true).open(&data).unwrap_err(),
        File::create(directory.path().join("new")).unwrap_err(),
        fs::remove_file(&data).unwrap_err(),
        fs::create_dir(directory.path().join("new")).unwrap_err(),
        fs::set_permissions(&data, fs::metadata(&data).unwrap().permissions()).unwrap_err(),
    ];
    for error in refused {
        assert_eq!(Errno::from_io_error(&error), Some(Errno::ROFS), "{error}");
    }
}

#[test]
fn an_ioctl_says_the_same_of_an_open_file_and_needs_no_hints() {
    let (source, directory) = source_and_directory();
    let _mount = start(&[], source.path(), directory.path());
    // Read through a child, so that no other test's child inherits the open file.
    let script = "import fcntl, sys\n\
                  f = open(sys.argv[1], 'rb')\n\
                  fcntl.ioctl(f, 1 << 30 | 64 << 16 | ord('F') << 8 | 0xAD, sys.argv[2].encode().ljust(64, b'\\0'))";
    let say = |text: &str| {
        output(Command::new("python3").args(["-c", script]).arg(directory.path().join("data")).arg(text))
    };
    for text in ["random", "sequential", "willneed 0+65536", "dontneed 0+4096", "normal"] {
        let said = say(text);
        assert!(said.status.success(), "{text}: {said:?}");
    }
    let refused = String::from_utf8(say("fast").stderr).unwrap();
    assert!(refused.contains("Invalid argument"), "{refused}");
}

#[test]
fn without_hints_the_kernel_keeps_all_changes_away() {
    let (source, directory) = source_and_directory();
    let _mount = start(&[], source.path(), directory.path());
    let data = directory.path().join("data");
    assert_eq!(setxattr(&data, ATTRIBUTE, b"random", XattrFlags::empty()), Err(Errno::ROFS));
    assert_eq!(getxattr(&data, ATTRIBUTE, &mut [0; 8][..]), Err(Errno::OPNOTSUPP));
}
