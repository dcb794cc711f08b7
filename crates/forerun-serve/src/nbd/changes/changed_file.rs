//! A file that takes writes. Zeros are as cheap as the file system has them.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::unix::fs::FileExt;

use rustix::fs::FallocateFlags;
use rustix::io::Errno;

/// Zeros that are written at once where the file system has no other way.
const ZEROS: &[u8] = &[0; 1 << 20];

/// The file. All that changes it goes through here, so tests know in which order.
#[derive(Debug)]
pub(in super::super) struct ChangedFile {
    file: File,
    #[cfg(test)]
    pub(in super::super) steps: parking_lot::Mutex<Vec<FileStep>>,
}

/// A step that a file has taken, for tests of a power failure.
#[cfg(test)]
#[derive(Clone, Debug)]
pub(in super::super) enum FileStep {
    Write {
        offset: u64,
        bytes: Vec<u8>,
    },
    /// The bytes are zeros from then on.
    Zero {
        offset: u64,
        len: u64,
    },
    SyncBegins,
    SyncEnds,
}

impl ChangedFile {
    pub(in super::super) fn new(file: File) -> ChangedFile {
        ChangedFile {
            file,
            #[cfg(test)]
            steps: parking_lot::Mutex::default(),
        }
    }

    /// Writes `bytes`.
    pub(in super::super) fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)?;
        #[cfg(test)]
        self.steps.lock().push(FileStep::Write { offset, bytes: bytes.to_vec() });
        Ok(())
    }

    /// Waits until all bytes that were written are on the disk.
    pub(in super::super) fn sync_data(&self) -> io::Result<()> {
        #[cfg(test)]
        self.steps.lock().push(FileStep::SyncBegins);
        self.file.sync_data()?;
        #[cfg(test)]
        self.steps.lock().push(FileStep::SyncEnds);
        Ok(())
    }

    /// Gives the space of `len` bytes back: they are zeros from then on. False if the file system cannot.
    pub(in super::super) fn punch(&self, offset: u64, len: u64) -> io::Result<bool> {
        self.zero(FallocateFlags::PUNCH_HOLE, offset, len)
    }

    /// Makes `len` bytes zeros that have space. False if the file system cannot.
    pub(in super::super) fn zero_in_place(&self, offset: u64, len: u64) -> io::Result<bool> {
        self.zero(FallocateFlags::ZERO_RANGE, offset, len)
    }

    /// Gives `len` bytes space, unless the file system cannot. Their content stays.
    pub(in super::super) fn reserve(&self, offset: u64, len: u64) -> io::Result<()> {
        self.allocate(FallocateFlags::empty(), offset, len).map(|_| ())
    }

    /// Writes `len` zeros.
    pub(in super::super) fn write_zeros(&self, offset: u64, len: u64) -> io::Result<()> {
        let (mut at, end) = (offset, offset + len);
        while at < end {
            let count = (end - at).min(ZEROS.len() as u64);
            self.write_all_at(&ZEROS[..count as usize], at)?;
            at += count;
        }
        Ok(())
    }

    fn zero(&self, mode: FallocateFlags, offset: u64, len: u64) -> io::Result<bool> {
        let is_done = self.allocate(mode, offset, len)?;
        #[cfg(test)]
        if is_done {
            self.steps.lock().push(FileStep::Zero { offset, len });
        }
        Ok(is_done)
    }

    fn allocate(&self, mode: FallocateFlags, offset: u64, len: u64) -> io::Result<bool> {
        let mode = mode | FallocateFlags::KEEP_SIZE;
        match rustix::io::retry_on_intr(|| rustix::fs::fallocate(&self.file, mode, offset, len)) {
            Ok(()) => Ok(true),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// For reads.
impl Deref for ChangedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Way = fn(&ChangedFile, u64, u64) -> io::Result<bool>;

    #[test]
    fn each_way_writes_the_zeros_that_were_asked_for_and_no_others() {
        const LEN: usize = 3 << 20;
        let ways: [Way; 3] = [ChangedFile::punch, ChangedFile::zero_in_place, |file, offset, len| {
            file.write_zeros(offset, len).map(|()| true)
        }];
        for way in ways {
            let file = ChangedFile::new(tempfile::tempfile().unwrap());
            file.write_all_at(&vec![7; LEN], 0).unwrap();
            let (offset, len) = (5000, (2 << 20) + 1);
            let mut expected = vec![7; LEN];
            if way(&file, offset, len).unwrap() {
                expected[offset as usize..][..len as usize].fill(0);
            }
            let mut bytes = vec![1; LEN];
            file.read_exact_at(&mut bytes, 0).unwrap();
            assert!(bytes == expected);
        }
    }
}
