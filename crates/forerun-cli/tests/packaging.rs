//! The files of `packaging/`. `make dist-test` runs all of them.

use std::collections::BTreeSet;
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

/// The first line that `command` prints.
fn said(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().lines().next().unwrap_or_default().to_owned()
}

/// The package of this system that has `file`, which may be a pattern.
fn owner(file: &str) -> String {
    let line = said(Command::new("dpkg-query").args(["--search", file]));
    line.split([':', ',']).next().unwrap().to_owned()
}

fn numbers(version: &str) -> Option<Vec<u32>> {
    version.split('.').map(|number| number.parse().ok()).collect()
}

#[test]
fn the_deb_depends_on_the_packages_that_have_what_the_program_needs() {
    let folder = tempfile::tempdir().unwrap();
    let (program, library) = (env!("CARGO_BIN_EXE_forerun"), folder.path().join("libforerun_c.so"));
    // The test is about the program. An empty library takes the place of that for C.
    said(Command::new("cc").args(["-shared", "-x", "c", "/dev/null", "-o"]).arg(&library));
    let mut script = Command::new("sh");
    script.current_dir(root()).args(["packaging/deb.sh", folder.path().to_str().unwrap()]);
    script.env("program", program).env("libraries", folder.path());
    // A small package would take most of the time.
    said(script.env("DPKG_DEB_COMPRESSOR_TYPE", "none"));
    let mut files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let deb = files.find(|path| path.extension().is_some_and(|ending| ending == "deb")).unwrap();
    let field = |name: &str| said(Command::new("dpkg-deb").arg("--field").arg(&deb).arg(name));

    let depends = field("Depends");
    let depends: Vec<(&str, &str)> =
        depends.split(", ").map(|one| one.split_once(' ').unwrap_or((one, ""))).collect();
    let names: BTreeSet<String> = depends.iter().map(|(name, _)| (*name).to_owned()).collect();
    let headers = Command::new("objdump").args(["-p", program]).output().unwrap().stdout;
    let headers = String::from_utf8(headers).unwrap();
    let libraries = headers.lines().filter_map(|line| line.trim().strip_prefix("NEEDED"));
    let mut needed: BTreeSet<String> = libraries.map(|name| owner(&format!("*/{}", name.trim()))).collect();
    assert!(needed.contains("libc6"), "{headers}");
    // It starts fusermount3, and reads the certificates that this program gathers.
    needed.extend(["*/fusermount3", "*/update-ca-certificates"].map(owner));
    assert_eq!(names, needed);
    let (_, libc) = depends.iter().find(|(name, _)| *name == "libc6").unwrap();
    let libc = libc.trim_start_matches("(>= ").trim_end_matches(')');
    let versions = headers.split_whitespace().filter_map(|word| numbers(word.strip_prefix("GLIBC_")?));
    assert_eq!(numbers(libc), versions.max(), "{headers}");

    let unit = fs::read_to_string(root().join("crates/forerun-cli/pages/forerun.service.in")).unwrap();
    let reload = unit.lines().find_map(|line| line.strip_prefix("ExecReload=")).unwrap();
    let kill = Path::new(reload.split(' ').next().unwrap()).file_name().unwrap().to_str().unwrap();
    assert_eq!(field("Recommends"), owner(&format!("*bin/{kill}")));
}
