//! `forerun list` and `forerun unmount`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::mount::{HELLO, source_and_directory, start};
use super::support::{Foreground, cat, forerun, is_mounted, output};

/// The status, the output and the errors of `forerun` with `arguments` and `directory`.
fn run(arguments: &[&str], directory: Option<&Path>) -> (Option<i32>, String, String) {
    let output = output(forerun().args(arguments).args(directory));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_list_has_directory_url_process_and_memory_of_a_mount() {
    let (source, directory) = source_and_directory();
    let mount = start(source.path(), directory.path());
    let (code, said, _) = run(&["list"], None);
    let place = format!("{}: {}, ", directory.path().display(), source.path().display());
    let line = said.lines().find(|line| line.starts_with(&place)).unwrap_or_else(|| panic!("{said}"));
    let process = format!("process {}, ", mount.id());
    assert!(code == Some(0) && line.contains(&process) && line.contains(" of 256 MiB in use, "), "{line}");
    let (_, json, _) = run(&["list", "--json"], None);
    let entry = json.split('{').find(|entry| entry.contains(directory.path().to_str().unwrap())).unwrap();
    let process = format!("\"process\": {},", mount.id());
    for part in [&process, "\"url\": \"", "\"memory_bytes_max\": 268435456,", "\"mounted_s\": "] {
        assert!(entry.contains(part), "{part} is not in {json}");
    }
}

#[test]
fn an_unmount_returns_when_the_profile_is_written() {
    let (source, directory) = source_and_directory();
    let profile = source.path().join("profile");
    let mut command = forerun();
    command.args(["mount", "--learn"]).arg(&profile).arg(source.path()).arg(directory.path());
    let mount = Foreground::start(&mut command, directory.path());
    assert_eq!(cat(&directory.path().join("hello")), HELLO);
    let (code, _, said) = run(&["unmount"], Some(directory.path()));
    let is_written = fs::metadata(&profile).is_ok();
    assert_eq!((code, is_written), (Some(0), true), "{said}");
    let state = fs::read_to_string(format!("/proc/{}/stat", mount.id())).unwrap();
    assert!(state.contains(") Z "), "it has ended: {state}");
    assert_eq!(mount.end().0.code(), Some(0));
}

/// A program that has `file` open until its standard input ends.
fn hold(file: &Path) -> Child {
    let mut command = Command::new("sh");
    command.args(["-c", "exec 3<\"$1\"; echo held; read -r end", "sh"]).arg(file);
    let mut holder = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "held\n");
    holder
}

#[test]
fn a_mount_in_use_stays_and_its_users_are_named_unless_it_is_to_go_anyway() {
    let (source, directory) = source_and_directory();
    let mount = start(source.path(), directory.path());
    let mut holder = hold(&directory.path().join("hello"));
    let (code, _, said) = run(&["unmount"], Some(directory.path()));
    assert_eq!((code, is_mounted(directory.path())), (Some(1), true), "{said}");
    let named = format!("sh (process {})", holder.id());
    assert!(said.contains(&named) && said.contains("--lazy"), "{said}");

    let (code, _, said) = run(&["unmount", "--lazy"], Some(directory.path()));
    assert_eq!((code, is_mounted(directory.path())), (Some(0), false), "{said}");
    drop(holder.stdin.take());
    holder.wait().unwrap();
    let (status, said) = mount.end();
    assert_eq!(status.code(), Some(0), "{said}");
}

#[test]
fn an_unmount_of_another_directory_says_where_to_look() {
    let (source, _) = source_and_directory();
    let (code, _, said) = run(&["unmount"], Some(source.path()));
    assert_eq!(code, Some(1));
    assert!(said.contains("is not mounted on") && said.contains("`forerun list`"), "{said}");
}
