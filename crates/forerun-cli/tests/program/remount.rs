//! `mount -o remount` of a mount.

use std::path::Path;
use std::process::Command;

use super::mount::{HELLO, source_and_directory, start};
use super::support::{cat, output};

#[test]
#[ignore = "needs root: make test runs it as root"]
fn mount_changes_the_options_of_a_mount() {
    // Without it, `mount` asks the kernel itself.
    assert!(Path::new("/sbin/mount.fuse").exists(), "install the package fuse3");
    let (source, directory) = source_and_directory();
    let mount = start(source.path(), directory.path());
    // Where `mount.fuse` looks for programs. The mounts of the script are its own.
    let script = "mount --bind \"$1\" /usr/local/bin && mount -o remount,noexec \"$2\" && mount -i -o remount,noatime \"$2\" && grep \"$2\" /proc/mounts";
    let programs = Path::new(env!("CARGO_BIN_EXE_forerun")).parent().unwrap();
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, "sh"]).arg(programs).arg(directory.path());
    let output = output(&mut command);
    let mounts = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{mounts}{}", String::from_utf8_lossy(&output.stderr));
    let options: Vec<&str> = mounts.split(' ').nth(3).unwrap().split(',').collect();
    for option in ["ro", "nosuid", "nodev", "noexec", "noatime", "default_permissions"] {
        assert!(options.contains(&option), "{option} is not in {mounts}");
    }
    assert_eq!(cat(&directory.path().join("hello")), HELLO);
    drop(mount);
}
