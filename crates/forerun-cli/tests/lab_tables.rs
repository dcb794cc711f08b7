//! `forerun lab` of `streams`, `fairness`, `rows` and `gates`, as users run them.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn run(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forerun"));
    command.arg("lab").args(arguments.split_whitespace()).current_dir(folder);
    command.output().expect("the program starts")
}

#[track_caller]
fn good(folder: &Path, arguments: &str) -> String {
    let output = run(folder, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && error.is_empty(), "{arguments}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// The rows of the JSON and of the CSV that `arguments` write, which have the same values, and the tables.
#[track_caller]
fn rows(arguments: &str) -> (Vec<Value>, String) {
    let temp = tempfile::tempdir().unwrap();
    let text = good(temp.path(), &format!("{arguments} --json out.json --csv out.csv"));
    let read = |name: &str| std::fs::read_to_string(temp.path().join(name)).unwrap();
    let json: Value = serde_json::from_str(&read("out.json")).unwrap();
    let rows = json["rows"].as_array().unwrap().clone();
    let csv = read("out.csv");
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(csv.lines().count(), rows.len() + 1, "{csv}");
    for (line, row) in lines.zip(&rows) {
        assert_eq!(row.as_object().unwrap().len(), names.len());
        // Names of mixes have commas, and are quoted.
        let last = line.rsplit(',').next().unwrap();
        assert_eq!(
            row[*names.last().unwrap()].as_u64().map_or(String::new(), |number| number.to_string()),
            last
        );
    }
    (rows, text)
}

#[test]
fn streams_shows_the_policies_beside_each_other() {
    let small = "streams --readers 60 --size 512KiB --memory 4MiB --policy none,stock,adaptive";
    let (rows, text) = rows(small);
    let policies: Vec<&str> = rows.iter().map(|row| row["policy"].as_str().unwrap()).collect();
    assert_eq!(policies, ["none", "stock", "adaptive"]);
    let number = |at: usize, name: &str| rows[at][name].as_u64().unwrap();
    let asked = 60 * (512 << 10);
    assert!((0..3).all(|at| number(at, "read_bytes") == asked), "{text}");
    assert_eq!([number(0, "fetched_bytes"), number(2, "fetched_bytes")], [asked; 2], "{text}");
    assert!(number(1, "fetched_bytes") > asked * 4 / 3, "{text}");
    assert!(number(0, "fetch_count") > 4 * number(2, "fetch_count"), "{text}");
    for part in
        ["60 readers of 512 KiB each, 1024 bytes/s each, on nvme, 4096 KiB of memory", "KiB per reader"]
    {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    let temp = tempfile::tempdir().unwrap();
    assert_eq!(good(temp.path(), small), text, "two runs differ");
}

#[test]
fn streams_through_a_server_wait_less_with_readahead() {
    let server = "streams --server --readers 40 --rate 35KB --size 1MiB --memory 32MiB --device raid0-7";
    let (rows, text) = rows(&format!("{server} --policy none,ara,adaptive --window 1MiB"));
    let waited: Vec<u64> = rows.iter().map(|row| row["waited_bytes"].as_u64().unwrap()).collect();
    assert!(waited[1] < waited[0] / 2 && waited[2] < waited[0] / 2, "{text}");
    assert!(text.contains("through one server"), "{text}");
}

#[test]
fn fairness_has_elevators_policies_and_mixes() {
    let (rows, text) = rows("fairness --files 1 --elevator cfq --policy adaptive");
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names[..3], ["Linux 2.4", "Forerun, on the disk", "Forerun, over a file system"], "{text}");
    assert_eq!(names.len(), 3 + 7, "{text}");
    for row in &rows[3..] {
        let number = |name: &str| row[name].as_f64().unwrap();
        assert!(number("first_to_last") >= 0.85 && number("jain_mean") >= 0.9, "{row}");
    }
    assert!(text.contains("5 clients that write and read back 1 files of 30 MiB each"), "{text}");
    assert!(text.contains("80 MiB of memory for files"), "{text}");
}

/// Workload, policy, and numbers of the first run of each outcome in `json`.
fn outcomes(json: &str) -> Vec<(String, String, Value)> {
    let json: Value = serde_json::from_str(json).unwrap();
    let text = |outcome: &Value, name: &str| outcome[name].as_str().unwrap().to_owned();
    let outcomes = json["outcomes"].as_array().unwrap().iter();
    outcomes.map(|one| (text(one, "workload"), text(one, "policy"), one["runs"][0].clone())).collect()
}

#[test]
fn rows_have_the_numbers_of_every_run_as_json() {
    let temp = tempfile::tempdir().unwrap();
    let json = good(temp.path(), "rows --only backward --policy none,adaptive --json");
    let rows = outcomes(&json);
    let names: Vec<_> = rows.iter().map(|row| (row.0.as_str(), row.1.as_str())).collect();
    let policies = |workload| ["none", "adaptive"].map(|policy| (workload, policy));
    assert_eq!(names, [policies("backward, 64 KiB"), policies("backward, 4 KiB")].concat());
    let number = |at: usize, name: &str| rows[at].2[name].as_u64().unwrap();
    assert_eq!([0, 1].map(|at| number(at, "read_bytes")), [256 << 20; 2], "{json}");
    assert_eq!(number(0, "readahead_bytes"), 0, "{json}");
    assert!(number(1, "readahead_bytes") > 0 && number(1, "elapsed_ns") < number(0, "elapsed_ns"), "{json}");
}

#[test]
fn gates_have_the_numbers_of_every_policy_as_json() {
    let temp = tempfile::tempdir().unwrap();
    let text = good(temp.path(), "gates --only displaced --device ide-2006 --json gates.json");
    assert!(text.contains("harm     holds  in 1 of 1: "), "{text}");
    let rows = outcomes(&std::fs::read_to_string(temp.path().join("gates.json")).unwrap());
    for policy in ["adaptive", "none", "amp"] {
        let row = rows.iter().find(|row| row.1 == policy).unwrap_or_else(|| panic!("no {policy}"));
        assert_eq!((row.0.as_str(), row.2["read_bytes"].as_u64()), ("gen displaced by 8", Some(64 << 20)));
    }
}

#[test]
fn numbers_go_to_the_terminal_and_mistakes_are_told() {
    let temp = tempfile::tempdir().unwrap();
    let small = "streams --readers 2 --size 64KiB --policy none";
    assert!(good(temp.path(), &format!("{small} --csv -")).starts_with("readers,file_bytes,"));
    assert!(good(temp.path(), &format!("{small} --json -")).starts_with('{'));
    for (arguments, status, part) in [
        ("streams --readers 0", 2, "1..=100000"),
        ("streams --rate 0", 2, "a rate of 1 byte to 1 GiB"),
        ("streams --size 1K", 2, "from 4 KiB to 1 TiB"),
        ("streams --memory 1MiB", 1, "at least 4 MiB"),
        ("streams --size 1TiB", 1, "too few for the files"),
        ("streams --policy best", 2, "no policy is called"),
        ("fairness --elevator lift", 2, "no elevator is called \"lift\""),
        ("fairness --memory 4MiB", 1, "at least 4 MiB"),
        ("fairness --files 61", 2, "1..=60"),
        ("fairness --csv no/such.csv", 1, "there is no folder no"),
    ] {
        let output = run(temp.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments}: {said}");
        assert!(said.contains(part) && output.stdout.is_empty(), "{arguments}: {said}");
    }
}
