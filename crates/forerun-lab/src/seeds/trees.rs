//! Trees of files, and the programs that read all of one.

use forerun_sim::source::{Action, Clients, Directory, ObjectId, Placed};
use forerun_trace::generate::Numbers;

use super::programs::{READ_BYTES, forward, lock_step};

/// The files of the documents' trees, as far as is known.
pub(super) const FILES_PER_DIRECTORY: usize = 8;
/// A block of names and one of inodes.
const DIRECTORY_BYTES: u64 = 8192;

/// Files in directories. Before the files of each directory comes what the file system reads of it.
pub(super) struct Tree {
    /// Of the objects, in their order on the disk.
    pub(super) sizes: Vec<u64>,
    files_per_directory: usize,
}

impl Tree {
    /// About `bytes` bytes: half of the files have less than `median_bytes`, and the others as much more
    /// as those have less.
    pub(super) fn new(bytes: u64, median_bytes: u64, files_per_directory: usize) -> Tree {
        let files = files(bytes, median_bytes);
        let directories = files.chunks(files_per_directory);
        let sizes = directories.flat_map(|files| [&[DIRECTORY_BYTES], files].concat()).collect();
        Tree { sizes, files_per_directory }
    }

    /// `grep -r`: one file after the other; `placed` are its objects.
    pub(super) fn grep_r(&self, placed: &[Placed]) -> Clients<'static> {
        let files = self.sizes.clone().into_iter().enumerate().flat_map(|(file, size)| {
            let object = ObjectId(file as u64);
            let reads = forward(size, READ_BYTES).map(move |extent| Action::read(object, extent));
            reads.chain([Action::close(object)])
        });
        Clients::new(placed.to_vec(), vec![Box::new(files)]).with_directories(self.directories(0))
    }

    /// `diff -r`: the files of two equal trees pair by pair; `placed` has the objects of the one behind
    /// those of the other.
    pub(super) fn diff_r(&self, placed: &[Placed]) -> Clients<'static> {
        let count = self.sizes.len() as u64;
        let pairs = (0..count).zip(self.sizes.clone()).flat_map(move |(file, size)| {
            let (one, other) = (ObjectId(file), ObjectId(file + count));
            lock_step(one, other, size).chain([Action::close(one), Action::close(other)])
        });
        let directories = [self.directories(0), self.directories(count)].concat();
        Clients::new(placed.to_vec(), vec![Box::new(pairs)]).with_directories(directories)
    }

    /// The listings that a mount gets of directories, the objects of which begin with `first`.
    fn directories(&self, first: u64) -> Vec<Directory> {
        let end = first + self.sizes.len() as u64;
        let directory = |names: u64| Directory {
            names: Some(ObjectId(names)),
            files: (names + 1..end).take(self.files_per_directory).map(|file| (ObjectId(file), 0)).collect(),
        };
        (first..end).step_by(self.files_per_directory + 1).map(directory).collect()
    }
}

fn files(bytes: u64, median_bytes: u64) -> Vec<u64> {
    let mut numbers = Numbers::new(1);
    let mut sizes = Vec::new();
    let mut sum = 0;
    while sum < bytes {
        let size = spread(median_bytes, &mut numbers);
        sizes.push(size);
        sum += size;
    }
    sizes
}

/// A size whose logarithm is normal around the median's, with a deviation of
/// 1.1 octaves: the sum of twelve even numbers is nearly normal.
fn spread(median_bytes: u64, numbers: &mut Numbers) -> u64 {
    const OCTAVE: u64 = 1 << 16;
    let sum: u64 = (0..12).map(|_| numbers.below(OCTAVE)).sum();
    // In 65,536ths of an octave, from 3.4 to 16.6 octaves; 10 are the median.
    let shift = sum * 11 / 10 + OCTAVE * 34 / 10;
    let (whole, part) = (shift / OCTAVE, shift % OCTAVE);
    // 2^part is nearly 1 + part within an octave.
    let times = (OCTAVE + part) << whole;
    ((u128::from(median_bytes) * u128::from(times)) >> (16 + 10)).max(1) as u64
}

#[cfg(test)]
mod tests {
    use super::super::programs::with_copies;
    use super::*;
    use forerun_sim::source::{Next, Source, Time};

    #[test]
    fn trees_have_their_median() {
        let mut sizes = files(100 << 20, 20 << 10);
        sizes.sort_unstable();
        let median = sizes[sizes.len() / 2];
        assert!((17 << 10..24 << 10).contains(&median), "{median}");
        assert!(sizes.iter().sum::<u64>() >= 100 << 20);
        assert!((2500..5000).contains(&sizes.len()), "{}", sizes.len());
    }

    #[test]
    fn directories_come_before_their_files() {
        let (files, tree) = (files(1 << 20, 20 << 10), Tree::new(1 << 20, 20 << 10, 8).sizes);
        assert_eq!(tree.len(), files.len() + files.len().div_ceil(8));
        assert!(tree.iter().step_by(9).all(|size| *size == DIRECTORY_BYTES));
        assert_eq!(tree[1..9], files[..8]);
    }

    #[test]
    fn every_directory_lists_the_files_behind_its_names() {
        let tree = Tree::new(1 << 20, 20 << 10, 5);
        let directories = tree.directories(100);
        let objects = directories.iter().flat_map(|directory| {
            directory.names.into_iter().chain(directory.files.iter().map(|(file, _)| *file))
        });
        assert!(objects.map(|object| object.0).eq(100..100 + tree.sizes.len() as u64));
        assert!(directories.iter().rev().skip(1).all(|directory| directory.files.len() == 5));
    }

    #[test]
    fn copies_are_read_in_lock_step() {
        let tree = Tree { sizes: vec![4096, 5000], files_per_directory: 8 };
        let placed = with_copies(&tree.sizes, 1 << 20);
        assert_eq!(placed[3], Placed { address: (1 << 20) + 4096, size: 5000 });
        let mut source = tree.diff_r(&placed);
        let mut seen = Vec::new();
        while let Next::Step(step) = source.next(Time(0)) {
            seen.push((step.object.0, step.extent.offset, step.extent.len));
            source.done(Time(0), step.token);
        }
        let reads: Vec<_> = seen.into_iter().filter(|(.., len)| *len > 0).collect();
        assert_eq!(
            reads,
            [(0, 0, 4096), (2, 0, 4096), (1, 0, 4096), (3, 0, 4096), (1, 4096, 904), (3, 4096, 904)]
        );
    }
}
