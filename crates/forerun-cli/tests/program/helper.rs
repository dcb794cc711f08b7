//! `mount.forerun`, as `mount -t forerun` calls it.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use tempfile::TempDir;

use super::daemon::Leftovers;
use super::mount::{HELLO, source_and_directory};
use super::support::{cat, forerun, is_mounted, output, runtime, unmount};

/// A folder in which the program has the name that `mount` looks for.
fn helper() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    symlink(env!("CARGO_BIN_EXE_forerun"), folder.path().join("mount.forerun")).unwrap();
    folder
}

#[test]
fn the_helper_returns_when_the_directory_can_be_used_with_the_options_of_fstab() {
    let (helper, (source, directory)) = (helper(), source_and_directory());
    let _leftovers = Leftovers(directory.path());
    let mut command = Command::new(helper.path().join("mount.forerun"));
    command.env("XDG_RUNTIME_DIR", runtime()).arg(source.path()).arg(directory.path());
    let options = "rw,noexec,_netdev,x-systemd.automount,memory=64MiB";
    let done = output(command.args(["-n", "-o", options]));
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    assert_eq!(cat(&directory.path().join("hello")), HELLO);
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let line = mounts.lines().find(|line| line.contains(directory.path().to_str().unwrap())).unwrap();
    assert!(line.contains("noexec") && line.contains(" ro,"), "{line}");
    let listed = String::from_utf8(output(forerun().arg("list")).stdout).unwrap();
    let own = listed.lines().find(|line| line.contains(directory.path().to_str().unwrap())).unwrap();
    assert!(own.contains(" of 64 MiB in use"), "{own}");
    unmount(directory.path());
}

#[test]
fn mistakes_end_with_the_statuses_of_mount() {
    let (helper, (source, directory)) = (helper(), source_and_directory());
    let full = source.path().to_str().unwrap();
    let empty = directory.path().to_str().unwrap();
    let mistakes: [(&[&str], i32, &str); 4] = [
        (&[full, empty, "-o", "magic,ro"], 1, "no option magic"),
        (&[full, empty, "-o", "memory=lots"], 1, "256MiB"),
        (&[full], 1, "give a URL and a directory"),
        (&[full, full], 32, "is not empty"),
    ];
    for (arguments, code, expected) in mistakes {
        let done = output(Command::new(helper.path().join("mount.forerun")).args(arguments));
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
        assert!(!is_mounted(directory.path()));
    }
}

#[test]
#[ignore = "needs root: make test runs it as root"]
fn mount_finds_the_url_and_the_options_in_fstab() {
    let (helper, (source, directory)) = (helper(), source_and_directory());
    let table = helper.path().join("fstab");
    let [from, to] = [&source, &directory].map(|folder| folder.path().display());
    let options = "ro,noauto,x-systemd.automount,noexec,memory=64MiB";
    fs::write(&table, format!("{from} {to} forerun {options} 0 0\n")).unwrap();
    // Where `mount` looks for helpers. The mounts of the script are its own.
    let script = "mount --bind \"$1\" /sbin && mount -T \"$2\" \"$3\" && cat \"$3/hello\" \
                  && grep \"$3\" /proc/mounts && \"$4\" list && umount \"$3\"";
    let mut command = Command::new("unshare");
    command.env("XDG_RUNTIME_DIR", runtime()).args(["--mount", "sh", "-c", script, "sh"]);
    command.arg(helper.path()).arg(table).arg(directory.path()).arg(env!("CARGO_BIN_EXE_forerun"));
    let done = output(&mut command);
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success() && said.as_bytes().starts_with(HELLO), "{said}{:?}", done.stderr);
    let lines: Vec<&str> = said.lines().filter(|line| line.contains(&to.to_string())).collect();
    let [mounted, listed] = lines[..] else { panic!("{said}") };
    assert!(mounted.contains("noexec") && mounted.contains(" ro,"), "{mounted}");
    assert!(listed.contains(" of 64 MiB in use"), "{listed}");
}

#[test]
#[ignore = "needs root: make test runs it as root"]
fn mount_and_umount_know_the_type_forerun() {
    let (helper, (source, directory)) = (helper(), source_and_directory());
    // Where `mount` looks for helpers. The mounts of the script are its own.
    let script = "mount --bind \"$1\" /sbin && mount -t forerun -o ro,nofail,policy=none \"$2\" \"$3\" \
                  && cat \"$3/hello\" && umount \"$3\" && ! mountpoint -q \"$3\"";
    let mut command = Command::new("unshare");
    command.env("XDG_RUNTIME_DIR", runtime()).args(["--mount", "sh", "-c", script, "sh"]);
    let done = output(command.arg(helper.path()).arg(source.path()).arg(directory.path()));
    assert!(done.status.success(), "{done:?}");
    assert_eq!(done.stdout, HELLO);
}
