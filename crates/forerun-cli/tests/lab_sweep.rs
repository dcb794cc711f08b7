//! `forerun lab sweep`, as users run it: shares, a kill, damage, and the same table each time.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const POLICIES: &str = "none,plain,stock,ondemand,amp,adaptive";
const DEVICES: &str = "demo,s3,ide-2006,nvme";
/// Each of five recordings on four devices, with six policies and the bounds.
const CELL_COUNT: usize = 5 * 4 * 7;

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples")
}

fn forerun(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forerun"));
    command.args(arguments.split_whitespace()).current_dir(folder);
    command
}

/// Its output, and its messages besides.
#[track_caller]
fn good(folder: &Path, arguments: &str) -> (String, String) {
    let output = forerun(folder, arguments).output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let said = text(output.stderr);
    assert!(output.status.success(), "{arguments}: {said}");
    (text(output.stdout), said)
}

fn cells(folder: &Path) -> BTreeSet<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeSet::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "cell")).collect()
}

/// Starts a share, and kills it when it has finished a cell.
fn kill_early(folder: &Path, arguments: &str, into: &Path) {
    let mut command = forerun(folder, arguments);
    let mut child = command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    while cells(into).is_empty() {
        // Nothing tells of a new file but the folder.
        std::thread::sleep(Duration::from_millis(1));
        assert!(child.try_wait().unwrap().is_none(), "it ended without a cell");
    }
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9), "it ended before it was killed");
}

/// Damages a file, each `at` in another way.
fn damage(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    match at {
        0 => bytes.clear(),
        1 => bytes.truncate(bytes.len() / 2),
        // A digit in the middle of the numbers.
        _ => {
            let last = bytes.iter().rposition(|byte| *byte == b'\n').unwrap();
            let place = (0..last - 80).rev().find(|place| bytes[*place].is_ascii_digit()).unwrap();
            bytes[place] ^= 1;
        }
    }
    fs::write(path, bytes).unwrap();
}

#[test]
fn four_shares_one_of_them_killed_make_the_table_of_one_process() {
    // `FORERUN_SWEEP=all` replays the samples whole, which takes minutes in a debug build.
    let accesses = if std::env::var_os("FORERUN_SWEEP").is_some() { "" } else { "--accesses 300 --repeat 2" };
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    let sweep = |into: &str, more: &str| {
        let traces = samples().display().to_string();
        format!(
            "lab sweep --traces {traces} {accesses} --policy {POLICIES} --device {DEVICES} --into {into} {more}"
        )
    };
    let (table, said) = good(folder, &sweep("one", ""));
    assert!(said.contains(&format!("{CELL_COUNT} cells: 0 were there, {CELL_COUNT} were run\n")), "{said}");
    let groups =
        ["demo", "s3", "ide-2006", "nvme"].map(|device| table.matches(&format!(" on {device}, ")).count());
    assert_eq!(groups, [5; 4], "{table}");

    let parts = folder.join("parts");
    kill_early(folder, &sweep("parts", "--shard 2/4"), &parts);
    let had = cells(&parts).len();
    for share in [3, 2, 4, 1] {
        let (printed, said) = good(folder, &sweep("parts", &format!("--shard {share}/4")));
        assert_eq!(printed, "");
        let kept = if share == 2 { had } else { 0 };
        assert!(said.contains(&format!("{} cells: {kept} were there, ", CELL_COUNT / 4)), "{share}: {said}");
    }
    let (of_shares, said) = good(folder, &sweep("parts", ""));
    assert!(said.contains(&format!("{CELL_COUNT} cells: {CELL_COUNT} were there, 0 were run\n")), "{said}");
    assert!(of_shares == table, "the tables differ:\n{of_shares}\n{table}");
    let names = |into: &str| -> Vec<_> {
        cells(&folder.join(into)).iter().map(|path| path.file_name().unwrap().to_owned()).collect()
    };
    assert_eq!(names("parts"), names("one"));

    // Of damaged and missing cells, neither is trusted, and no other is run again.
    let paths: Vec<PathBuf> = cells(&parts).into_iter().collect();
    let before: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    paths.iter().take(3).enumerate().for_each(|(at, path)| damage(path, at));
    paths[3..5].iter().for_each(|path| fs::remove_file(path).unwrap());
    let (mended, said) = good(folder, &sweep("parts", ""));
    let expected = "were there, 5 were run, 3 of them because their files were damaged\n";
    assert!(said.contains(expected), "{said}");
    assert!(mended == table, "the tables differ:\n{mended}\n{table}");
    assert!(paths.iter().map(|path| fs::read(path).unwrap()).eq(before), "cells differ");
}

/// Two recordings in `traces/`, which take no time.
fn small() -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    fs::create_dir(temp.path().join("traces")).unwrap();
    for (name, size) in [("a", "1MiB"), ("b", "2MiB")] {
        let output = format!("traces/{name}.frt");
        good(temp.path(), &format!("trace generate sequential --size {size} --request 16KiB -o {output}"));
    }
    temp
}

#[test]
fn the_table_and_the_numbers_are_those_of_a_replay() {
    let temp = small();
    let grid = "--policy none,adaptive --learned --device s3,demo --memory 8MiB,16MiB --repeat 2 --csv";
    let (replayed, _) = good(temp.path(), &format!("replay traces/a.frt traces/b.frt {grid} replay.csv"));
    let (swept, _) = good(temp.path(), &format!("lab sweep --traces traces --into cells {grid} sweep.csv"));
    assert_eq!(swept, replayed);
    let read = |name: &str| fs::read_to_string(temp.path().join(name)).unwrap();
    assert_eq!(read("sweep.csv"), read("replay.csv"));
    // The outcomes of a replay come before its timelines.
    good(
        temp.path(),
        &format!("replay traces/a.frt traces/b.frt {} --json replay.json", grid.replace("--csv", "")),
    );
    good(
        temp.path(),
        &format!("lab sweep --traces traces --into cells {} --json sweep.json", grid.replace("--csv", "")),
    );
    let outcomes = |name: &str| read(name).split("\"timelines\"").next().unwrap().to_owned();
    assert_eq!(outcomes("sweep.json"), outcomes("replay.json"));
}

#[test]
fn a_cell_is_found_again_only_if_all_is_the_same() {
    let temp = small();
    let folder = temp.path();
    let count = |options: &str, expected: &str| {
        let (_, said) = good(folder, &format!("lab sweep --traces traces --into cells {options}"));
        assert!(said.contains(expected), "{options}: {said}");
    };
    let device = "--device network:latency=10ms,total=100MB/s";
    count(&format!("--policy none {device}"), "4 cells: 0 were there, 4 were run");
    count(&format!("--policy none,amp {device}"), "6 cells: 4 were there, 2 were run");
    count(&format!("--policy none {device} --repeat 6"), "4 cells: 2 were there, 2 were run");
    count(&format!("--policy none {device} --seed 2"), "4 cells: 0 were there, 4 were run");
    count(&format!("--policy none {device} --window 1MiB"), "4 cells: 2 were there, 2 were run");
    count("--policy none --device network:latency=11ms,total=100MB/s", "4 cells: 0 were there, 4 were run");
    // Another name is the same recording, and other bytes are not.
    fs::rename(folder.join("traces/a.frt"), folder.join("traces/c.frt")).unwrap();
    count(&format!("--policy none {device}"), "4 cells: 4 were there, 0 were run");
    good(folder, "trace generate sequential --size 3MiB --request 16KiB -o traces/b.frt --force");
    count(&format!("--policy none {device}"), "4 cells: 2 were there, 2 were run");
}

#[test]
fn a_sweep_that_cannot_be_is_refused() {
    let temp = small();
    fs::write(temp.path().join("file"), "").unwrap();
    for (arguments, status, part) in [
        ("--traces traces --into file", 1, "the folder file: "),
        ("--traces none --into cells", 1, "none: cannot be read: "),
        ("--traces traces --into cells --shard 5/4", 2, "from 1/4 to 4/4"),
        ("--traces traces --into cells --shard 1/4 --csv out.csv", 2, "cannot be used with"),
        ("--traces file --into cells", 1, "no recording in file can be replayed"),
    ] {
        let output = forerun(temp.path(), &format!("lab sweep {arguments}")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments}: {said}");
        assert!(said.contains(part) && output.stdout.is_empty(), "{arguments}: {said}");
    }
}
