//! `--memory auto`.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::serve::{address, files, get, named};
use super::serving::Serving;
use super::support::{Ending, forerun, output};

const MIB: u64 = 1 << 20;

#[test]
fn the_memory_may_be_up_to_half_of_the_machine() {
    let folder = files();
    let data = folder.path().join("data");
    let mut command = forerun();
    command.args(["serve", "--http", "127.0.0.1:0", "--memory", "auto"]).arg(&data);
    let serving = Serving::start(&mut command);
    assert!(serving.greeting.contains(", memory up to "), "{}", serving.greeting);
    assert!(get(&address(&serving), "/data/a.bin", "").1 == vec![1; 100_000]);
    assert_eq!(serving.end(), (Some(0), String::new()));
    let mut command = forerun();
    let refused =
        output(command.args(["serve", "--http", "127.0.0.1:0", "--memory", "automatic"]).arg(&data));
    assert!(String::from_utf8(refused.stderr).unwrap().contains("or auto"));
}

/// A control group of version 1. Removed when dropped.
struct Group(PathBuf);

impl Group {
    fn new(bytes: u64) -> Group {
        let group =
            Group(Path::new("/sys/fs/cgroup/memory").join(format!("forerun-test-{}", std::process::id())));
        fs::create_dir(&group.0).expect("this needs root, and the memory controller of cgroup v1");
        group.limit(bytes).unwrap();
        group
    }

    fn limit(&self, bytes: u64) -> std::io::Result<()> {
        fs::write(self.0.join("memory.limit_in_bytes"), bytes.to_string())
    }

    /// Repeats to set the limit until the kernel finds it no less than the used memory.
    fn limit_within(&self, bytes: u64, time: Duration) -> Duration {
        let begun = Instant::now();
        while let Err(error) = self.limit(bytes) {
            assert!(begun.elapsed() < time, "the group still uses more than {bytes} bytes: {error}");
        }
        begun.elapsed()
    }

    fn killed_count(&self) -> u64 {
        let control = fs::read_to_string(self.0.join("memory.oom_control")).unwrap();
        control.lines().find_map(|line| line.strip_prefix("oom_kill ")).unwrap().parse().unwrap()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let until = Instant::now() + Duration::from_secs(10);
        while fs::remove_dir(&self.0).is_err() && Instant::now() < until {
            // cgroup v1 does not announce the end of the last process.
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Byte `offset` of the served object.
fn byte(offset: u64) -> u8 {
    (offset / 4096 * 37 + offset % 251) as u8
}

#[test]
#[ignore = "needs root and the memory controller of cgroup v1, as `make memory-test` says"]
fn the_memory_follows_the_limit_of_a_control_group_while_200_streams_run() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    let file = fs::File::create(data.join("big.bin")).unwrap();
    let size = 1024 * MIB;
    for offset in (0..size).step_by(MIB as usize) {
        let bytes: Vec<u8> = (offset..offset + MIB).map(byte).collect();
        file.write_all_at(&bytes, offset).unwrap();
    }
    let group = Group::new(512 * MIB);
    let mut command = Command::new("sh");
    command.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(group.0.join("cgroup.procs"));
    command.args([env!("CARGO_BIN_EXE_forerun"), "serve", "--http", "127.0.0.1:0", "--memory", "auto"]);
    command.args(["--metrics", "127.0.0.1:0"]).arg(named("data", &data));
    let serving = Serving::start(&mut command);
    let address = address(&serving);
    let metrics = serving
        .greeting
        .split("metrics at http://")
        .last()
        .unwrap()
        .trim_end()
        .trim_end_matches(')')
        .to_owned();
    let metric = |name: &str| -> u64 {
        let text = String::from_utf8(get(&metrics, "/metrics", "").1).unwrap();
        let value =
            text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).unwrap().to_owned();
        value.parse::<f64>().unwrap() as u64
    };
    let (is_over, answers) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        // Also if an assertion fails.
        let ending = Ending(&is_over);
        for stream in 0..200 {
            let (address, is_over, answers) = (&address, &is_over, &answers);
            scope.spawn(move || {
                let mut offset = stream * 5 * MIB;
                while !is_over.load(Ordering::Relaxed) {
                    let range = format!("Range: bytes={offset}-{}\r\n", offset + MIB / 2 - 1);
                    let (status, bytes) = get(address, "/-/data/big.bin", &range);
                    assert!(status.contains("206"), "{status}");
                    let right = (offset..offset + MIB / 2).map(byte);
                    assert!(bytes.iter().copied().eq(right), "wrong bytes at {offset}");
                    offset = (offset + MIB / 2) % size;
                    answers.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let (most, mut again) = (metric("forerun_memory_limit_bytes"), 0);
        for bytes in [256 * MIB, 128 * MIB] {
            let begun = Instant::now();
            while metric("forerun_memory_used_bytes") < most / 10 * 9 {
                assert!(begun.elapsed() < Duration::from_secs(60), "the streams do not fill the memory");
                // A scrape costs the server time, and nothing announces that its memory is full.
                std::thread::sleep(Duration::from_millis(100));
            }
            let time = group.limit_within(bytes, Duration::from_secs(2));
            // The rest of the two seconds that usage may take to follow.
            std::thread::sleep(Duration::from_secs(2).saturating_sub(time));
            let (limit, used) = (metric("forerun_memory_limit_bytes"), metric("forerun_memory_used_bytes"));
            println!("{bytes} bytes after {time:?}: limit {limit}, used {used}");
            assert!(used <= limit && limit < bytes / 2, "{limit}");
            group.limit(512 * MIB).unwrap();
            // Memory grows in 32 steps of a quarter of a second.
            std::thread::sleep(Duration::from_secs(12));
            again = metric("forerun_memory_limit_bytes");
            assert!(again > 2 * limit, "it does not grow again: {again}");
        }
        println!("most {most}, again {again}, answers {}", answers.load(Ordering::Relaxed));
        drop(ending);
    });
    assert!(answers.load(Ordering::Relaxed) > 200 && group.killed_count() == 0);
    assert_eq!(serving.end().0, Some(0));
}
