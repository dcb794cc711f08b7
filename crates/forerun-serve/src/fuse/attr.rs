//! Attributes of an entry, as `stat` shows them.

use std::time::SystemTime;

use forerun::{Entry, Kind};
use rustix::fs::FileType;

use super::protocol::Attributes;

/// Values for attributes that a backend does not know: object stores have no owners, permissions or
/// directory times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Defaults {
    /// User and group of the process that mounted.
    pub(crate) owner: (u32, u32),
    /// The time of the mount: files from 1970 would look like something to delete.
    pub(crate) time: SystemTime,
}

impl Defaults {
    /// The attributes of `entry` as inode `ino`.
    pub(crate) fn attributes(&self, ino: u64, entry: &Entry) -> Attributes {
        let time = entry.modified.unwrap_or(self.time);
        Attributes {
            inode: ino,
            size: entry.size,
            modified: time,
            mode: file_type(entry.kind) | entry.mode.unwrap_or(default_mode(entry.kind)) & 0o7777,
            owner: entry.owner.unwrap_or(self.owner),
            // `cat` and `cp` read this many bytes at a time: fewer, larger requests.
            block_bytes: 128 << 10,
        }
    }
}

/// The bits of a mode that encode `kind`.
pub(crate) fn file_type(kind: Kind) -> u32 {
    match kind {
        Kind::File => FileType::RegularFile,
        Kind::Directory => FileType::Directory,
        Kind::Symlink => FileType::Symlink,
    }
    .as_raw_mode()
}

fn default_mode(kind: Kind) -> u32 {
    match kind {
        Kind::File => 0o444,
        Kind::Directory => 0o555,
        Kind::Symlink => 0o777,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use forerun::Version;

    use super::*;

    fn entry(kind: Kind, size: u64) -> Entry {
        Entry::file("a", size, Version("1".into())).with_kind(kind)
    }

    fn defaults() -> Defaults {
        Defaults { owner: (7, 8), time: UNIX_EPOCH + Duration::from_secs(9) }
    }

    #[test]
    fn unknown_attributes_are_those_of_the_mount() {
        let attr = defaults().attributes(5, &entry(Kind::File, 513));
        assert_eq!((attr.inode, attr.size), (5, 513));
        assert_eq!((attr.mode, attr.owner), (0o100444, (7, 8)));
        assert_eq!(attr.modified, UNIX_EPOCH + Duration::from_secs(9));
        assert_eq!(defaults().attributes(5, &entry(Kind::Directory, 0)).mode, 0o040555);
    }

    #[test]
    fn attributes_of_the_backend_are_shown() {
        let known = entry(Kind::File, 0).with_modified(UNIX_EPOCH).with_mode(0o100640).with_owner((1, 2));
        let attr = defaults().attributes(5, &known);
        assert_eq!((attr.mode, attr.owner, attr.modified), (0o100640, (1, 2), UNIX_EPOCH));
    }
}
