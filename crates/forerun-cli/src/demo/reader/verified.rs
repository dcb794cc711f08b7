//! Reads whose bytes are checked.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use crate::demo::data::{Contents, Object};

/// Counts of one or several threads' reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) bytes: u64,
    /// Reads that returned wrong bytes.
    pub(crate) wrong_reads: u64,
    /// Reads of a player that had to wait after its first second.
    pub(crate) late_reads: u64,
}

impl std::iter::Sum for Tally {
    fn sum<I: Iterator<Item = Tally>>(tallies: I) -> Tally {
        tallies.fold(Tally::default(), |sum, one| Tally {
            bytes: sum.bytes + one.bytes,
            wrong_reads: sum.wrong_reads + one.wrong_reads,
            late_reads: sum.late_reads + one.late_reads,
        })
    }
}

/// The bucket as mounted on `directory`, to be read until `until`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MountedBucket<'a> {
    pub(crate) directory: &'a Path,
    pub(crate) contents: &'a Contents,
    pub(crate) until: Instant,
}

/// One open file.
pub(super) struct Opened<'a> {
    file: File,
    object: Object,
    name: &'a str,
    mounted: MountedBucket<'a>,
}

impl<'a> MountedBucket<'a> {
    pub(super) fn size_of(self, name: &str) -> Result<u64, String> {
        self.object(name).map(|object| object.size)
    }

    pub(super) fn open(self, name: &'a str) -> Result<Opened<'a>, String> {
        let object = self.object(name)?;
        let file =
            File::open(self.directory.join(name)).map_err(|error| format!("opening {name}: {error}"))?;
        Ok(Opened { file, object, name, mounted: self })
    }

    fn object(self, name: &str) -> Result<Object, String> {
        self.contents.object(name).ok_or_else(|| format!("the demo has no {name}"))
    }
}

impl Opened<'_> {
    /// Reads `len` bytes at each of `offsets`, until the time is over.
    pub(super) fn read_all(
        &self,
        offsets: impl IntoIterator<Item = u64>,
        len: usize,
    ) -> Result<Tally, String> {
        let mut tally = Tally::default();
        let mut buffer = vec![0; len];
        for offset in offsets {
            if Instant::now() >= self.mounted.until {
                break;
            }
            let len = len.min(usize::try_from(self.object.size - offset).unwrap_or(len));
            let bytes = &mut buffer[..len];
            self.file
                .read_exact_at(bytes, offset)
                .map_err(|error| format!("reading {} at {offset}: {error}", self.name))?;
            tally = [tally, self.look_at(offset, bytes)].into_iter().sum();
        }
        Ok(tally)
    }

    /// Checks and counts one read of `bytes`.
    pub(super) fn look_at(&self, offset: u64, bytes: &[u8]) -> Tally {
        let is_wrong = !self.mounted.contents.matches(self.object, offset, bytes);
        Tally { bytes: bytes.len() as u64, wrong_reads: u64::from(is_wrong), late_reads: 0 }
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }
}
