//! Attributes of an entry, as `stat` shows them.

use std::time::SystemTime;

use forerun::{Entry, Kind};
use rustix::fs::FileType;

/// The attributes that a backend may not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) modified: SystemTime,
    /// The bits of a mode without the type.
    pub(crate) permissions: u32,
    /// User and group.
    pub(crate) owner: (u32, u32),
}

/// Values for attributes that a backend does not know: object stores have no owners, permissions or
/// directory times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Defaults {
    /// User and group of the process that mounted or serves.
    pub(crate) owner: (u32, u32),
    /// When it began: files from 1970 would look like something to delete.
    pub(crate) time: SystemTime,
}

impl Defaults {
    /// Those of a server that begins now, as the user of this process.
    pub(crate) fn now() -> Defaults {
        let owner = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        Defaults { owner, time: SystemTime::now() }
    }

    /// The attributes of `entry`.
    pub(crate) fn shown(&self, entry: &Entry) -> Shown {
        Shown {
            modified: entry.modified.unwrap_or(self.time),
            permissions: entry.mode.unwrap_or(default_mode(entry.kind)) & 0o7777,
            owner: entry.owner.unwrap_or(self.owner),
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
        let shown = defaults().shown(&entry(Kind::File, 513));
        assert_eq!((shown.permissions, shown.owner), (0o444, (7, 8)));
        assert_eq!(shown.modified, UNIX_EPOCH + Duration::from_secs(9));
        assert_eq!(defaults().shown(&entry(Kind::Directory, 0)).permissions, 0o555);
    }

    #[test]
    fn attributes_of_the_backend_are_shown() {
        let known = entry(Kind::File, 0).with_modified(UNIX_EPOCH).with_mode(0o100640).with_owner((1, 2));
        let shown = defaults().shown(&known);
        assert_eq!((shown.permissions, shown.owner, shown.modified), (0o640, (1, 2), UNIX_EPOCH));
    }
}
