//! Limits and rights of the machine, as `forerun doctor` finds them.

use std::fs;
use std::process::{Command, Stdio};

use super::super::users::ordinary_user;
use super::{doctor, has, lines};

/// The lines of `forerun doctor` with `arguments`, started by `starter`.
fn started_by(starter: &mut Command, arguments: &[&str]) -> String {
    starter.args([env!("CARGO_BIN_EXE_forerun"), "doctor"]).args(arguments);
    lines(starter.stdin(Stdio::null()))
}

/// A shell that runs `script`, whose arguments are the program and its own.
fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]);
    command
}

#[test]
fn few_files_that_may_be_open_are_a_warning() {
    let said = started_by(&mut shell("ulimit -n 256; exec \"$@\""), &[]);
    assert!(has(&said, "warning", "files: this process may open 256 files"), "{said}");
    assert!(
        has(&said, "warning", ": run `ulimit -n 1024` before, or set LimitNOFILE in the service"),
        "{said}"
    );
    let said = started_by(&mut shell("ulimit -n 1024; exec \"$@\""), &[]);
    assert!(has(&said, "ok", "files: "), "{said}");
}

#[test]
fn memory_that_is_not_there_is_a_fault() {
    let said = doctor(&["--memory", "1000000G"]);
    assert!(has(&said, "fault", "memory: a mount with --memory "), "{said}");
}

const MEMORY_ADVICE: &str = "only 1 GiB: give a smaller --memory, or raise the limit";

#[test]
fn memory_that_ulimit_refuses_is_a_fault() {
    let gibibyte = "ulimit -v 1048576; exec \"$@\"";
    let said = started_by(&mut shell(gibibyte), &["--memory", "1GiB"]);
    assert!(has(&said, "fault", "memory: a mount with --memory 1 GiB takes up to 1192 MiB"), "{said}");
    assert!(has(&said, "fault", &format!("`ulimit -v` allows this process {MEMORY_ADVICE}")), "{said}");
    let said = started_by(&mut shell(gibibyte), &["--memory", "512MiB"]);
    assert!(has(&said, "ok", "`ulimit -v` allows this process 1 GiB"), "{said}");
}

#[test]
#[ignore = "needs root and the memory controller of cgroup v1: make test runs it as root"]
fn memory_that_a_control_group_refuses_is_a_fault() {
    // The shell leaves the group before that is removed.
    let script = "set -e; group=/sys/fs/cgroup/memory/forerun-doctor-$$; mkdir $group
        echo 1073741824 > $group/memory.limit_in_bytes; echo $$ > $group/cgroup.procs
        status=0; \"$@\" || status=$?
        echo $$ > $group/../cgroup.procs; rmdir $group; exit $status";
    let said = started_by(&mut shell(script), &["--memory", "1GiB"]);
    assert!(has(&said, "fault", "memory: ") && has(&said, "fault", MEMORY_ADVICE), "{said}");
    assert!(has(&said, "fault", "the control group (/sys/fs/cgroup/memory/forerun-doctor-"), "{said}");
}

#[test]
fn an_ordinary_user_needs_the_setting_only_for_other_users() {
    let said = started_by(&mut ordinary_user("env"), &["--allow-other"]);
    let settings = fs::read_to_string("/etc/fuse.conf").unwrap_or_default();
    let is_set = settings.lines().any(|line| line.trim() == "user_allow_other");
    assert!(has(&said, if is_set { "ok" } else { "fault" }, "allow-other: "), "{said}");
    assert!(has(&said, "ok", "right: ") && has(&said, "ok", "device: "), "these tests mount: {said}");
}

#[test]
fn an_ordinary_user_needs_a_helper_that_may_become_root() {
    let said = started_by(ordinary_user("env").arg("PATH=/nowhere"), &[]);
    assert!(has(&said, "fault", "right: fusermount3 is not in PATH: install the package fuse3"), "{said}");
    let said = started_by(ordinary_user("setpriv").args(["--no-new-privs", "--"]), &[]);
    let advice = "under no-new-privileges: run as root, or serve a descriptor (docs/containers.md)";
    assert!(has(&said, "fault", &format!("/fusermount3 cannot mount {advice}")), "{said}");
}

#[test]
#[ignore = "needs root: make test runs it as root"]
fn root_needs_the_capability_to_mount() {
    let said = started_by(Command::new("setpriv").args(["--bounding-set=-sys_admin", "--"]), &[]);
    let advice = "start the container with `--cap-add SYS_ADMIN`, or serve a descriptor (docs/containers.md)";
    let words = format!("right: this process is root without CAP_SYS_ADMIN: {advice}");
    assert!(has(&said, "fault", &words), "{said}");
}

#[test]
#[ignore = "needs root: make test runs it as root"]
fn a_device_that_is_missing_or_closed_is_a_fault() {
    // Only this shell sees its /dev. Nobody can open a device in a file system that is mounted with nodev.
    for (node, words) in [
        ("", "device: /dev/fuse does not exist: run `modprobe fuse` as root, or start the container with"),
        ("mknod /dev/fuse c 10 229;", "or run `chmod 666 /dev/fuse` as root"),
    ] {
        let script = format!("mount -t tmpfs -o nodev devices /dev; {node} exec \"$@\"");
        let said = started_by(Command::new("unshare").args(["--mount", "sh", "-c", &script, "sh"]), &[]);
        assert!(has(&said, "fault", words) && has(&said, "fault", "`--device /dev/fuse`"), "{said}");
    }
}
