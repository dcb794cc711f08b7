//! The contents of the disk.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// The size of each of the two large files.
pub(super) const BIG_BYTES: u64 = 64 << 20;
/// The size of the file for random reads.
pub(super) const RANDOM_BYTES: u64 = 48 << 20;
/// The number of slow readers' files.
pub(super) const SLOW_COUNT: u64 = 400;
/// The size of a slow reader's file.
pub(super) const SLOW_BYTES: u64 = 256 << 10;
/// The number of files of each of the two trees.
pub(super) const TREE_FILE_COUNT: u64 = 1000;
/// The size of a file system that holds all of this.
pub(super) const DISK_BYTES: u64 = 1 << 30;

const TREE_DIRECTORY_FILES: u64 = 25;

/// The size of file `index` of a tree: 4 to 44 KiB.
pub(super) fn tree_file_bytes(index: u64) -> u64 {
    4096 + index.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (40 << 10)
}

/// Fills the empty file system at `root`.
pub(super) fn fill(root: &Path) -> io::Result<()> {
    write(&root.join("big.1"), BIG_BYTES, 1)?;
    write(&root.join("big.2"), BIG_BYTES, 1)?;
    write(&root.join("random"), RANDOM_BYTES, 2)?;
    for tree in ["lib.1", "lib.2"] {
        for index in 0..TREE_FILE_COUNT {
            let directory = root.join(tree).join(format!("{:02}", index / TREE_DIRECTORY_FILES));
            fs::create_dir_all(&directory)?;
            write(&directory.join(format!("{index}.txt")), tree_file_bytes(index), index)?;
        }
    }
    let slow = root.join("slow");
    fs::create_dir(&slow)?;
    (0..SLOW_COUNT).try_for_each(|index| write(&slow.join(format!("{index:03}")), SLOW_BYTES, index))
}

/// Lines of text, different for each `seed`, in which `grep` finds nothing.
fn write(path: &Path, len: u64, seed: u64) -> io::Result<()> {
    let mut file = io::BufWriter::new(File::create(path)?);
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for at in (0..len).step_by(64) {
        let mut line = [b'\n'; 64];
        for place in line[..63].chunks_mut(9) {
            state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            place
                .iter_mut()
                .enumerate()
                .for_each(|(n, byte)| *byte = b'a' + (state >> (20 + 4 * n)) as u8 % 16);
        }
        file.write_all(&line[..(len - at).min(64) as usize])?;
    }
    file.flush()
}
