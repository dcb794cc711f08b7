//! The program's help, and its errors for commands that cannot work.

use std::fs;
use std::path::Path;

use super::support::{forerun, is_mounted, output};

/// Runs `forerun` with `arguments`: its exit status, and what it wrote to
/// standard output and standard error.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = output(forerun().args(arguments));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_source_that_cannot_be_mounted_gives_one_sentence_and_no_mount() {
    let temp = tempfile::tempdir().unwrap();
    let path = |name: &str| temp.path().join(name).to_str().unwrap().to_owned();
    let (source, empty, full) = (path("source"), path("empty"), path("full"));
    for directory in [&source, &empty, &full] {
        fs::create_dir(directory).unwrap();
    }
    fs::write(path("full/file"), "").unwrap();
    let (file, none) = (path("full/file"), path("none"));
    let failures: [(&[&str], &str); 9] = [
        (&[&source, &full], "is not empty"),
        (&[&source, &file], "is not a directory"),
        (&[&source, &none], "does not exist: create it with `mkdir"),
        (&[&none, &empty], "none"),
        (&[&empty, "http://user:secret@host/x"], "the URL comes first: forerun mount http://host/x "),
        (&["gopher://example.org", &empty], "gopher"),
        (&["/dev/null", &empty], "neither a directory nor a file"),
        (&["--memory", "64K", &source, &empty], "at least 4 MiB"),
        (&["--log", "/nowhere/log", &source, &empty], "the log file /nowhere/log"),
    ];
    for (arguments, expected) in failures {
        let (code, stdout, stderr) = run(&[&["mount"], arguments].concat());
        assert_eq!(code, 1, "{arguments:?}: {stderr}");
        assert!(stderr.starts_with("forerun: ") && stderr.contains(expected), "{arguments:?}: {stderr}");
        assert_eq!((stdout.as_str(), stderr.lines().count()), ("", 1), "{arguments:?}: {stderr}");
        assert!(!is_mounted(Path::new(&empty)), "{arguments:?}");
    }
}

#[test]
fn a_command_that_makes_no_sense_ends_with_2_and_says_what_was_expected() {
    let mistakes: [(&[&str], &str); 9] = [
        (&[], "Usage:"),
        (&["mount"], "<URL>"),
        (&["mount", "/"], "<DIR>"),
        (&["mount", "--policy", "psychic", "/", "/mnt"], "adaptive"),
        (&["mount", "--memory", "lots", "/", "/mnt"], "256MiB"),
        (&["mount", "--metadata-ttl", "1", "/", "/mnt"], "500ms"),
        (&["mount", "--kernel-readahead", "0", "/", "/mnt"], "4KiB"),
        (&["mount", "--write", "/", "/mnt"], "--write"),
        (&["amount"], "mount"),
    ];
    for (arguments, expected) in mistakes {
        let (code, _, stderr) = run(arguments);
        assert_eq!(code, 2, "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_broken_pipe_is_not_an_error() {
    let tables: [&[&str]; 3] = [
        &["lab", "seeds", "--list"],
        &["lab", "rows", "--only", "backward", "--policy", "none"],
        &["trace", "formats"],
    ];
    for arguments in tables {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = forerun().args(arguments).stdout(writer).output().unwrap();
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!((ended.status.code(), stderr.as_ref()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_broken_pipe_keeps_the_exit_status() {
    let complaints: [(&[&str], i32); 4] = [
        (&["trace", "info", "/does/not/exist"], 1),
        (&["explain", "/does/not/exist"], 1),
        (&["mount", "/does/not/exist", "/does/not/exist"], 1),
        (&["mount", "--write", "/", "/mnt"], 2),
    ];
    for (arguments, status) in complaints {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut complaining = forerun();
        complaining.args(arguments).stdout(writer.try_clone().unwrap()).stderr(writer);
        assert_eq!(complaining.status().unwrap().code(), Some(status), "{arguments:?}");
    }
}

#[test]
fn help_has_examples_and_the_version_is_told() {
    let (code, stdout, _) = run(&["help", "mount"]);
    assert_eq!(code, 0);
    for word in ["Examples:", "s3://", "https://", "--memory", "--passthrough", "--daemon", "fusermount3 -u"]
    {
        assert!(stdout.contains(word), "{word} is not in {stdout}");
    }
    let (code, stdout, _) = run(&["help"]);
    assert_eq!((code, stdout.contains("mount"), stdout.contains("Exit status:")), (0, true, true));
    let (code, stdout, _) = run(&["--version"]);
    assert_eq!((code, stdout), (0, format!("forerun {}\n", env!("CARGO_PKG_VERSION"))));
}
