//! `forerun profile`.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use tempfile::TempDir;

use super::mount::{HELLO, source_and_directory};
use super::support::{Foreground, cat, forerun, output};

/// Two objects that were read in turns.
const FIRST: &str = "forerun profile 1\nobject 1048576 =1 =a\n0+8192\n65536+4096@900\n\
                     object 9000 =v%202 =deep/b\n8192+4096@500\nend 2\n";
/// Another run, which began elsewhere.
const SECOND: &str = "forerun profile 1\nobject 4096 =1 =c\n0+4096\n\
                      object 1048576 =1 =a\n131072+4096@20\n4096+8192@30\nend 2\n";

/// A folder with files `first` and `second`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("first"), FIRST).unwrap();
    fs::write(folder.path().join("second"), SECOND).unwrap();
    folder
}

/// `forerun profile` with `arguments`: its exit status, and what it wrote to standard output and standard
/// error.
fn run(folder: &Path, arguments: &str) -> (Option<i32>, String, String) {
    let output = output(forerun().current_dir(folder).arg("profile").args(arguments.split(' ')));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[track_caller]
fn succeeds(folder: &Path, arguments: &str) -> String {
    let (code, shown, said) = run(folder, arguments);
    assert_eq!((code, said.as_str()), (Some(0), ""), "{arguments}");
    shown
}

#[track_caller]
fn fails(folder: &Path, arguments: &str, words: &[&str]) {
    let (code, shown, said) = run(folder, arguments);
    assert_eq!((code, shown.as_str(), said.lines().count()), (Some(1), "", 1), "{arguments}: {said}");
    words.iter().for_each(|word| assert!(said.contains(word), "{word} is not in {said}"));
}

#[test]
fn a_profile_is_shown_as_a_table_and_as_json() {
    let folder = folder();
    let shown = succeeds(folder.path(), "show first");
    let expected = "objects: 2, extents: 3, bytes: 12 KiB\n\n\
                    object  version     size  extents      bytes  first s  last s\n\
                    a       1          1 MiB        2     12 KiB    0.000   0.900\n\
                    deep/b  v 2      8.7 KiB        1  808 bytes    0.500   0.500\n";
    assert_eq!(shown, expected);
    let json = succeeds(folder.path(), "show first --json");
    for line in [
        "  \"bytes\": 13096,",
        "      \"version\": \"v 2\",",
        "      \"size\": 9000,",
        "      \"bytes\": 808,",
        "      \"last_ms\": 900",
    ] {
        assert!(json.lines().any(|shown| shown == line), "{line} is not in {json}");
    }
    let path = "long/".repeat(60);
    let long = FIRST.replace("=deep/b", &format!("={path}end")).replace("=1", &format!("={path}"));
    fs::write(folder.path().join("long"), long).unwrap();
    let shown = succeeds(folder.path(), "show long");
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    assert!(shown.contains("long/end "), "{shown}");
    assert!(succeeds(folder.path(), "show long --json").contains(&format!("\"path\": \"{path}end\"")));
}

#[test]
fn runs_are_merged_in_the_order_of_the_first_that_touched_a_byte() {
    let folder = folder();
    let merged = |arguments: &str| {
        succeeds(folder.path(), arguments);
        fs::read_to_string(folder.path().join("out")).unwrap()
    };
    // The second run goes on where the first extent ends.
    let expected = "forerun profile 1\nobject 1048576 =1 =a\n0+12288\n65536+4096@900\n131072+4096@20\n\
                    object 9000 =v%202 =deep/b\n8192+4096@500\nobject 4096 =1 =c\n0+4096\nend 3\n";
    assert_eq!(merged("merge out first second"), expected);
    fails(folder.path(), "merge out first", &["out exists", "--force"]);
    assert_eq!(merged("merge --force out first"), FIRST);
    assert_eq!(merged("merge --force out first first"), FIRST);
    fails(folder.path(), "merge --force first first second", &["first is both read and written"]);
    fails(folder.path(), "merge no/out first", &["there is no folder no"]);
    fails(folder.path(), "merge new first none", &["none", "does not exist"]);
    fs::write(folder.path().join("other"), SECOND.replace("1048576 =1", "1048576 =2")).unwrap();
    fails(
        folder.path(),
        "merge new first other",
        &["other: a was read in version \"2\"", "in version \"1\"", "learn anew"],
    );
    fs::write(folder.path().join("notes"), "my notes\n").unwrap();
    fails(folder.path(), "merge new first notes", &["notes is not a profile of Forerun", "in line 1"]);
    assert!(!folder.path().join("new").exists(), "a merge that failed leaves no file");
}

#[test]
fn a_cut_keeps_what_was_touched_first() {
    let folder = folder();
    let cut = |limits: &str| {
        succeeds(folder.path(), &format!("cut first {limits} -o out --force"));
        fs::read_to_string(folder.path().join("out")).unwrap()
    };
    let a = "forerun profile 1\nobject 1048576 =1 =a\n";
    let b = "object 9000 =v%202 =deep/b\n8192+4096@500\n";
    assert_eq!(cut("--time 1h"), FIRST);
    assert_eq!(cut("--bytes 16KiB"), FIRST);
    assert_eq!(cut("--time 899ms"), format!("{a}0+8192\n{b}end 2\n"));
    assert_eq!(cut("--bytes 15KiB"), format!("{a}0+8192\n{b}end 2\n"));
    assert_eq!(cut("--bytes 15KiB --time 499ms"), format!("{a}0+8192\nend 1\n"));
    assert_eq!(cut("--bytes 4KiB"), format!("{a}0+4096\nend 1\n"));
    fails(folder.path(), "cut first --bytes 4095 -o new", &["nothing of first is within these limits"]);
    fails(folder.path(), "cut first --bytes 4KiB -o out", &["out exists", "--force"]);
    fails(folder.path(), "cut first --bytes 4KiB -o first --force", &["both read and written"]);
    let (code, _, said) = run(folder.path(), "cut first -o new");
    assert!(code == Some(2) && said.contains("--bytes") && said.contains("--time"), "{said}");
    assert!(!folder.path().join("new").exists());
}

#[test]
fn what_a_mount_has_learned_can_be_shown() {
    let (source, directory) = source_and_directory();
    let folder = tempfile::tempdir().unwrap();
    let mut command = forerun();
    command.arg("mount").arg("--learn").arg(folder.path().join("learned"));
    let mount = Foreground::start(command.arg(source.path()).arg(directory.path()), directory.path());
    assert_eq!(cat(&directory.path().join("hello")), HELLO);
    mount.signal(Signal::TERM);
    assert_eq!(mount.end().0.code(), Some(0));
    let shown = succeeds(folder.path(), "show learned");
    assert!(shown.starts_with("objects: 1, extents: 1, bytes: ") && shown.contains("\nhello  "), "{shown}");
}
