//! Attributes of an entry, as NFS tells them.

use std::time::{SystemTime, UNIX_EPOCH};

use forerun::{Entry, Kind};
use nfs3_types::nfs3::{fattr3, ftype3, nfstime3, specdata3};

use super::handles::{ExportId, digest};
use crate::served::Defaults;

/// The attributes of `entry` in `export`.
pub(super) fn attributes(export: ExportId, entry: &Entry, defaults: &Defaults) -> fattr3 {
    let shown = defaults.shown(entry);
    let modified = match (entry.kind, entry.modified) {
        // Clients keep names until a directory has another time. Where the storage has none, they are to ask again.
        (Kind::Directory, None) => SystemTime::now(),
        _ => shown.modified,
    };
    let time = time_of(entry, modified);
    fattr3 {
        type_: match entry.kind {
            Kind::File => ftype3::NF3REG,
            Kind::Directory => ftype3::NF3DIR,
            Kind::Symlink => ftype3::NF3LNK,
        },
        mode: shown.permissions,
        nlink: 1,
        uid: shown.owner.0,
        gid: shown.owner.1,
        size: entry.size,
        used: entry.size,
        rdev: specdata3::default(),
        fsid: u64::from_be_bytes(export.0),
        fileid: file_id(export, entry),
        atime: time,
        mtime: time,
        ctime: time,
    }
}

/// The number of the object, which is that of its version and the same after a restart.
pub(super) fn file_id(export: ExportId, entry: &Entry) -> u64 {
    let (kind, version): (&[u8], &[u8]) = match entry.kind {
        Kind::Directory => (b"directory", b""),
        Kind::File => (b"file", entry.version.0.as_bytes()),
        Kind::Symlink => (b"link", entry.version.0.as_bytes()),
    };
    // Programs take 0 for no file.
    u64::from_be_bytes(digest(&[&export.0, kind, entry.path.as_bytes(), version])).max(1)
}

/// A time before 1970 has no place in the protocol.
fn time_of(entry: &Entry, modified: SystemTime) -> nfstime3 {
    let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    // A directory that is listed for a while does not change all the time.
    let has_nanoseconds = entry.modified.is_some();
    nfstime3 {
        seconds: u32::try_from(since.as_secs()).unwrap_or(u32::MAX),
        nseconds: if has_nanoseconds { since.subsec_nanos() } else { 0 },
    }
}

#[cfg(test)]
mod tests {
    use forerun::Version;

    use super::*;

    #[test]
    fn a_number_is_that_of_one_version_in_one_export() {
        let file = |path: &str, version: &str| Entry::file(path, 5, Version(version.into()));
        let [data, other] = ["data", "other"].map(ExportId::of);
        let number = file_id(data, &file("a", "1"));
        assert_eq!(number, file_id(data, &file("a", "1")));
        for different in [
            file_id(data, &file("a", "2")),
            file_id(data, &file("b", "1")),
            file_id(other, &file("a", "1")),
            file_id(data, &Entry::directory("a")),
        ] {
            assert_ne!(number, different);
        }
    }
}
