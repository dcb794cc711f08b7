//! The scripts of `packaging/`. `make dist-test` runs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The commands that `make -n ARGUMENTS` shows.
fn planned(arguments: &[&str]) -> String {
    let output = Command::new("make").current_dir(root()).arg("-n").args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn scripts_are_valid_and_called_with_what_is_there() {
    let folder = root().join("packaging");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "sh") {
            let output = Command::new("sh").arg("-n").arg(&path).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            seen += 1;
        }
    }
    let plan = planned(&["dist-test"]);
    let called = plan.split_whitespace().filter(|word| word.ends_with(".sh"));
    assert_eq!(called.clone().count(), seen - 1, "all but the one that others source");
    for script in called {
        assert!(root().join(script).is_file(), "{script}");
    }
}
