//! `forerun trace`, as users run it.

use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forerun"));
    command.arg("trace").args(arguments.split(' ')).current_dir(folder).output().expect("the program starts")
}

#[track_caller]
fn good(folder: &Path, arguments: &str) -> String {
    let output = run(folder, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {error}");
    String::from_utf8(output.stdout).unwrap() + &error
}

#[track_caller]
fn bad(folder: &Path, arguments: &str, reason: &str) {
    let output = run(folder, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains(reason), "{arguments}: {error}");
}

#[track_caller]
fn has(text: &str, row: &str) {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.lines().any(|line| squeezed(line).starts_with(row)), "no {row:?} in\n{text}");
}

#[test]
fn generated_then_looked_at_converted_cut_and_merged() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    good(folder, "generate sequential random --size 1MiB --request 4KiB --think 1ms --seed 7 -o mix.frt");
    let info = good(folder, "info mix.frt");
    for row in [
        "format forerun",
        "records 512",
        "reads 512, 2097152 bytes",
        "threads 2",
        "files 2",
        "sizes <= 4 KiB 512",
    ] {
        has(&info, row);
    }
    for other in [
        "mix.csv",
        "mix.csv.gz",
        "mix.csv.bz2",
        "mix.rbdreplay",
        "mix.iolog",
        "mix.blktrace.0",
        "mix.blkparse",
    ] {
        good(folder, &format!("convert mix.frt {other}"));
        has(&good(folder, &format!("info {other}")), "reads 512, 2097152 bytes");
    }
    good(folder, "convert mix.csv full --to-format csv-full");
    good(folder, "cut mix.csv --file file0 --from 0 --to 10s -o one.csv");
    let one = good(folder, "info one.csv");
    has(&one, "reads 256, 1048576 bytes");
    has(&one, "sequential 99.6 %");
    good(folder, "merge one.csv mix.csv -o both.frt");
    has(&good(folder, "info both.frt one.csv"), "reads 768,");
    let repaired = good(folder, "convert mix.rbdreplay mended.rbdreplay --repair 1ms");
    assert!(repaired.contains("0 dependencies now wait"), "{repaired}");
    assert!(good(folder, "formats").contains("strace         read\n"));
}

#[test]
fn scripts_get_json() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    good(folder, "generate sequential --size 1MiB --request 4KiB --think 1ms -o mix.frt");
    good(folder, "convert mix.frt mix.csv");
    let json = good(folder, "info --json mix.frt mix.csv");
    for line in [
        "[",
        "    \"path\": \"mix.csv\",",
        "    \"format\": \"csv\",",
        "    \"sequential_count\": 255,",
        "    \"read_bytes\": 1048576,",
        "        \"bytes_max\": 4096,",
        "        \"count\": 256",
    ] {
        assert!(json.lines().any(|shown| shown == line), "{line} is not in {json}");
    }
    assert_eq!(json.matches("\"record_count\": 256,").count(), 2, "{json}");
    let formats = good(folder, "formats --json");
    assert!(formats.contains("\"name\": \"strace\",\n    \"access\": \"read\"\n"), "{formats}");
    bad(folder, "info --json mix.frt none", "none: cannot open it");
}

#[test]
fn accesses_that_a_format_cannot_express_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    good(folder, "generate tree --files 3 --size 4KiB --request 1KiB -o tree.frt");
    let said = good(folder, "convert tree.frt tree.csv --to-format alibaba");
    assert!(said.contains("6 of ") && said.contains("tree.csv"), "{said}");
}

#[test]
fn mistakes_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("cut.csv"), "ts_us,op,file_or_dev,offset,length\n0,R,a,0,51").unwrap();
    std::fs::write(folder.join("good.csv"), "ts_us,op,file_or_dev,offset,length\n0,R,a,0,512\n").unwrap();
    std::fs::write(folder.join("what"), "?\n").unwrap();
    bad(folder, "info cut.csv", "cut.csv: line 2: the line does not end");
    bad(folder, "convert cut.csv half.csv", "the line does not end");
    assert!(std::fs::read_dir(folder).unwrap().count() == 3, "a half of a trace is left");
    bad(folder, "info what", "add --format with one of csv");
    bad(folder, "info /bin/ls", "add --format with one of csv");
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/boot-ide.frt.gz");
    let sample = std::fs::read(sample).unwrap();
    for bytes in [100, sample.len() / 2] {
        std::fs::write(folder.join("half.frt.gz"), &sample[..bytes]).unwrap();
        bad(folder, "info half.frt.gz", "half.frt.gz: the compressed file is cut short");
    }
    bad(folder, "info --format nonsense what", "the formats are csv");
    bad(folder, "info missing.csv", "missing.csv: cannot open it");
    bad(folder, "convert good.csv good.csv", "both read and written");
    bad(folder, "convert good.csv out", "its name does not tell its format");
    bad(folder, "cut good.csv --file b -o out.csv", "has no file named b");
    bad(folder, "generate sequential --size 1KiB -o x.csv", "not smaller than a request");
}

#[test]
fn a_recording_is_replaced_only_where_that_is_meant() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    good(folder, "generate sequential --size 1MiB -o one.csv");
    let before = std::fs::read(folder.join("one.csv")).unwrap();
    good(folder, "generate random --size 1MiB -o other.csv");
    for writing in ["convert one.csv other.csv", "cut one.csv -o other.csv", "merge one.csv -o other.csv"] {
        bad(folder, writing, "other.csv exists: write to another file, or replace it by --force");
    }
    good(folder, "convert one.csv other.csv --force");
    assert_eq!(std::fs::read(folder.join("other.csv")).unwrap(), before);
}

#[test]
fn a_part_without_accesses_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    good(folder, "generate sequential --size 1MiB -o one.csv");
    bad(folder, "cut one.csv --from 1h -o part.csv", "one.csv has no access in that part; its 8 accesses");
    assert!(!folder.join("part.csv").exists());
}
