//! Directory entries, up to the room that the kernel offers.

use std::time::Duration;

use super::payload::{Attributes, put, put_entry, put_u32};

/// The answer to a Readdir or a Readdirplus.
#[derive(Debug)]
pub struct Directory {
    bytes: Vec<u8>,
    room: usize,
}

/// Bytes before a name, and before the entry of a Readdirplus.
const HEAD_BYTES: usize = 24;
const ENTRY_BYTES: usize = 128;

impl Directory {
    /// An empty answer with room for `room` bytes.
    pub fn new(room: u32) -> Directory {
        Directory { bytes: Vec::with_capacity(room as usize), room: room as usize }
    }

    /// Adds the entry `name`, after which a listing continues at `next_offset`. `mode` has its
    /// type. Returns false, and leaves the entry out, if it has no room.
    #[must_use]
    pub fn add(&mut self, inode: u64, next_offset: u64, mode: u32, name: &str) -> bool {
        let has_room = self.has_room(HEAD_BYTES, name);
        if has_room {
            self.put(inode, next_offset, mode, name);
        }
        has_room
    }

    /// As [`Directory::add`], with attributes that stay valid for `ttl`. Counts as a lookup.
    #[must_use]
    pub fn add_with_attributes(
        &mut self,
        attributes: &Attributes,
        ttl: Duration,
        next_offset: u64,
        name: &str,
    ) -> bool {
        let has_room = self.has_room(ENTRY_BYTES + HEAD_BYTES, name);
        if has_room {
            put_entry(&mut self.bytes, attributes, ttl);
            self.put(attributes.inode, next_offset, attributes.mode, name);
        }
        has_room
    }

    /// The entries that had room.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn has_room(&self, head_bytes: usize, name: &str) -> bool {
        self.bytes.len() + (head_bytes + name.len()).next_multiple_of(8) <= self.room
    }

    fn put(&mut self, inode: u64, next_offset: u64, mode: u32, name: &str) {
        put(&mut self.bytes, [inode, next_offset]);
        // Its length fits, since the entry has room.
        put_u32(&mut self.bytes, [name.len() as u32, (mode & 0o170000) >> 12]);
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn entries_are_aligned_and_end_where_there_is_no_room() {
        let mut directory = Directory::new(64);
        assert!(directory.add(5, 1, 0o100000, "a"));
        assert!(directory.add(6, 2, 0o040000, "12345678"));
        assert!(!directory.add(7, 3, 0o100000, "c"));
        let bytes = directory.into_bytes();
        assert_eq!(bytes.len(), 64);
        assert_eq!((bytes[20], bytes[24], bytes[25]), (8, b'a', 0), "a file, its name and padding");
        assert_eq!((bytes[32], bytes[52]), (6, 4), "a directory");
    }

    #[test]
    fn attributes_come_before_their_entry() {
        let attributes = Attributes {
            inode: 5,
            size: 0,
            modified: UNIX_EPOCH,
            mode: 0o100600,
            owner: (0, 0),
            block_bytes: 0,
        };
        let mut directory = Directory::new(160);
        assert!(directory.add_with_attributes(&attributes, Duration::ZERO, 1, "a"));
        assert!(!directory.add_with_attributes(&attributes, Duration::ZERO, 2, "b"));
        let bytes = directory.into_bytes();
        assert_eq!((bytes.len(), bytes[0], bytes[128], bytes[152]), (160, 5, 5, b'a'));
    }
}
