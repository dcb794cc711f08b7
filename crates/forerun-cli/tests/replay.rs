//! `forerun replay`, as users run it.

use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forerun"));
    let arguments = arguments.split(' ').filter(|argument| !argument.is_empty());
    command.env("SOURCE_DATE_EPOCH", "1234567890").arg("replay").args(arguments);
    command.current_dir(folder).output().expect("the program starts")
}

#[track_caller]
fn good(folder: &Path, arguments: &str) -> String {
    let output = run(folder, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && error.is_empty(), "{arguments}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// Fails with `status`, saying each of `parts`.
#[track_caller]
fn bad(folder: &Path, arguments: &str, status: i32, parts: &[&str]) {
    let output = run(folder, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{arguments}: {error}");
    parts.iter().for_each(|part| assert!(error.contains(part), "{arguments}: no {part:?} in {error}"));
    assert!(output.stdout.is_empty(), "{arguments}: {}", String::from_utf8_lossy(&output.stdout));
}

const HEAD: &str = "ts_us,op,file_or_dev,offset,length\n";

/// A folder with recordings: `seq.csv` of two files, `dependent.frt`, and bad ones.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let mut text = HEAD.to_owned();
    for at in 0..200 {
        text += &format!("{},R,{},{},4096\n", at * 10, if at % 2 == 0 { "a" } else { "b" }, at / 2 * 4096);
        if at % 20 == 0 {
            text += &format!("{},W,c,{},512\n", at * 10, at * 512);
        }
    }
    write("seq.csv", &text);
    write("cut.csv", &format!("{HEAD}0,R,a,0,512\n5,R,a,512,"));
    write("wrong.csv", &format!("{HEAD}0,R,a,0,512\n5,R,a,x,512\n"));
    write("far.csv", &format!("{HEAD}0,R,a,18446744073709551000,512\n"));
    write("long.csv", &format!("{HEAD}0,R,a,0,4294967296\n"));
    write("large.csv", &format!("{HEAD}0,R,a,999000000000000,512\n"));
    write("writes.csv", &format!("{HEAD}0,W,a,0,512\n"));
    write("no-rows.csv", HEAD);
    write("nothing.csv", "");
    let mut generate = Command::new(env!("CARGO_BIN_EXE_forerun"));
    let options = "trace generate sequential --size 1MiB --request 16KiB --think 1ms -o dependent.frt";
    assert!(generate.args(options.split(' ')).current_dir(folder.path()).status().unwrap().success());
    folder
}

#[test]
fn a_table_for_each_recording_device_and_budget() {
    let folder = folder();
    let options = "--policy none,adaptive --device demo,s3 --memory 8MiB,16MiB --repeat 2";
    let text = good(folder.path(), &format!("seq.csv dependent.frt {options}"));
    // A table that is too wide goes on below, so that each row may have two lines.
    let count = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!(text.lines().filter(|line| line.starts_with("policy ") && line.contains("× none")).count(), 8);
    assert!(count("policy ") >= 8 && count("policy ") % 8 == 0, "{text}");
    assert_eq!([count("none "), count("adaptive ")], [count("policy "); 2], "{text}");
    let longest = text.lines().filter(|line| !line.starts_with(' ')).map(|line| line.chars().count()).max();
    assert!(longest <= Some(100), "{text}");
    for part in [
        "seq on demo, 8 MiB of memory",
        "dependent on s3, 16 MiB of memory",
        "200 reads and 10 writes by one thread, each when the last one of its thread is done",
        "64 reads by one thread, each after those it depends on, with 100 % of the recorded think time",
        "n = 2 runs",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}

#[test]
fn the_same_bytes_each_time() {
    let folder = folder();
    let files = "--json out.json --csv out.csv --html out.html";
    let all = || {
        let text = good(folder.path(), &format!("seq.csv --device s3 --memory 8MiB --repeat 2 {files}"));
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        [text, read("out.json"), read("out.csv"), read("out.html")]
    };
    let first = all();
    assert!(first == all(), "two runs differ");
    assert!(first[1].starts_with("{\n  \"forerun\"") && first[2].starts_with("workload,device,"));
    assert!(first[3].contains("Made on Fri, 13 Feb 2009 23:31:30 GMT by version "), "no date");
    assert!(first[3].contains("<code>forerun replay seq.csv --device s3 --memory 8MiB"), "no command");
    assert!(first[3].starts_with("<!doctype html>") || first[3].starts_with("<!DOCTYPE html>"));
    let other = good(folder.path(), "seq.csv --device s3 --memory 8MiB --repeat 2 --seed 77");
    assert!(first[0] != other, "the seed makes no difference");
}

#[test]
fn the_terminal_gets_one_output() {
    let folder = folder();
    let one = "seq.csv --policy none --repeat 1";
    let csv = good(folder.path(), &format!("{one} --csv -"));
    assert_eq!(csv.lines().count(), 2, "{csv}");
    assert!(csv.starts_with("workload,device,"), "{csv}");
    assert!(good(folder.path(), &format!("{one} --json - --csv out.csv")).starts_with('{'));
    bad(folder.path(), &format!("{one} --json - --csv -"), 1, &["two outputs go to -"]);
    bad(folder.path(), &format!("{one} --json seq.csv"), 1, &["seq.csv is both read and written"]);
    bad(
        folder.path(),
        &format!("{one} --csv no/such.csv"),
        1,
        &["cannot write no/such.csv: there is no folder no"],
    );
    bad(folder.path(), &format!("{one} --html ."), 1, &["cannot write .: it is a folder"]);
}

#[test]
fn a_profile_is_one_more_contender() {
    let folder = folder();
    let csv = good(folder.path(), "seq.csv --policy none,adaptive --learned --repeat 2 --csv -");
    let rows = |name: &str| csv.lines().filter(|line| line.contains(name)).count();
    assert_eq!((rows(",none,"), rows(",adaptive,"), rows(",adaptive+profile,")), (2, 2, 2), "{csv}");
    let text = good(folder.path(), "seq.csv --policy none --learned --repeat 1");
    assert!(text.contains("adaptive+profile"), "{text}");
}

#[test]
fn paces_and_costs_change_the_time() {
    let folder = folder();
    let seconds = |options: &str| -> f64 {
        let options = format!("dependent.frt --policy none --repeat 1 --csv - {options}");
        let csv = good(folder.path(), &options);
        let (names, row) = csv.split_once('\n').unwrap();
        let column = names.split(',').position(|name| name == "elapsed_ns").unwrap();
        row.trim().split(',').nth(column).unwrap().parse::<f64>().unwrap() / 1e9
    };
    let (all, half, closed) = (seconds(""), seconds("--think 50"), seconds("--pace closed"));
    assert!(all > half && half > closed, "{all} {half} {closed}");
    assert!(seconds("--pace recorded") < closed);
    let slow = seconds("--pace closed --read-cost 2ms");
    assert!((slow - closed - 64.0 * 0.002).abs() < 1e-9, "{slow} {closed}");
    assert!(seconds("--pace closed --device network:latency=1ms,total=400MB/s") < closed);
}

#[test]
fn recordings_that_cannot_be_replayed() {
    let folder = folder();
    let folder = folder.path();
    bad(folder, "cut.csv", 1, &["cut.csv: line 3: the line does not end"]);
    bad(folder, "seq.csv wrong.csv", 1, &["wrong.csv: line 3: "]);
    bad(folder, "far.csv", 1, &["far.csv: "]);
    bad(folder, "long.csv", 1, &["long.csv: access 1 reads 4294967296 bytes at once"]);
    bad(folder, "large.csv --device rbd-2014", 1, &["large.csv: ", "larger device"]);
    bad(folder, "writes.csv", 1, &["writes.csv: has 1 accesses, and none is a read"]);
    bad(folder, "no-rows.csv", 1, &["no-rows.csv: has no accesses"]);
    bad(folder, "nothing.csv", 1, &["nothing.csv: has no accesses"]);
    bad(folder, "missing.csv", 1, &["missing.csv: cannot open it"]);
    bad(folder, "seq.csv seq.csv", 1, &["seq.csv: is named twice"]);
}

#[test]
fn options_that_make_no_sense() {
    let folder = folder();
    let folder = folder.path();
    bad(folder, "seq.csv --policy best", 2, &["\"best\"", "none, plain, aligned, eager", "adaptive"]);
    bad(folder, "seq.csv --device floppy", 2, &["\"floppy\"", "demo, s3"]);
    bad(folder, "seq.csv --device network:speed=1", 2, &["no parameter \"speed\"", "latency=50ms"]);
    bad(folder, "seq.csv --memory 1KiB", 1, &["memory budget of 1024 bytes"]);
    bad(folder, "seq.csv --repeat 0", 2, &["--repeat"]);
    bad(folder, "seq.csv --pace dependencies", 1, &["seq.csv has no dependencies between accesses"]);
    bad(folder, "seq.csv --think 10", 1, &["--think: seq.csv has no dependencies"]);
    bad(folder, "dependent.frt --pace closed --think 10", 1, &["--think needs --pace dependencies"]);
}

#[test]
fn a_quick_table_compares_with_an_earlier_build() {
    let folder = tempfile::tempdir().unwrap();
    let lab = |arguments: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forerun"));
        command.args(["lab", "gates", "--quick", "--only", "displaced", "--device", "ide-2006,nvme"]);
        let output = command.args(arguments.split(' ')).current_dir(folder.path()).output().unwrap();
        let [shown, told] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (output.status.success(), shown, told)
    };
    let (passed, shown, told) = lab("--csv before.csv");
    assert!(passed && told.is_empty(), "a pipe hears of no progress: {told}");
    assert!(shown.contains("ide-2006") && !shown.contains("to the other"), "{shown}");
    let (passed, shown, told) = lab("--against before.csv");
    assert!(passed, "{told}");
    assert!(shown.contains("compares adaptive with before.csv.") && shown.contains("1.0000"), "{shown}");
    std::fs::write(folder.path().join("other.csv"), "x,y\n").unwrap();
    let (passed, _, told) = lab("--against other.csv");
    assert!(!passed && told.contains("other.csv") && told.contains("--quick --csv FILE"), "{told}");
    let (passed, _, told) = lab("--policy adaptive,amp,plain");
    assert!(!passed && told.contains("two policies"), "{told}");
}
