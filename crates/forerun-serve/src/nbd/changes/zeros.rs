//! Zeros in files, as cheap as the file system has them.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::FallocateFlags;
use rustix::io::Errno;

/// Zeros that are written at once where the file system has no other way.
const ZEROS: &[u8] = &[0; 1 << 20];

/// Gives the space of `len` bytes back: they are zeros from then on. False if the file system cannot.
pub(in super::super) fn punch(file: &File, offset: u64, len: u64) -> io::Result<bool> {
    allocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, len)
}

/// Makes `len` bytes zeros that have space. False if the file system cannot.
pub(in super::super) fn zero_in_place(file: &File, offset: u64, len: u64) -> io::Result<bool> {
    allocate(file, FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE, offset, len)
}

/// Gives `len` bytes space, unless the file system cannot. Their content stays.
pub(in super::super) fn reserve(file: &File, offset: u64, len: u64) -> io::Result<()> {
    allocate(file, FallocateFlags::KEEP_SIZE, offset, len).map(|_| ())
}

/// Writes `len` zeros.
pub(in super::super) fn write_zeros(file: &File, offset: u64, len: u64) -> io::Result<()> {
    let (mut at, end) = (offset, offset + len);
    while at < end {
        let count = (end - at).min(ZEROS.len() as u64);
        file.write_all_at(&ZEROS[..count as usize], at)?;
        at += count;
    }
    Ok(())
}

fn allocate(file: &File, mode: FallocateFlags, offset: u64, len: u64) -> io::Result<bool> {
    let done = rustix::io::retry_on_intr(|| rustix::fs::fallocate(file, mode, offset, len));
    match done {
        Ok(()) => Ok(true),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Way = fn(&File, u64, u64) -> io::Result<bool>;

    #[test]
    fn each_way_writes_the_zeros_that_were_asked_for_and_no_others() {
        const LEN: usize = 3 << 20;
        let ways: [Way; 3] =
            [punch, zero_in_place, |file, offset, len| write_zeros(file, offset, len).map(|()| true)];
        for way in ways {
            let file = tempfile::tempfile().unwrap();
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
