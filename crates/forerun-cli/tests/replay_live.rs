//! `forerun replay --live`, as users run it.

use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forerun"));
    command.args(arguments.split(' ')).current_dir(folder).output().expect("the program starts")
}

#[test]
fn a_generated_trace_on_a_directory() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let generated = run(folder, "trace generate sequential --size 1MiB --request 16KiB -o trace.frt");
    assert!(generated.status.success());
    std::fs::create_dir(folder.join("data")).unwrap();

    let missing = run(folder, "replay trace.frt --live data");
    let error = String::from_utf8_lossy(&missing.stderr);
    assert!(!missing.status.success() && error.contains("--live-create"), "{error}");

    let options = "--live-create --policy none,adaptive --repeat 2 --csv runs.csv";
    let played = run(folder, &format!("replay trace.frt --live data {options}"));
    let text = String::from_utf8_lossy(&played.stdout);
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
    for part in ["64 reads by one thread", "live, 256 MiB of memory", "none", "adaptive", "n = 2", "us late"]
    {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    // Two runs of two policies, and the heading.
    assert_eq!(std::fs::read_to_string(folder.join("runs.csv")).unwrap().lines().count(), 5);
}

#[test]
fn live_replay_refuses_options_of_modelled_storage() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in
        ["--live data --device s3", "--live data --html a.html", "--live data --window 1MiB", "--live-create"]
    {
        let arguments = format!("replay t {arguments}");
        assert_eq!(run(folder.path(), &arguments).status.code(), Some(2), "{arguments}");
    }
}
