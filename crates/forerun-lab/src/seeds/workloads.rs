//! The programs of the experiments, as clients.

use std::ops::Range;

use forerun_sim::source::{Action, Client, Clients, Directory, Extent, ObjectId, Placed, Source, place};
use forerun_trace::generate::Numbers;

/// What programs of that time read at once.
const READ_BYTES: u64 = 4096;
/// Files in a directory of a tree.
const FILES_PER_DIRECTORY: usize = 8;
/// A block of names and one of inodes.
const DIRECTORY_BYTES: u64 = 8192;

/// Extents of `len` bytes from the beginning to the end of an object of `size`.
pub(super) fn forward(size: u64, len: u64) -> impl Iterator<Item = Extent> {
    (0..size).step_by(len as usize).map(move |at| Extent::between(at, (at + len).min(size)))
}

/// The same extents from the end to the beginning.
pub(super) fn backward(size: u64, len: u64) -> impl Iterator<Item = Extent> {
    (0..size.div_ceil(len)).rev().map(move |at| Extent::between(at * len, ((at + 1) * len).min(size)))
}

/// One client that reads `extents` of one object.
pub(super) fn read_all(placed: Placed, extents: impl Iterator<Item = Extent> + 'static) -> Clients<'static> {
    let reads = extents.map(|extent| Action::read(ObjectId(0), extent));
    Clients::new(vec![placed], vec![Box::new(reads)])
}

/// `dd`: one object from its beginning to its end.
pub(super) fn dd(placed: Placed) -> Box<dyn Source> {
    Box::new(read_all(placed, forward(placed.size, READ_BYTES)))
}

/// `diff`: two objects in lock step.
pub(super) fn diff(two: [Placed; 2]) -> Clients<'static> {
    let client: Box<dyn Client> = Box::new(lock_step(ObjectId(0), ObjectId(1), two[0].size.min(two[1].size)));
    Clients::new(two.to_vec(), vec![client])
}

/// `grep -r`: the files of a tree one after the other.
pub(super) fn grep_r(tree: &[Placed]) -> Clients<'static> {
    let sizes: Vec<u64> = tree.iter().map(|file| file.size).collect();
    let files = sizes.into_iter().enumerate().flat_map(|(file, size)| {
        let object = ObjectId(file as u64);
        let reads = forward(size, READ_BYTES).map(move |extent| Action::read(object, extent));
        reads.chain([Action::close(object)])
    });
    Clients::new(tree.to_vec(), vec![Box::new(files)]).with_directories(directories(0..tree.len() as u64))
}

/// `diff -r`: the files of two equal trees pair by pair; `trees` has those of the one
/// behind those of the other.
pub(super) fn diff_r(trees: &[Placed]) -> Clients<'static> {
    let count = trees.len() / 2;
    let sizes: Vec<u64> = trees[..count].iter().map(|file| file.size).collect();
    let pairs = sizes.into_iter().enumerate().flat_map(move |(file, size)| {
        let (one, other) = (ObjectId(file as u64), ObjectId((file + count) as u64));
        lock_step(one, other, size).chain([Action::close(one), Action::close(other)])
    });
    let [one, other] = [0..count as u64, count as u64..trees.len() as u64].map(directories);
    Clients::new(trees.to_vec(), vec![Box::new(pairs)]).with_directories([one, other].concat())
}

/// The directories of the [`tree`] whose objects are `objects`.
fn directories(objects: Range<u64>) -> Vec<Directory> {
    let end = objects.end;
    let directory = |names: u64| Directory {
        names: Some(ObjectId(names)),
        files: (names + 1..end).take(FILES_PER_DIRECTORY).map(|file| (ObjectId(file), 0)).collect(),
    };
    objects.step_by(FILES_PER_DIRECTORY + 1).map(directory).collect()
}

fn lock_step(one: ObjectId, other: ObjectId, size: u64) -> impl Iterator<Item = Action> {
    forward(size, READ_BYTES).flat_map(move |extent| [Action::read(one, extent), Action::read(other, extent)])
}

/// Objects of these sizes one behind the other, and their copies, which begin `apart`
/// bytes behind them.
pub(super) fn with_copies(sizes: &[u64], apart: u64) -> Vec<Placed> {
    let originals = place(sizes.iter().copied(), 4096);
    let copies = originals.iter().map(|one| Placed { address: one.address + apart, size: one.size });
    originals.iter().copied().chain(copies).collect()
}

/// The files of a tree of about `bytes` bytes: half of them have less than
/// `median_bytes`, and the others as much more as those have less. Before the files of
/// each directory comes what the file system reads of it.
pub(super) fn tree(bytes: u64, median_bytes: u64, seed: u64) -> Vec<u64> {
    let mut sizes = Vec::new();
    for (at, size) in files(bytes, median_bytes, seed).into_iter().enumerate() {
        if at % FILES_PER_DIRECTORY == 0 {
            sizes.push(DIRECTORY_BYTES);
        }
        sizes.push(size);
    }
    sizes
}

fn files(bytes: u64, median_bytes: u64, seed: u64) -> Vec<u64> {
    let mut numbers = Numbers::new(seed);
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
    use super::*;
    use forerun_sim::source::{Next, Time};

    #[test]
    fn trees_have_their_median() {
        let mut sizes = files(100 << 20, 20 << 10, 1);
        sizes.sort_unstable();
        let median = sizes[sizes.len() / 2];
        assert!((17 << 10..24 << 10).contains(&median), "{median}");
        assert!(sizes.iter().sum::<u64>() >= 100 << 20);
        assert!((2500..5000).contains(&sizes.len()), "{}", sizes.len());
    }

    #[test]
    fn directories_come_before_their_files() {
        let (files, tree) = (files(1 << 20, 20 << 10, 1), tree(1 << 20, 20 << 10, 1));
        assert_eq!(tree.len(), files.len() + files.len().div_ceil(8));
        assert!(tree.iter().step_by(9).all(|size| *size == DIRECTORY_BYTES));
        assert_eq!(tree[1..9], files[..8]);
    }

    #[test]
    fn every_directory_lists_the_files_behind_its_names() {
        let count = tree(1 << 20, 20 << 10, 1).len() as u64;
        let directories = directories(100..100 + count);
        let objects = directories.iter().flat_map(|directory| {
            directory.names.into_iter().chain(directory.files.iter().map(|(file, _)| *file))
        });
        assert!(objects.map(|object| object.0).eq(100..100 + count));
        assert!(directories.iter().rev().skip(1).all(|directory| directory.files.len() == 8));
    }

    #[test]
    fn backward_is_forward_from_the_end() {
        let mut extents: Vec<Extent> = backward(10_000, 4096).collect();
        extents.reverse();
        assert_eq!(extents, forward(10_000, 4096).collect::<Vec<_>>());
    }

    #[test]
    fn copies_are_read_in_lock_step() {
        let placed = with_copies(&[4096, 5000], 1 << 20);
        assert_eq!(placed[3], Placed { address: (1 << 20) + 4096, size: 5000 });
        let mut source = diff_r(&placed);
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
