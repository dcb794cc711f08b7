//! The bytes of the files, computed from file and offset: a thousand large files take no space.

use crate::demo::data::next_random;

const PAGE_BYTES: u64 = 4096;
/// Pages of one file at most, so that no two pages of all files begin alike.
const PAGES_SHIFT: u32 = 32;

/// The `len` bytes of `file` from `offset` on.
pub(super) fn bytes_of(file: u64, offset: u64, len: usize) -> Vec<u8> {
    let skipped = (offset % PAGE_BYTES) as usize;
    let mut bytes = Vec::with_capacity(skipped + len + PAGE_BYTES as usize);
    let mut page = offset / PAGE_BYTES;
    while bytes.len() < skipped + len {
        let mut state = file << PAGES_SHIFT | page;
        for _ in 0..PAGE_BYTES / 8 {
            bytes.extend_from_slice(&next_random(&mut state).to_le_bytes());
        }
        page += 1;
    }
    bytes.truncate(skipped + len);
    bytes.drain(..skipped);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_depend_on_file_and_offset_alone() {
        let whole = bytes_of(7, 0, 20_000);
        assert_eq!(bytes_of(7, 5000, 9000), whole[5000..14_000]);
        assert!(bytes_of(7, 8192, 0).is_empty());
        assert_ne!(bytes_of(8, 0, 20_000)[..4096], whole[..4096]);
        assert_ne!(whole[..4096], whole[4096..8192]);
    }
}
