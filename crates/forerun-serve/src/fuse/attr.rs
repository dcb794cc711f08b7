//! What `stat` shows of an entry.

use std::time::SystemTime;

use forerun::{Entry, Kind};
use fuser::{FileAttr, FileType, INodeNo};

/// What is shown where a backend does not know: object stores have no owners,
/// permissions or directory times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Defaults {
    /// User and group that mounted.
    pub(crate) owner: (u32, u32),
    /// When it was mounted. Unlike 1970 it does not look like something to delete.
    pub(crate) time: SystemTime,
}

impl Defaults {
    /// The attributes of `entry` as inode `ino`.
    pub(crate) fn attributes(&self, ino: u64, entry: &Entry) -> FileAttr {
        let time = entry.modified.unwrap_or(self.time);
        let (uid, gid) = entry.owner.unwrap_or(self.owner);
        FileAttr {
            ino: INodeNo(ino),
            size: entry.size,
            blocks: entry.size.div_ceil(512),
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind: file_type(entry.kind),
            perm: (entry.mode.unwrap_or(default_mode(entry.kind)) & 0o7777) as u16,
            // Directories too: 2 would promise `find` that there are no
            // directories below, 1 promises nothing.
            nlink: 1,
            uid,
            gid,
            rdev: 0,
            // What `cat` and `cp` read at a time: fewer, larger requests.
            blksize: 128 << 10,
            flags: 0,
        }
    }
}

/// The kernel's word for `kind`.
pub(crate) fn file_type(kind: Kind) -> FileType {
    match kind {
        Kind::File => FileType::RegularFile,
        Kind::Directory => FileType::Directory,
        Kind::Symlink => FileType::Symlink,
    }
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
        Entry { kind, ..Entry::file("a", size, Version("1".into())) }
    }

    fn defaults() -> Defaults {
        Defaults { owner: (7, 8), time: UNIX_EPOCH + Duration::from_secs(9) }
    }

    #[test]
    fn what_the_backend_does_not_know_is_the_mounts() {
        let attr = defaults().attributes(5, &entry(Kind::File, 513));
        assert_eq!((attr.ino.0, attr.size, attr.blocks), (5, 513, 2));
        assert_eq!((attr.perm, attr.uid, attr.gid), (0o444, 7, 8));
        assert_eq!(attr.mtime, UNIX_EPOCH + Duration::from_secs(9));
        assert_eq!(defaults().attributes(5, &entry(Kind::Directory, 0)).perm, 0o555);
    }

    #[test]
    fn what_the_backend_knows_is_shown() {
        let known = Entry {
            modified: Some(UNIX_EPOCH),
            mode: Some(0o100640),
            owner: Some((1, 2)),
            ..entry(Kind::File, 0)
        };
        let attr = defaults().attributes(5, &known);
        assert_eq!((attr.perm, attr.uid, attr.gid, attr.mtime), (0o640, 1, 2, UNIX_EPOCH));
        assert_eq!(attr.blocks, 0);
    }
}
