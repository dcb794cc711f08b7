//! `forerun explain`.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use rustix::process::Signal;
use tempfile::TempDir;

use super::support::{DEADLINE, Foreground, cat, forerun, output, unmount_leftovers};

const SIZE: u64 = 32 << 20;
const LEN: u64 = 64 << 10;

/// The status and outputs of `forerun` with `arguments`, when the sockets are in `runtime`.
pub(crate) fn run(runtime: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = output(in_runtime(runtime).arg("explain").args(arguments));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

pub(crate) fn in_runtime(runtime: &Path) -> Command {
    let mut command = forerun();
    command.env("XDG_RUNTIME_DIR", runtime);
    command
}

pub(crate) fn start(runtime: &Path, source: &Path, directory: &Path) -> Foreground {
    Foreground::start(in_runtime(runtime).arg("mount").arg(source).arg(directory), directory)
}

/// A folder for sockets, a directory with three files, and an empty one to mount it on.
pub(crate) fn folders() -> [TempDir; 3] {
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    for name in ["up", "down", "steps"] {
        File::create(folders[1].path().join(name)).unwrap().set_len(SIZE).unwrap();
    }
    folders
}

fn read(file: &File, offsets: impl Iterator<Item = u64>, len: u64) {
    let mut buf = vec![0; len as usize];
    offsets.for_each(|offset| file.read_exact_at(&mut buf, offset).unwrap());
}

/// The line that tells of `object`.
fn line<'a>(said: &'a str, object: &str) -> &'a str {
    said.lines().find(|line| line.starts_with(&format!("{object}: "))).unwrap_or_else(|| panic!("{said}"))
}

#[test]
fn a_running_mount_says_which_way_each_stream_goes_and_how_far_ahead_it_reads() {
    let [runtime, source, directory] = folders();
    let runtime = runtime.path();
    let mount = start(runtime, source.path(), directory.path());
    assert!(run(runtime, &[]).1.contains("the storage: nothing was fetched yet"));
    let [up, down, steps] =
        ["up", "down", "steps"].map(|name| File::open(directory.path().join(name)).unwrap());
    read(&up, (0..64).map(|index| index * LEN), LEN);
    read(&down, (1..64).map(|index| SIZE - index * LEN), LEN);
    read(&steps, (1..24).map(|index| index << 20), 16 << 10);

    let pid = mount.id().to_string();
    let (code, said, errors) = run(runtime, &[directory.path().to_str().unwrap()]);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{said}");
    for (object, class) in [("up", "forward"), ("down", "backward"), ("steps", "strided")] {
        let line = line(&said, object);
        assert!(line.contains(&format!(": {class} at ")) && line.contains(", window "), "{line}");
        assert!(line.contains(" of 32 MiB") && line.contains(" in time, "), "{line}");
        let mut after = said.lines().skip_while(|other| *other != line).skip(1);
        assert!(after.next().is_some_and(|line| line.starts_with("    account: ")), "{said}");
    }
    for word in [&pid, source.path().to_str().unwrap(), "policy adaptive", "of 256 MiB", "first bytes"] {
        assert!(said.contains(word), "{word} is not in {said}");
    }

    // By its process and its URL in two ways; it need not be the only one.
    let url = url::Url::from_directory_path(source.path()).unwrap();
    for target in [&[pid.as_str()][..], &[source.path().to_str().unwrap()], &[url.as_str()]] {
        let (code, said, errors) = run(runtime, target);
        assert_eq!(code, Some(0), "{target:?}: {errors}");
        assert!(said.contains("\nup: forward at "), "{target:?}: {said}");
    }
    let (_, json, _) = run(runtime, &["--json", &pid]);
    for word in [
        "\"class\": \"backward\"",
        "\"why\": \"",
        "\"window_bytes\": ",
        "\"in_time_bytes\": ",
        "\"wait_bytes\": ",
        "\"path\": \"up\"",
    ] {
        assert!(json.contains(word), "{word} is not in {json}");
    }
    drop((up, down, steps));
}

#[test]
fn of_a_closed_object_no_more_is_in_memory_than_it_has() {
    let [runtime, source, directory] = folders();
    fs::write(source.path().join("small"), [0; 5000]).unwrap();
    let mount = start(runtime.path(), source.path(), directory.path());
    assert_eq!(cat(&directory.path().join("small")).len(), 5000);
    // The kernel tells of a close later.
    let deadline = Instant::now() + DEADLINE;
    let closed = "small: closed, all of 4.8 KiB in memory; ";
    loop {
        let said = run(runtime.path(), &[]).1;
        if said.contains(closed) {
            break;
        }
        assert!(Instant::now() < deadline, "{said}");
    }
    drop(mount);
}

#[test]
fn which_mounts_there_are_is_said_where_none_or_more_than_one_is_meant() {
    let [runtime, source, directory] = folders();
    let [_, other_source, other_directory] = folders();
    let runtime = runtime.path();
    let none = |said: &str| assert!(said.contains("no mount of this user is running"), "{said}");
    none(&run(runtime, &["/nowhere"]).2);

    let mount = start(runtime, source.path(), directory.path());
    let (code, _, said) = run(runtime, &["s3://elsewhere/"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.starts_with("forerun: there is no mount of s3://elsewhere/; running mounts: ")
            && said.lines().count() == 1,
        "{said}"
    );
    assert!(said.contains(directory.path().to_str().unwrap()), "{said}");
    let other = start(runtime, other_source.path(), other_directory.path());
    let (code, _, said) = run(runtime, &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("more than one") && said.contains(other_directory.path().to_str().unwrap()),
        "{said}"
    );

    // One is interrupted and tidies up, the other killed: then who asks does that.
    let sockets = || fs::read_dir(runtime.join("forerun")).unwrap().count();
    mount.signal(Signal::TERM);
    assert_eq!(mount.end().0.code(), Some(0));
    assert_eq!(sockets(), 1);
    other.signal(Signal::KILL);
    other.end();
    unmount_leftovers(other_directory.path());
    none(&run(runtime, &[]).2);
    assert_eq!(sockets(), 0);
}
