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

    /// Reads, and checks every byte; at most `random_reads` of them if at random.
    ///
    /// # Errors
    /// What failed, at which file and offset.
    pub(crate) fn read(self, mounted: Mounted<'_>, random_reads: usize) -> Result<Reading, String> {
        let start = Instant::now();
        let tally = match self {
            Pattern::Sequential => sequential(mounted, "one.bin"),
            Pattern::Parallel => parallel(mounted),
            Pattern::Interleaved => interleaved(mounted),
            Pattern::Displaced => displaced(mounted),
            Pattern::Random => random(mounted, random_reads),
        }?;
        Ok(Reading { tally, elapsed: start.elapsed() })
    }
}

fn sequential(mounted: Mounted<'_>, name: &str) -> Result<Tally, String> {
    let file = mounted.open(name)?;
    file.read_all(steps(0, file.size(), READ_BYTES), READ_BYTES as usize)
}

fn parallel(mounted: Mounted<'_>) -> Result<Tally, String> {
    on_threads(BIG_FILES, |index| sequential(mounted, &format!("big/{index}.bin")))
}

fn interleaved(mounted: Mounted<'_>) -> Result<Tally, String> {
    let file = mounted.open("one.bin")?;
    let region = file.size() / READERS;
    let in_turns = steps(0, region, READ_BYTES)
        .flat_map(|offset| (0..READERS).map(move |reader| reader * region + offset));
    file.read_all(in_turns, READ_BYTES as usize)
}

fn displaced(mounted: Mounted<'_>) -> Result<Tally, String> {
    let file = mounted.open("one.bin")?;
    let order = order::displaced(file.size() / DISPLACED_READ_BYTES, DISPLACED_PLACES, SEED);
    let next = AtomicUsize::new(0);
    on_threads(READERS as usize, |_| {
        let mine = std::iter::from_fn(|| order.get(next.fetch_add(1, Ordering::Relaxed)));
        file.read_all(mine.map(|index| index * DISPLACED_READ_BYTES), DISPLACED_READ_BYTES as usize)
    })
}

fn random(mounted: Mounted<'_>, reads: usize) -> Result<Tally, String> {
    let file = mounted.open("random.bin")?;
    let order = order::random(reads, file.size() / RANDOM_READ_BYTES, SEED);
    file.read_all(order.into_iter().map(|index| index * RANDOM_READ_BYTES), RANDOM_READ_BYTES as usize)
}

fn steps(from: u64, to: u64, len: u64) -> impl Iterator<Item = u64> {
    (from..to).step_by(len as usize)
}

/// Runs `work` on `threads` threads, each with its number, and adds up.
fn on_threads(threads: usize, work: impl Fn(usize) -> Result<Tally, String> + Sync) -> Result<Tally, String> {
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
