//! The rows: program, files and memory.

use std::path::Path;

use super::block_reader::Order;
use super::disk_contents::{
    BIG_BYTES, RANDOM_BYTES, SLOW_BYTES, SLOW_COUNT, TREE_FILE_COUNT, tree_file_bytes,
};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// More than a row's readers need: nothing is evicted before it is read.
const AMPLE: u64 = 96 * MIB;

/// Less than [`RANDOM_BYTES`], as seed 000 has 80 and 40 MB for 100.
const RANDOM_BYTES_0_8: u64 = 38 * MIB;
const RANDOM_BYTES_0_4: u64 = 19 * MIB;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) name: &'static str,
    /// The memory of page cache and mount together.
    pub(super) memory_bytes: u64,
    work: Work,
}

#[derive(Clone, Copy, Debug)]
enum Work {
    /// `cmp` of two large files.
    Compare,
    /// `cat` of a large file.
    Whole,
    /// `grep -r` for a word that no file has.
    Search,
    /// `diff -r` of two equal trees.
    Trees,
    /// This program's reader: `count` times `block` bytes from each file of a path.
    Reader { order: Order, block: u64, step: u64, count: u64, path: &'static str },
}

const fn reader(order: Order, block: u64, step: u64, count: u64, path: &'static str) -> Work {
    Work::Reader { order, block, step, count, path }
}

const fn row(name: &'static str, memory_bytes: u64, work: Work) -> Job {
    Job { name, memory_bytes, work }
}

/// All rows. Seed 000 reads 100 MB at random in 300, 80 and 40 MB of memory, and has 800 slow
/// readers in 64 MB. The sizes here are smaller, their ratios the same.
pub(super) const JOBS: &[Job] = &[
    row("two files, cmp", AMPLE, Work::Compare),
    row("one file, cat", AMPLE, Work::Whole),
    row("tree, grep -r", AMPLE, Work::Search),
    row("two trees, diff -r", AMPLE, Work::Trees),
    row("random 64 KiB, memory 3x", 3 * RANDOM_BYTES, reader(Order::Random, 64 * KIB, 1, 1536, "random")),
    row("random 64 KiB, 0.8x", RANDOM_BYTES_0_8, reader(Order::Random, 64 * KIB, 1, 1536, "random")),
    row("random 64 KiB, 0.4x", RANDOM_BYTES_0_4, reader(Order::Random, 64 * KIB, 1, 1536, "random")),
    row("random 4 KiB, 3x", 3 * RANDOM_BYTES, reader(Order::Random, 4 * KIB, 1, 1500, "random")),
    row("random 4 KiB, 0.4x", RANDOM_BYTES_0_4, reader(Order::Random, 4 * KIB, 1, 1500, "random")),
    row("backward 64 KiB", AMPLE, reader(Order::Backward, 64 * KIB, 1, 512, "big.1")),
    row("backward 4 KiB", AMPLE, reader(Order::Backward, 4 * KIB, 1, 2048, "big.1")),
    row("sparse, 1 of 4 x 4 KiB", AMPLE, reader(Order::Forward, 4 * KIB, 4, 4096, "big.1")),
    row("sparse, 1 of 8 x 4 KiB", AMPLE, reader(Order::Forward, 4 * KIB, 8, 2048, "big.1")),
    row(
        "400 slow readers in 32 MiB",
        32 * MIB,
        reader(Order::Forward, 16 * KIB, 1, SLOW_BYTES / (16 * KIB), "slow"),
    ),
];

impl Job {
    /// The bytes that its readers ask for.
    pub(super) fn asked_bytes(&self) -> u64 {
        let tree: u64 = (0..TREE_FILE_COUNT).map(tree_file_bytes).sum();
        match self.work {
            Work::Compare => 2 * BIG_BYTES,
            Work::Whole => BIG_BYTES,
            Work::Search => tree,
            Work::Trees => 2 * tree,
            Work::Reader { block, count, path: "slow", .. } => SLOW_COUNT * block * count,
            Work::Reader { block, count, .. } => block * count,
        }
    }

    /// The program with its arguments, below `directory`, and its status of success. `own` is the
    /// path of this program.
    pub(super) fn command(&self, own: &Path, directory: &Path) -> (Vec<String>, i32) {
        let at = |name: &str| directory.join(name).display().to_string();
        let owned = |arguments: &[&str]| arguments.iter().map(|&text| text.to_owned()).collect();
        match self.work {
            Work::Compare => (owned(&["cmp", &at("big.1"), &at("big.2")]), 0),
            Work::Whole => (owned(&["cat", &at("big.1")]), 0),
            Work::Search => (owned(&["grep", "-r", "no such line", &at("lib.1")]), 1),
            Work::Trees => (owned(&["diff", "-r", &at("lib.1"), &at("lib.2")]), 0),
            Work::Reader { order, block, step, count, path } => {
                let [block, step, count] = [block, step, count].map(|number| number.to_string());
                let own = own.display().to_string();
                let numbers = ["--block", &block, "--step", &step, "--count", &count];
                let mut arguments: Vec<String> = owned(&[&own, "bench-kernel-reader", order.name()]);
                arguments.extend(numbers.map(str::to_owned));
                arguments.push(at(path));
                (arguments, 0)
            }
        }
    }
}
