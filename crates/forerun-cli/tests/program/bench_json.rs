//! The JSON of `forerun bench programs` and `forerun bench clients`.

use std::time::Duration;

use serde_json::Value;

use super::bench_clients::{PYTHON, folder_of};
use super::support::{forerun, output_within};

/// A command in the place of Python, which builds a data set of two files. Scripts that need no package run in the
/// Python of this machine.
const PYTHON_OF_FILES: &str = "#!/bin/sh
case $1 in
*/data.py) mkdir \"$2/tree\" && head -c 3000001 /dev/urandom > \"$2/tree/a\" && echo abcd > \"$2/tree/b\" ;;
*) exec python3 \"$@\" ;;
esac
";
const TREE_BYTES: u64 = 3_000_006;

/// The programs in the JSON of `forerun bench ARGUMENTS`, and the standard error.
fn programs(arguments: &[&str], python: &str) -> (Vec<Value>, String) {
    let folder = folder_of(python);
    let mut command = forerun();
    command.arg("bench").args(arguments).args(["--json", "--repeat", "1", "--folder"]).arg(folder.path());
    // Each measurement starts a mount or a server.
    let output = output_within(Duration::from_secs(120), &mut command);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    // Whether an aim is missed depends on the machine, so the status of the command does not count here.
    (value["programs"].as_array().expect("an array").clone(), errors)
}

/// The contenders of a program and their figures, in order.
fn contenders(program: &Value) -> Vec<(&str, &Value)> {
    let all = program["contenders"].as_array().expect("an array");
    all.iter().map(|figures| (figures["contender"].as_str().unwrap(), figures)).collect()
}

fn number(figures: &Value, key: &str) -> u64 {
    figures[key].as_u64().unwrap_or_else(|| panic!("no {key} in {figures}"))
}

#[test]
fn programs_have_their_figures_for_each_contender() {
    let arguments = ["programs", "--only", "cp,grep", "--contenders", "forerun,copy"];
    let (programs, errors) = programs(&arguments, PYTHON_OF_FILES);
    let names: Vec<_> = programs.iter().map(|program| program["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["cp", "grep"], "{errors}");
    for program in &programs {
        let begin = format!("`{} -r`, ", program["name"].as_str().unwrap());
        assert!(program["title"].as_str().unwrap().starts_with(&begin), "{program}");
        let [("forerun", mount), ("copy", copy)] = contenders(program)[..] else { panic!("{program}") };
        for figures in [mount, copy] {
            assert!(number(figures, "microseconds") > 0, "{figures}{errors}");
            assert_eq!(number(figures, "touched_bytes"), TREE_BYTES, "{figures}");
            assert_eq!([number(figures, "wrong"), number(figures, "failed")], [0, 0], "{figures}");
        }
        let fetched = number(mount, "fetched_bytes");
        assert!((TREE_BYTES..TREE_BYTES * 2).contains(&fetched), "{mount}");
        assert!(number(mount, "memory_peak_bytes") > 1 << 20, "{mount}");
        assert!(copy["fetched_bytes"].is_null() && copy["memory_peak_bytes"].is_null(), "{copy}");
    }
}

#[test]
fn clients_have_their_figures_or_the_package_that_is_missing() {
    let (programs, errors) = programs(&["clients", "--only", "nfs-32k,s3fs-read"], PYTHON);
    let [nfs, s3fs] = &programs[..] else { panic!("{programs:?}{errors}") };
    let ways = contenders(nfs);
    assert_eq!(
        ways.iter().map(|way| way.0).collect::<Vec<_>>(),
        ["serve", "rclone-nfs", "forerun"],
        "{errors}"
    );
    assert_eq!(ways[1].1["unavailable"], "no rclone that serves NFS is installed", "{errors}");
    for figures in [ways[0].1, ways[2].1] {
        assert!(
            number(figures, "microseconds") > 0 && figures.get("unavailable").is_none(),
            "{figures}{errors}"
        );
        // Readers have equal parts of the object, which leave a byte.
        assert_eq!(number(figures, "touched_bytes"), 64 << 20, "{figures}");
        assert_eq!([number(figures, "wrong"), number(figures, "failed")], [0, 0], "{figures}");
    }
    assert_eq!(s3fs["name"], "s3fs-read");
    for (_, figures) in contenders(s3fs) {
        assert!(figures["microseconds"].is_null(), "{figures}");
        assert_eq!(figures["unavailable"], "venv-s3fs is not installed");
    }
}
