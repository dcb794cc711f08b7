//! The files of `packaging/`. `make dist-test` runs them.

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
fn the_image_begins_empty_and_has_the_program_of_the_tarball_and_no_root() {
    let read = |name: &str| fs::read_to_string(root().join("packaging").join(name)).unwrap();
    let (image, tarball) = (read("Dockerfile"), read("tarball.sh"));
    assert!(tarball.contains("\nname=forerun-$version-$(uname -m)-linux\n"));
    assert!(image.contains("\nADD forerun-*-linux.tar.gz /unpacked/\n"));
    let (_, last) = image.split_once("\nFROM scratch\n").expect("the last stage begins empty");
    let steps: Vec<&str> = last.lines().filter(|line| !line.starts_with('#')).collect();
    let expected = [
        "COPY --from=files /image/ /",
        "USER 65534:65534",
        "ENTRYPOINT [\"/usr/bin/forerun\"]",
        "CMD [\"help\"]",
    ];
    assert_eq!(steps, expected);
    assert!(image.contains(" /image/usr/bin/ &&"), "the entry point is not copied there");
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
    assert_eq!(called.clone().count(), seen - 2, "all but those that others source");
    for script in called {
        assert!(root().join(script).is_file(), "{script}");
    }
}
