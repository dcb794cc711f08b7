//! Measures how much faster a local directory is read when files are passed through to the kernel.
//!
//! It compares a first and a second read of the directory itself, of a mount, and of a mount with
//! passthrough.
//!
//! `cargo bench -p forerun-serve --bench passthrough -- [DIR]`, as root. DIR is where the files are
//! made, /dev/shm unless given. The reader is a separate process: a process that waits for a mount
//! which it serves itself cannot be killed.

use std::fs::{self, File};
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use forerun::{Forerun, Options};
use forerun_serve::fuse::{Mount, MountOptions};
use memmap2::Mmap;

const MIB: usize = 1 << 20;
const PAGE_BYTES: usize = 4096;
/// Half of what a mount keeps in memory.
const FILE_BYTES: usize = 128 * MIB;
const SMALL_COUNT: usize = 2000;
const SMALL_BYTES: usize = 16 << 10;
const RANDOM_COUNT: usize = 50_000;
const REPEAT: usize = 5;
/// The argument that makes this program the reader: a row's number and a directory follow.
const READER: &str = "reader";

/// How a program reads.
#[derive(Clone, Copy)]
enum Row {
    /// The large file forward, in reads of this length.
    Forward(usize),
    /// Pages of the large file in random order.
    Random,
    /// The same pages in mapped memory.
    Mapped,
    /// Every small file: open, read, close.
    Small,
}

const ROWS: [(&str, Row); 5] = [
    ("forward 1m", Row::Forward(MIB)),
    ("forward 64k", Row::Forward(64 << 10)),
    ("random 4k", Row::Random),
    ("mmap random", Row::Mapped),
    ("files 16k", Row::Small),
];

impl Row {
    fn run(self, directory: &Path) {
        let file = || File::open(directory.join("large")).expect("the file");
        match self {
            Row::Forward(len) => {
                let (file, mut buffer) = (file(), vec![0; len]);
                (0..FILE_BYTES)
                    .step_by(len)
                    .for_each(|at| file.read_exact_at(&mut buffer, at as u64).expect("a read"));
            }
            Row::Random => {
                let (file, mut buffer) = (file(), [0; PAGE_BYTES]);
                random().for_each(|at| file.read_exact_at(&mut buffer, at as u64).expect("a read"));
            }
            Row::Mapped => {
                // SAFETY: nobody writes to the file.
                let map = unsafe { Mmap::map(&file()) }.expect("a mapping");
                black_box(random().map(|at| u64::from(map[at])).sum::<u64>());
            }
            Row::Small => (0..SMALL_COUNT).for_each(|index| {
                let bytes = fs::read(directory.join(format!("small-{index}"))).expect("a small file");
                assert_eq!(bytes.len(), SMALL_BYTES);
            }),
        }
    }

    /// `seconds` of it, in its unit.
    fn shown(self, seconds: f64) -> f64 {
        match self {
            Row::Forward(_) => FILE_BYTES as f64 / seconds / 1e6,
            Row::Random | Row::Mapped => seconds / RANDOM_COUNT as f64 * 1e6,
            Row::Small => seconds / SMALL_COUNT as f64 * 1e6,
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Row::Forward(_) => "MB/s",
            Row::Random | Row::Mapped => "us a page",
            Row::Small => "us a file",
        }
    }
}

/// The same page offsets in every run.
fn random() -> impl Iterator<Item = usize> {
    let mut state = 2025_u64;
    let next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % (FILE_BYTES / PAGE_BYTES) * PAGE_BYTES
    };
    std::iter::repeat_with(next).take(RANDOM_COUNT)
}

/// Seconds that another process takes for row number `row` of `directory`: the first time, and
/// again.
fn read_elsewhere(row: usize, directory: &Path) -> [f64; 2] {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program).args([READER, &row.to_string()]).arg(directory).output();
    let output = output.expect("a reader");
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).expect("numbers");
    let seconds: Vec<f64> = said.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    seconds.try_into().expect("two numbers")
}

/// Reads as row number `row` does, twice, and tells [`read_elsewhere`].
fn read_here(row: &str, directory: &str) {
    let (_, row) = ROWS[row.parse::<usize>().expect("a row")];
    for _ in 0..2 {
        let start = Instant::now();
        row.run(Path::new(directory));
        println!("{}", start.elapsed().as_secs_f64());
    }
}

/// As [`read_elsewhere`], for a new mount of `source`.
fn read_mounted(row: usize, source: &Path, passthrough: bool) -> [f64; 2] {
    let url = source.to_str().expect("a name");
    let forerun = Forerun::connect_blocking(url, Options::default()).expect("an engine");
    let directory = tempfile::tempdir().expect("a directory");
    let options = MountOptions::default().with_passthrough(passthrough);
    let mount = Mount::new(forerun.clone(), directory.path(), options).expect("a mount");
    assert_eq!(mount.not_passed(), None);
    let seconds = read_elsewhere(row, directory.path());
    let is_passed = forerun.counters().read_count == 0;
    assert_eq!(is_passed, passthrough, "who has read");
    seconds
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn fill(source: &Path) {
    let words = |len: usize| (0..len / 8).flat_map(|word| (word as u64).to_le_bytes()).collect::<Vec<u8>>();
    fs::write(source.join("large"), words(FILE_BYTES)).expect("a file");
    for index in 0..SMALL_COUNT {
        fs::write(source.join(format!("small-{index}")), words(SMALL_BYTES)).expect("a file");
    }
}

fn main() {
    let own: Vec<String> = std::env::args().collect();
    if let [_, first, row, directory] = own.iter().map(String::as_str).collect::<Vec<_>>()[..]
        && first == READER
    {
        return read_here(row, directory);
    }
    let place = own.into_iter().skip(1).find(|argument| !argument.starts_with("--"));
    let source = tempfile::tempdir_in(place.as_deref().unwrap_or("/dev/shm")).expect("a directory");
    fill(source.path());
    println!(
        "{:<12} {:<10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8}",
        "row", "unit", "directory", "mount", "again", "passed", "again", "x mount", "x again"
    );
    for (number, (name, row)) in ROWS.iter().enumerate() {
        let mut columns = [(); 5].map(|()| Vec::new());
        for _ in 0..REPEAT {
            let [_, directory] = read_elsewhere(number, source.path());
            let [first, again] = read_mounted(number, source.path(), false);
            let [passed, passed_again] = read_mounted(number, source.path(), true);
            let seconds = [directory, first, again, passed, passed_again];
            columns.iter_mut().zip(seconds).for_each(|(column, seconds)| column.push(seconds));
        }
        let seconds = columns.map(median);
        let [directory, first, again, passed, passed_again] = seconds.map(|seconds| row.shown(seconds));
        let (gain, gain_again) = (seconds[1] / seconds[3], seconds[2] / seconds[4]);
        println!(
            "{name:<12} {:<10} {directory:>10.1} {first:>10.1} {again:>10.1} {passed:>10.1} \
             {passed_again:>10.1} {gain:>8.2} {gain_again:>8.2}",
            row.unit()
        );
    }
}
