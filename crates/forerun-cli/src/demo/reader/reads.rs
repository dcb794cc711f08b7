//! The reads of each pattern.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::verified::{MountedBucket, Tally};
use super::{Pattern, on_threads, order};
use crate::demo::data::{BIG_FILES, PACED_FILES, TREE_FILES, tree_file};

const READ_BYTES: u64 = 64 << 10;
const DISPLACED_READ_BYTES: u64 = 32 << 10;
const DISPLACED_PLACES: u64 = 6;
const SMALL_READ_BYTES: u64 = 4 << 10;
/// From the start of one piece to that of the next.
const STRIDE_BYTES: u64 = 1 << 20;
const SMALL_STRIDE_BYTES: u64 = 64 << 10;
const BURSTS: usize = 128;
const BURST_BYTES: u64 = 2 << 20;
/// The number of files of the tree that are opened in random order.
const OPENED_FILES: usize = 300;
/// Threads, or streams in one open file.
const READERS: u64 = 8;
const MANY_READERS: u64 = 128;
/// The same reads in every run, so that policies can be compared.
const SEED: u64 = 2025;

/// Reads of a file that is opened once. Several threads take them from the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) file: String,
    pub(crate) threads: usize,
    pub(crate) read_bytes: u64,
    pub(crate) offsets: Vec<u64>,
}

impl Pattern {
    /// The number of streams that each thread reads.
    pub(crate) fn streams_per_thread(self) -> u64 {
        if self == Pattern::Interleaved { READERS } else { 1 }
    }

    /// The lists of this pattern, one for each file, with at most `random_reads` random reads.
    /// `size_of` returns a file's size by name. The walk has no list: it finds the files itself.
    ///
    /// # Errors
    /// As `size_of`.
    pub(crate) fn lists<E>(
        self,
        size_of: impl Fn(&str) -> Result<u64, E>,
        random_reads: usize,
    ) -> Result<Vec<List>, E> {
        let sized = |file: &str| Ok((file.to_owned(), size_of(file)?));
        let list = |(file, size), read_bytes, offsets: fn(u64) -> Vec<u64>| List {
            file,
            threads: 1,
            read_bytes,
            offsets: offsets(size),
        };
        let forward = |file: String| Ok(list(sized(&file)?, READ_BYTES, |size| steps(0..size, READ_BYTES)));
        Ok(vec![match self {
            Pattern::Walked => return Ok(Vec::new()),
            Pattern::Parallel => {
                return (0..BIG_FILES).map(|index| forward(format!("big/{index}.bin"))).collect();
            }
            Pattern::Paced => {
                return (0..PACED_FILES).map(|index| forward(format!("paced/{index:02}.bin"))).collect();
            }
            Pattern::Opened => {
                let order = order::random(OPENED_FILES, TREE_FILES, SEED);
                return order.into_iter().map(|index| forward(tree_file(index))).collect();
            }
            Pattern::Sequential => forward("one.bin".to_owned())?,
            Pattern::Backward => list(sized("one.bin")?, READ_BYTES, |size| {
                steps(0..size, READ_BYTES).into_iter().rev().collect()
            }),
            Pattern::Strided => list(sized("wide.bin")?, READ_BYTES, |size| steps(0..size, STRIDE_BYTES)),
            Pattern::StridedBlocks => {
                list(sized("random.bin")?, SMALL_READ_BYTES, |size| steps(0..size, SMALL_STRIDE_BYTES))
            }
            Pattern::Interleaved => {
                list(sized("one.bin")?, READ_BYTES, |size| in_turns(READERS, size, READ_BYTES))
            }
            Pattern::InterleavedMany => {
                list(sized("one.bin")?, READ_BYTES, |size| in_turns(MANY_READERS, size, READ_BYTES))
            }
            Pattern::Displaced => List {
                threads: READERS as usize,
                ..list(sized("one.bin")?, DISPLACED_READ_BYTES, |size| {
                    let order = order::displaced(size / DISPLACED_READ_BYTES, DISPLACED_PLACES, SEED);
                    scaled(order, DISPLACED_READ_BYTES)
                })
            },
            Pattern::Bursts => list(sized("wide.bin")?, READ_BYTES, bursts),
            Pattern::Shuffled => list(sized("shuffled.bin")?, READ_BYTES, |size| {
                let count = size / READ_BYTES;
                scaled(order::random(count as usize, count, SEED), READ_BYTES)
            }),
            Pattern::Random | Pattern::Mapped | Pattern::MappedAdvised => {
                let (file, size) = sized("random.bin")?;
                let order = order::random(random_reads, size / SMALL_READ_BYTES, SEED);
                let offsets = scaled(order, SMALL_READ_BYTES);
                List { file, threads: 1, read_bytes: SMALL_READ_BYTES, offsets }
            }
        }])
    }
}

impl List {
    /// Makes all reads.
    pub(super) fn read(&self, mounted: MountedBucket<'_>) -> Result<Tally, String> {
        let file = mounted.open(&self.file)?;
        let next = AtomicUsize::new(0);
        on_threads(self.threads, |_| {
            let mine = std::iter::from_fn(|| self.offsets.get(next.fetch_add(1, Ordering::Relaxed)).copied());
            file.read_all(mine, self.read_bytes as usize)
        })
    }
}

pub(crate) fn steps(bytes: Range<u64>, len: u64) -> Vec<u64> {
    bytes.step_by(len as usize).collect()
}

fn scaled(indices: Vec<u64>, len: u64) -> Vec<u64> {
    indices.into_iter().map(|index| index * len).collect()
}

/// One region of `size` bytes for each of `readers`, all at once, in reads of `len`.
pub(crate) fn in_turns(readers: u64, size: u64, len: u64) -> Vec<u64> {
    let region = size / readers;
    let turn = |offset| (0..readers).map(move |reader| reader * region + offset);
    steps(0..region, len).into_iter().flat_map(turn).collect()
}

/// In regions twice as long, so that none overlaps another.
fn bursts(size: u64) -> Vec<u64> {
    let starts = order::random(BURSTS, size / (2 * BURST_BYTES), SEED);
    let starts = starts.into_iter().zip(order::random(BURSTS, BURST_BYTES / SMALL_READ_BYTES, SEED));
    let starts = starts.map(|(region, within)| 2 * BURST_BYTES * region + SMALL_READ_BYTES * within);
    starts.flat_map(|start| steps(start..start + BURST_BYTES, READ_BYTES)).collect()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn nothing_is_read_twice_or_past_the_end() {
        const SIZE: u64 = 2 << 30;
        for pattern in Pattern::DEMO.into_iter().chain(Pattern::MORE) {
            let Ok(lists) = pattern.lists(|_| Ok::<_, Infallible>(SIZE), 400);
            for mut list in lists {
                let count = list.offsets.len();
                assert!(list.offsets.iter().all(|offset| offset + list.read_bytes <= SIZE), "{pattern:?}");
                list.offsets.sort_unstable();
                assert!(list.offsets.windows(2).all(|pair| pair[0] + list.read_bytes <= pair[1]));
                let bytes = count as u64 * list.read_bytes;
                match pattern {
                    Pattern::Strided | Pattern::StridedBlocks => assert_eq!(bytes, SIZE / 16),
                    Pattern::Bursts => assert_eq!(bytes, 256 << 20),
                    Pattern::Random | Pattern::Mapped | Pattern::MappedAdvised => assert_eq!(count, 400),
                    _ => assert_eq!(bytes, SIZE, "{pattern:?}"),
                }
            }
        }
    }
}
