//! The programs that read from the mount, most of them by plain `pread`.

mod mapped;
mod order;
mod paced;
mod pattern;
mod reads;
mod verified;
mod walk;

use std::time::{Duration, Instant};

pub(crate) use self::order::random;
pub(crate) use self::paced::play_steadily;
pub(crate) use self::pattern::Pattern;
pub(crate) use self::reads::{in_turns, steps};
pub(crate) use self::verified::{MountedBucket, Tally};

/// The result of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) tally: Tally,
    pub(crate) elapsed: Duration,
}

impl Pattern {
    /// Reads, and checks every byte. Makes at most `random_reads` random reads.
    ///
    /// # Errors
    /// The failure, with its file and offset.
    pub(crate) fn read(self, mounted: MountedBucket<'_>, random_reads: usize) -> Result<Reading, String> {
        let lists = self.lists(|file| mounted.size_of(file), random_reads)?;
        let start = Instant::now();
        let tally = match self {
            Pattern::Walked => walk::walk(mounted)?,
            Pattern::Opened => lists.iter().map(|list| list.read(mounted)).sum::<Result<_, _>>()?,
            Pattern::Paced => paced::play(&lists, mounted)?,
            Pattern::Mapped | Pattern::MappedAdvised => {
                let is_advised = self == Pattern::MappedAdvised;
                lists.iter().map(|list| mapped::touch(list, is_advised, mounted)).sum::<Result<_, _>>()?
            }
            _ => on_threads(lists.len(), |index| lists[index].read(mounted))?,
        };
        Ok(Reading { tally, elapsed: start.elapsed() })
    }
}

/// Runs `work` on `threads` threads, each with its number, and sums up. The calling thread is one
/// of them.
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
        for (key, object) in contents.objects_after("") {
            if key.starts_with("many/") || key.starts_with("tree/1") {
                continue;
            }
            let path = directory.join(key);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let mut file = File::create(path).unwrap();
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
        let mounted = MountedBucket { directory: directory.path(), contents: &contents, until };
        let whole = [
            Pattern::Sequential,
            Pattern::Parallel,
            Pattern::Interleaved,
            Pattern::Displaced,
            Pattern::Backward,
            Pattern::InterleavedMany,
        ];
        let right = Tally { bytes: BYTES, ..Tally::default() };
        for pattern in whole {
            let tally = pattern.read(mounted, 0).unwrap().tally;
            assert_eq!(tally, right, "{}", pattern.name());
        }

        for name in ["one.bin", "big/3.bin"] {
            let file = File::options().read(true).write(true).open(directory.path().join(name)).unwrap();
            let mut byte = [0];
            file.read_exact_at(&mut byte, 777_777).unwrap();
            file.write_all_at(&[!byte[0]], 777_777).unwrap();
        }
        for pattern in whole {
            let tally = pattern.read(mounted, 0).unwrap().tally;
            assert_eq!(tally, Tally { wrong_reads: 1, ..right }, "{}", pattern.name());
        }
        // Nearly all of this file is a hole.
        for pattern in [Pattern::Random, Pattern::Mapped, Pattern::MappedAdvised] {
            let tally = pattern.read(mounted, 50).unwrap().tally;
            assert_eq!(tally.bytes, 50 * 4096);
            assert!(tally.wrong_reads > 40, "{tally:?}");
        }
    }

    #[test]
    fn a_walk_reads_every_file() {
        let contents = Contents::new(BYTES);
        let directory = tempfile::tempdir().unwrap();
        write_files(directory.path(), &contents);
        let until = Instant::now() + Duration::from_secs(600);
        let mounted = MountedBucket { directory: directory.path(), contents: &contents, until };
        let tree = contents.objects_after("tree/0").take_while(|(key, _)| key.starts_with("tree/0"));
        let bytes = tree.map(|(_, object)| object.size).sum();
        let tally = Pattern::Walked.read(mounted, 0).unwrap().tally;
        assert_eq!(tally, Tally { bytes, ..Tally::default() });
    }

    #[test]
    fn reading_stops_when_time_is_up_and_when_something_fails() {
        let contents = Contents::new(BYTES);
        let directory = tempfile::tempdir().unwrap();
        let mounted =
            MountedBucket { directory: directory.path(), contents: &contents, until: Instant::now() };
        let error = Pattern::Parallel.read(mounted, 0).unwrap_err();
        assert!(error.contains("big/0.bin"), "{error}");
        write_files(directory.path(), &contents);
        assert_eq!(Pattern::Displaced.read(mounted, 0).unwrap().tally, Tally::default());
    }
}
