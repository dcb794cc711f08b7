//! Counts the kernel's requests to a mount and measures the speed of programs, for each size of the
//! kernel's own readahead, with pushes and without.
//!
//! `cargo bench -p forerun-serve --bench kernel -- [SIZES] [ROWS]`, each with commas: `4k,128k
//! mmap,read`. Sizes above 128k need root. The reader is a separate process: a process that waits
//! for a mount which it serves itself cannot be killed.

use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forerun::{Backend, Forerun, Options};
use forerun_backend::MemoryBackend;
use forerun_backend::layer::{Delay, Rate};
use forerun_serve::fuse::{Mount, MountOptions};
use memmap2::{Advice, Mmap};

const MIB: usize = 1 << 20;
const PAGE_BYTES: usize = 4096;
const FILE_BYTES: usize = 1 << 30;
const SEQUENTIAL_BYTES: usize = 256 * MIB;
const TOUCHES: usize = 2000;
const REPEAT: usize = 3;
/// The argument that makes this program the reader: a row's number and a file follow.
const READER: &str = "reader";

/// How a program reads.
#[derive(Clone, Copy)]
enum Row {
    /// Forward, in reads of this length.
    Forward(usize),
    /// Forward in mapped memory, a page at a time.
    MappedForward,
    /// Pages of mapped memory in random order.
    MappedRandom(Option<Advice>),
    /// Reads of this length in random order.
    Random(usize),
}

const ROWS: [(&str, Row); 10] = [
    ("read 4k", Row::Forward(4 << 10)),
    ("read 16k", Row::Forward(16 << 10)),
    ("read 64k", Row::Forward(64 << 10)),
    ("read 128k", Row::Forward(128 << 10)),
    ("read 1m", Row::Forward(MIB)),
    ("mmap forward", Row::MappedForward),
    ("mmap random", Row::MappedRandom(None)),
    ("mmap MADV_RANDOM", Row::MappedRandom(Some(Advice::Random))),
    ("random 64k", Row::Random(64 << 10)),
    ("random 256k", Row::Random(256 << 10)),
];

impl Row {
    /// Reads, and returns the count of bytes that it wanted.
    fn run(self, file: &File) -> usize {
        match self {
            Row::Forward(len) => {
                let mut buffer = vec![0; len];
                for at in (0..SEQUENTIAL_BYTES).step_by(len) {
                    file.read_exact_at(&mut buffer, at as u64).expect("a read");
                }
                SEQUENTIAL_BYTES
            }
            Row::MappedForward => {
                let map = map(file);
                touch(&map, (0..SEQUENTIAL_BYTES / PAGE_BYTES).map(|page| page * PAGE_BYTES));
                SEQUENTIAL_BYTES
            }
            Row::MappedRandom(advice) => {
                let map = map(file);
                advice.map_or(Ok(()), |advice| map.advise(advice)).expect("madvise");
                touch(
                    &map,
                    random().map(|number| number % (FILE_BYTES / PAGE_BYTES) * PAGE_BYTES).take(TOUCHES),
                );
                TOUCHES * PAGE_BYTES
            }
            Row::Random(len) => {
                let mut buffer = vec![0; len];
                let places = random().map(|number| number % (FILE_BYTES / len) * len);
                let count = 64 * MIB / len;
                for at in places.take(count) {
                    file.read_exact_at(&mut buffer, at as u64).expect("a read");
                }
                count * len
            }
        }
    }
}

fn map(file: &File) -> Mmap {
    // SAFETY: the mount is read-only and its object does not change.
    unsafe { Mmap::map(file) }.expect("a mapping")
}

fn touch(map: &[u8], offsets: impl Iterator<Item = usize>) {
    black_box(offsets.map(|offset| u64::from(map[offset])).sum::<u64>());
}

/// The same numbers in every run.
fn random() -> impl Iterator<Item = usize> {
    let mut state = 2025_u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    })
}

/// A fast store and a slow one.
fn stores() -> [(&'static str, Arc<dyn Backend>); 2] {
    let memory = MemoryBackend::new();
    memory.replace(
        "file",
        (0..FILE_BYTES / 8).flat_map(|word| (word as u64).to_le_bytes()).collect::<Vec<u8>>(),
    );
    let memory: Arc<dyn Backend> = Arc::new(memory);
    let near =
        Delay::new(Arc::new(Rate::new(memory.clone(), None, Some(2_000_000_000))), Duration::from_millis(2));
    [("memory", memory), ("2 ms, 2 GB/s", Arc::new(near))]
}

fn measure(store: &Arc<dyn Backend>, kernel_readahead_bytes: u64, push: bool, row: usize) -> String {
    let mut rates = Vec::new();
    let mut line = String::new();
    for _ in 0..REPEAT {
        let forerun = Forerun::over(store.clone(), Options::default()).expect("an engine");
        let directory = tempfile::tempdir().expect("a directory");
        let options =
            MountOptions::default().with_kernel_readahead_bytes(kernel_readahead_bytes).with_push(push);
        let mount = Mount::new(forerun.clone(), directory.path(), options).expect("a mount");
        let used = processor_time();
        let (bytes, elapsed) = read_elsewhere(row, &directory.path().join("file"));
        let used = (processor_time() - used).as_secs_f64();
        let (asked, fetched) = (mount.asked(), forerun.counters());
        rates.push(bytes / elapsed / 1e6);
        rates.sort_by(f64::total_cmp);
        line = format!(
            "{:>8.0} {:>8} {:>8.2} {:>8.2} {:>8.2} {:>8.2}",
            rates[rates.len() / 2],
            asked.read_count,
            asked.read_bytes as f64 / bytes,
            asked.pushed_bytes as f64 / bytes,
            (fetched.demand_bytes + fetched.readahead_bytes) as f64 / bytes,
            used / bytes * 1e9,
        );
    }
    line
}

/// Has another process read `file`: bytes wanted and seconds.
fn read_elsewhere(row: usize, file: &Path) -> (f64, f64) {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program).args([READER, &row.to_string()]).arg(file).output().expect("a reader");
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).expect("numbers");
    let (bytes, seconds) = said.trim().split_once(' ').expect("two numbers");
    (bytes.parse().expect("bytes"), seconds.parse().expect("seconds"))
}

/// Reads as row number `row` does, and tells [`read_elsewhere`].
fn read_here(row: &str, file: &str) {
    let file = File::open(file).expect("the file");
    let (_, row) = ROWS[row.parse::<usize>().expect("a row")];
    let start = Instant::now();
    let bytes = row.run(&file);
    println!("{bytes} {}", start.elapsed().as_secs_f64());
}

/// Processor time of this process and its readers, in the kernel too.
fn processor_time() -> Duration {
    let usage = std::fs::read_to_string("/proc/self/stat").expect("/proc");
    let fields: Vec<&str> = usage.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |index: usize| fields[index].parse::<u64>().unwrap_or(0);
    Duration::from_millis((11..15).map(ticks).sum::<u64>() * 10)
}

fn main() {
    let own: Vec<String> = std::env::args().collect();
    if let [_, first, row, file] = own.iter().map(String::as_str).collect::<Vec<_>>()[..]
        && first == READER
    {
        return read_here(row, file);
    }
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let sizes = arguments.next().unwrap_or_else(|| "4k,16k,32k,64k,128k".to_owned());
    let only = arguments.next().unwrap_or_default();
    println!(
        "{:<13} {:<17} {:>7} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "store", "row", "kernel", "push", "MB/s", "READs", "asked", "pushed", "fetched", "cpu s/GB"
    );
    for (store, backend) in &stores() {
        for (number, (name, _)) in
            ROWS.iter().enumerate().filter(|(_, (name, _))| only.split(',').any(|part| name.contains(part)))
        {
            for size in sizes.split(',') {
                let bytes = size.trim_end_matches('k').parse::<u64>().expect("a size such as 16k") << 10;
                for push in [false, true] {
                    println!(
                        "{store:<13} {name:<17} {size:>7} {:>5} {}",
                        if push { "yes" } else { "no" },
                        measure(backend, bytes, push, number)
                    );
                }
            }
        }
    }
}
