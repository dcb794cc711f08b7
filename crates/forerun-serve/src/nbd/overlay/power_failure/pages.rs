//! The bytes on a disk.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::super::super::changes::FileStep;
use super::super::layout::{BLOCK_BYTES, Layout};

/// A disk writes a sector as a whole or not. Blocks of data are written as a whole, as docs/nbd.md says.
const SECTOR_BYTES: u64 = 512;

/// The pages of a file that were ever written.
#[derive(Clone)]
pub(super) struct Pages {
    layout: Layout,
    pages: BTreeMap<u64, Vec<u8>>,
}

impl Pages {
    /// Of an overlay without writes, which has `head`.
    pub(super) fn new(layout: Layout, head: Vec<u8>) -> Pages {
        Pages { layout, pages: BTreeMap::from([(0, head)]) }
    }

    /// Takes the parts of `step` that `is_kept` chooses.
    pub(super) fn take(&mut self, step: &FileStep, mut is_kept: impl FnMut() -> bool) {
        let (offset, bytes) = match step {
            FileStep::Write { offset, bytes } => (*offset, bytes.clone()),
            FileStep::Zero { offset, len } => (*offset, vec![0; *len as usize]),
            FileStep::SyncBegins | FileStep::SyncEnds => return,
        };
        let part_bytes = if offset < self.layout.data_offset(0) { SECTOR_BYTES } else { BLOCK_BYTES };
        let (mut at, end) = (offset, offset + bytes.len() as u64);
        while at < end {
            let next = ((at / part_bytes + 1) * part_bytes).min(end);
            if is_kept() {
                self.put(at, &bytes[(at - offset) as usize..(next - offset) as usize]);
            }
            at = next;
        }
    }

    /// Makes the file `path` of them.
    pub(super) fn save(&self, path: &Path) {
        let file = File::create(path).unwrap();
        file.set_len(self.layout.file_bytes()).unwrap();
        self.pages.iter().for_each(|(page, bytes)| file.write_all_at(bytes, page * BLOCK_BYTES).unwrap());
    }

    /// Writes `bytes`, which lie in one page.
    fn put(&mut self, offset: u64, bytes: &[u8]) {
        let page = self.pages.entry(offset / BLOCK_BYTES).or_insert_with(|| vec![0; BLOCK_BYTES as usize]);
        page[(offset % BLOCK_BYTES) as usize..][..bytes.len()].copy_from_slice(bytes);
    }
}
