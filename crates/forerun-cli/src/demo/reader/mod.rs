//! The programs that read from the mount: plain `pread`, in five patterns.

mod order;
mod verified;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub(crate) use self::verified::{Mounted, Tally};
use super::data::BIG_FILES;

const READ_BYTES: u64 = 64 << 10;
const DISPLACED_READ_BYTES: u64 = 32 << 10;
const DISPLACED_PLACES: u64 = 6;
const RANDOM_READ_BYTES: u64 = 4 << 10;
/// Threads, or streams on one open file.
const READERS: u64 = 8;
/// The same reads in every run, so that policies can be compared.
const SEED: u64 = 2025;

/// How a reader reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// One file from its beginning to its end.
    Sequential,
    /// Eight files, each by a thread of its own.
    Parallel,
    /// Eight places of one open file, in turns.
    Interleaved,
    /// One file by eight threads that overtake each other.
    Displaced,
    /// Blocks of a large file that have nothing to do with each other.
    Random,
}

/// Reads of one file that is open once: each of some threads makes the next one that
/// nobody has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) file: String,
    pub(crate) threads: usize,
    pub(crate) read_bytes: u64,
    pub(crate) offsets: Vec<u64>,
}

/// What reading came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) tally: Tally,
    pub(crate) elapsed: Duration,
}

impl Pattern {
    pub(crate) const ALL: [Pattern; 5] =
        [Pattern::Sequential, Pattern::Parallel, Pattern::Interleaved, Pattern::Displaced, Pattern::Random];

    /// The name for the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Pattern::Sequential => "sequential",
            Pattern::Parallel => "parallel",
            Pattern::Interleaved => "interleaved",
            Pattern::Displaced => "displaced",
            Pattern::Random => "random",
        }
    }

    /// How many streams each thread reads.
    pub(crate) fn streams_per_thread(self) -> u64 {
        if self == Pattern::Interleaved { READERS } else { 1 }
    }

    /// The pattern of that name.
    pub(crate) fn from_name(name: &str) -> Option<Pattern> {
        Pattern::ALL.into_iter().find(|pattern| pattern.name() == name)
    }

    /// The name for a table.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Pattern::Sequential => "one file, sequential, 64 KiB",
            Pattern::Parallel => "8 files by 8 threads, 64 KiB",
            Pattern::Interleaved => "8 places of one open file in turns, 64 KiB",
            Pattern::Displaced => "one file by 8 threads, out of order, 32 KiB",
            Pattern::Random => "random, 4 KiB",
        }
    }

    /// What is read of which file, by how many threads; `size_of` a file is asked
    /// for by its name. At most `random_reads` reads if at random.
    ///
    /// # Errors
    /// What `size_of` says.
    pub(crate) fn lists<E>(
        self,
        size_of: impl Fn(&str) -> Result<u64, E>,
        random_reads: usize,
    ) -> Result<Vec<List>, E> {
        let file = match self {
            Pattern::Parallel => {
                let forward = |index| {
                    let file = format!("big/{index}.bin");
                    let offsets = steps(0, size_of(&file)?, READ_BYTES).collect();
                    Ok(List { file, threads: 1, read_bytes: READ_BYTES, offsets })
                };
                return (0..BIG_FILES).map(forward).collect();
            }
            Pattern::Random => "random.bin",
            _ => "one.bin",
        };
        let size = size_of(file)?;
        let (threads, read_bytes, offsets) = match self {
            Pattern::Sequential | Pattern::Parallel => (1, READ_BYTES, steps(0, size, READ_BYTES).collect()),
            Pattern::Interleaved => {
                let region = size / READERS;
                let in_turns = steps(0, region, READ_BYTES)
                    .flat_map(|offset| (0..READERS).map(move |reader| reader * region + offset));
                (1, READ_BYTES, in_turns.collect())
            }
            Pattern::Displaced => {
                let order = order::displaced(size / DISPLACED_READ_BYTES, DISPLACED_PLACES, SEED);
                (READERS as usize, DISPLACED_READ_BYTES, scaled(order, DISPLACED_READ_BYTES))
            }
            Pattern::Random => {
                let order = order::random(random_reads, size / RANDOM_READ_BYTES, SEED);
                (1, RANDOM_READ_BYTES, scaled(order, RANDOM_READ_BYTES))
            }
        };
        Ok(vec![List { file: file.to_owned(), threads, read_bytes, offsets }])
    }

    /// Reads, and checks every byte; at most `random_reads` of them if at random.
    ///
    /// # Errors
    /// What failed, at which file and offset.
    pub(crate) fn read(self, mounted: Mounted<'_>, random_reads: usize) -> Result<Reading, String> {
        let lists = self.lists(|file| mounted.size_of(file), random_reads)?;
        let start = Instant::now();
        let tally = on_threads(lists.len(), |index| lists[index].read(mounted))?;
        Ok(Reading { tally, elapsed: start.elapsed() })
    }
}

impl List {
    fn read(&self, mounted: Mounted<'_>) -> Result<Tally, String> {
        let file = mounted.open(&self.file)?;
        let next = AtomicUsize::new(0);
        on_threads(self.threads, |_| {
            let mine = std::iter::from_fn(|| self.offsets.get(next.fetch_add(1, Ordering::Relaxed)).copied());
            file.read_all(mine, self.read_bytes as usize)
        })
    }
}

fn steps(from: u64, to: u64, len: u64) -> impl Iterator<Item = u64> {
    (from..to).step_by(len as usize)
}

fn scaled(indices: Vec<u64>, len: u64) -> Vec<u64> {
    indices.into_iter().map(|index| index * len).collect()
}

/// Runs `work` on `threads` threads, each with its number, and adds up. One thread is
/// the calling one.
fn on_threads(threads: usize, work: impl Fn(usize) -> Result<Tally, String> + Sync) -> Result<Tally, String> {
    if threads == 1 {
        return work(0);
    }
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|index| scope.spawn(move || work(index))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err("a reading thread panicked".to_owned())))
            .sum()
    })
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::os::unix::fs::FileExt;
    use std::path::Path;

    use super::*;
    use crate::demo::data::Contents;

    const BYTES: u64 = 8 << 20;

    /// The bucket's files in a plain directory.
    fn write_files(directory: &Path, contents: &Contents) {
        std::fs::create_dir_all(directory.join("big")).unwrap();
        for (key, object) in contents.objects_after("") {
            if key.starts_with("many/") {
                continue;
            }
            let mut file = File::create(directory.join(key)).unwrap();
            let size = object.size.min(BYTES);
            let mut offset = 0;
            while offset < size {
                let bytes = contents.bytes_at(object, offset, size - offset);
                file.write_all(&bytes).unwrap();
                offset += bytes.len() as u64;
            }
            file.set_len(object.size).unwrap();
        }
    }

    #[test]
    fn every_pattern_reads_everything_once_and_notices_a_wrong_byte() {
        let contents = Contents::new(BYTES);
        let directory = tempfile::tempdir().unwrap();
        write_files(directory.path(), &contents);
        let until = Instant::now() + Duration::from_secs(600);
        let mounted = Mounted { directory: directory.path(), contents: &contents, until };
        let whole = [Pattern::Sequential, Pattern::Parallel, Pattern::Interleaved, Pattern::Displaced];
        for pattern in whole {
            let tally = pattern.read(mounted, 0).unwrap().tally;
            assert_eq!(tally, Tally { bytes: BYTES, wrong_reads: 0 }, "{}", pattern.name());
        }

        for name in ["one.bin", "big/3.bin"] {
            let file = File::options().read(true).write(true).open(directory.path().join(name)).unwrap();
            let mut byte = [0];
            file.read_exact_at(&mut byte, 777_777).unwrap();
            file.write_all_at(&[!byte[0]], 777_777).unwrap();
        }
        for pattern in whole {
            let tally = pattern.read(mounted, 0).unwrap().tally;
            assert_eq!(tally, Tally { bytes: BYTES, wrong_reads: 1 }, "{}", pattern.name());
        }
        // Nearly all of this file is a hole.
        let tally = Pattern::Random.read(mounted, 50).unwrap().tally;
        assert_eq!(tally.bytes, 50 * 4096);
        assert!(tally.wrong_reads > 40, "{tally:?}");
    }

    #[test]
    fn reading_stops_when_time_is_up_and_when_something_fails() {
        let contents = Contents::new(BYTES);
        let directory = tempfile::tempdir().unwrap();
        let mounted = Mounted { directory: directory.path(), contents: &contents, until: Instant::now() };
        let error = Pattern::Parallel.read(mounted, 0).unwrap_err();
        assert!(error.contains("big/0.bin"), "{error}");
        write_files(directory.path(), &contents);
        assert_eq!(Pattern::Displaced.read(mounted, 0).unwrap().tally, Tally::default());
    }

    #[test]
    fn names_lead_back() {
        for pattern in Pattern::ALL {
            assert_eq!(Pattern::from_name(pattern.name()), Some(pattern));
        }
        assert_eq!(Pattern::from_name("linear"), None);
    }
}
