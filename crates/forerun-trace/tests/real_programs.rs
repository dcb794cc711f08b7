//! Our files read by the programs that own the formats, and theirs read by us.
//!
//! Only run when asked for by name. Needs cc, and fio, blkparse, btt, strace and rbd-replay
//! (Debian's packages fio, blktrace, strace and ceph-common).

mod support;

use std::path::Path;
use std::process::Command;

use forerun_trace::generate::{Pattern, Plan};
use forerun_trace::{Access, Files, Format, Op, ReadOptions, Reader, Writer};
use support::lines;

fn run(program: &str, arguments: &[&str], folder: &Path) -> String {
    let done = Command::new(program).args(arguments).current_dir(folder).output();
    let done = done.unwrap_or_else(|error| panic!("{program} is needed for this test: {error}"));
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{program} failed: {out}{err}");
    out.into_owned()
}

fn save(path: &Path, format: Format, accesses: &[Access], files: &Files) {
    let mut writer = Writer::create(path, Some(format)).unwrap();
    accesses.iter().for_each(|access| writer.write(access, files).unwrap());
    writer.finish(files).unwrap();
}

fn load(path: &Path) -> (Vec<Access>, Reader) {
    let mut reader = Reader::open(path, ReadOptions::default()).unwrap();
    (reader.by_ref().map(Result::unwrap).collect(), reader)
}

fn plan(file: &str) -> (Vec<Access>, Files) {
    let plan = Plan {
        patterns: vec![Pattern::Random],
        file_bytes: 1 << 20,
        request_bytes: 4096,
        count: Some(100),
        think_ns: 1_000_000,
        ..Plan::default()
    };
    let mut files = Files::default();
    files.intern(file);
    (plan.generate().unwrap().collect(), files)
}

#[test]
fn blkparse_reads_our_blktrace_and_we_read_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let (accesses, files) = plan("8:3");
    save(&folder.path().join("x.blktrace.0"), Format::Blktrace, &accesses, &files);
    for (options, name) in [("-q", "plain"), ("-t", "timed")] {
        run("blkparse", &["-i", "x", options, "-o", name], folder.path());
        let (again, reader) = load(&folder.path().join(name));
        assert_eq!(reader.format(), Format::Blkparse);
        assert_eq!(lines(&again, reader.files()), lines(&accesses, &files), "{options}");
    }
}

/// btt pairs the events of each request, and does not count a request that it cannot follow.
#[test]
fn btt_follows_the_requests_of_our_blktrace() {
    let folder = tempfile::tempdir().unwrap();
    let (accesses, files) = plan("8:3");
    save(&folder.path().join("x.blktrace.0"), Format::Blktrace, &accesses, &files);
    run("blkparse", &["-i", "x", "-q", "-o", "text", "-d", "x.bin"], folder.path());
    let out = run("btt", &["-i", "x.bin"], folder.path());
    let line = out.lines().find(|line| line.starts_with("Q2Q ")).expect("times from one request to the next");
    assert_eq!(line.split_whitespace().last(), Some("99"), "{out}");
}

/// rbd-replay asks its storage, which is our stand-in, for the trace's reads.
#[test]
fn rbd_replay_replays_our_traces() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/rbd_stand_in.c");
    let source = source.display().to_string();
    run("cc", &["-shared", "-fPIC", "-Wall", "-Werror", "-o", "stand_in.so", &source], folder.path());
    let (mut accesses, files) = plan("vm@snapshot");
    for (at, access) in accesses.iter_mut().enumerate() {
        access.op = [Op::Read, Op::Write, Op::Discard][at % 3];
        access.blocking = at % 2 == 0;
    }
    save(&folder.path().join("x.rbdreplay"), Format::RbdReplay, &accesses, &files);
    assert_eq!(replayed(folder.path()), asked(&accesses));

    // The written file equals the one read, and rbd-replay still understands it.
    let (again, reader) = load(&folder.path().join("x.rbdreplay"));
    save(&folder.path().join("x.rbdreplay"), Format::RbdReplay, &again, reader.files());
    assert_eq!(replayed(folder.path()), asked(&accesses));
}

/// The requests of rbd-replay to the stand-in.
fn replayed(folder: &Path) -> String {
    let log = folder.join("log");
    let preload = format!("LD_PRELOAD={}", folder.join("stand_in.so").display());
    let told = format!("STAND_IN_LOG={}", log.display());
    let replay = ["rbd-replay", "--no-mon-config", "--conf", "/dev/null", "--latency-multiplier", "0"];
    run("env", &[&[preload.as_str(), &told], &replay[..], &["x.rbdreplay"]].concat(), folder);
    let lines = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(&log).unwrap();
    lines
}

fn asked(accesses: &[Access]) -> String {
    let mut lines = "open vm@snapshot\n".to_owned();
    for Access { op, blocking, extent, .. } in accesses {
        let when = if *blocking { "" } else { "aio_" };
        lines += &format!("{when}{} {}+{}\n", op.name(), extent.offset, extent.len);
    }
    lines
}

#[test]
fn fio_replays_our_iologs_and_we_read_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    std::fs::write(&data, vec![7; 1 << 20]).unwrap();
    let (accesses, files) = plan(&data);
    for format in [Format::FioV2, Format::FioV3] {
        save(&folder.path().join("log"), format, &accesses, &files);
        let arguments = ["--name=r", "--read_iolog=log", "--ioengine=psync", "--output-format=terse"];
        let out = run("fio", &arguments, folder.path());
        // Terse output, version 3: the sixth field is the KiB read.
        let line = out.lines().find(|line| line.starts_with("3;")).expect("a line of terse output");
        assert_eq!(line.split(';').nth(5), Some("400"), "{format}: {line}");
    }
    let arguments = [
        "--name=w",
        "--filename=data",
        "--rw=randread",
        "--bs=4k",
        "--size=1m",
        "--write_iolog=own",
        "--ioengine=psync",
    ];
    run("fio", &arguments, folder.path());
    let (own, _) = load(&folder.path().join("own"));
    assert_eq!(own.iter().filter(|access| access.op == Op::Read && access.extent.len == 4096).count(), 256);
}

#[test]
fn reads_the_output_of_strace() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("a, (b) \"c\"");
    std::fs::write(&data, vec![7; 300_000]).unwrap();
    let name = data.display().to_string();
    let script = "cat \"$1\" >/dev/null; dd if=\"$1\" of=/dev/null bs=4096 skip=3 count=5 status=none; true";
    let options = ["-f", "-ttt", "-T", "-y", "-o", "trace", "sh", "-c", script, "sh", &name];
    run("strace", &options, folder.path());
    let (accesses, reader) = load(&folder.path().join("trace"));
    assert_eq!(reader.format(), Format::Strace);
    let reads: Vec<_> = accesses
        .iter()
        .filter(|access| access.op == Op::Read && reader.files().name(access.file) == name)
        .map(|access| (access.extent.offset, access.extent.len))
        .filter(|(_, len)| *len > 0)
        .collect();
    let cat: u64 = reads.iter().filter(|(_, len)| *len != 4096).map(|(_, len)| len).sum();
    let dd: Vec<_> = reads.iter().filter(|(_, len)| *len == 4096).map(|(offset, _)| offset / 4096).collect();
    assert_eq!((cat, dd), (300_000, vec![3, 4, 5, 6, 7]), "{reads:?}");
}
