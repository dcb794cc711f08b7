//! An object's description.

use std::sync::Arc;
use std::time::SystemTime;

use crate::bounds::VERSION_BYTES_MAX;
use crate::{Error, ErrorKind, Result};

/// The largest size of a file: offsets are signed.
const SIZE_MAX: u64 = i64::MAX as u64;

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes.
    File,
    /// A directory, or a prefix that objects share.
    Directory,
    /// A symbolic link of a local directory.
    Symlink,
}

/// Names one state of an object's bytes: an ETag, a generation, or time and size. Equal versions
/// mean equal bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(pub Arc<str>);

impl Version {
    /// The ETag that the server gave to this version, quotes included, if that stands for equal bytes.
    pub fn etag(&self) -> Option<&str> {
        let text = &*self.0;
        let sized = || text.split_once(' ').and_then(|(_, rest)| rest.strip_prefix("etag "));
        let etag = text.strip_prefix("etag ").or_else(sized)?;
        (etag.len() > 2 && etag.starts_with('"') && etag.ends_with('"')).then_some(etag)
    }
}

/// The description of an object, directory or link.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The full path from the backend's root.
    pub path: String,
    /// Its kind.
    pub kind: Kind,
    /// The size of a file in bytes; the length of a link's target; 0 for a directory.
    pub size: u64,
    /// The time of the last modification, if the backend knows it.
    pub modified: Option<SystemTime>,
    /// The version described. It may be empty for a directory.
    pub version: Version,
    /// Permission bits, if the backend has them.
    pub mode: Option<u32>,
    /// Owner (user, group), if the backend has them.
    pub owner: Option<(u32, u32)>,
}

impl Entry {
    /// A file of `size` bytes, with no other attributes.
    pub fn file(path: impl Into<String>, size: u64, version: Version) -> Entry {
        let path = path.into();
        Entry { path, kind: Kind::File, size, modified: None, version, mode: None, owner: None }
    }

    /// A file as a server describes it, with no other attributes.
    ///
    /// # Errors
    /// [`ErrorKind::Permanent`] for a size that no file can have: programs could not be told of it,
    /// and sums of offsets would overflow. The same for a version that would take too much memory.
    pub(crate) fn described(path: &str, size: u64, version: Version) -> Result<Entry> {
        if size > SIZE_MAX {
            let message = format!(
                "{path:?} cannot be read: the server reports {size} bytes, and a file has at most {SIZE_MAX}"
            );
            return Err(Error::new(ErrorKind::Permanent, message));
        }
        if version.0.len() > VERSION_BYTES_MAX {
            let message = format!(
                "{path:?} cannot be read: the server describes its version (ETag or date) in more than {VERSION_BYTES_MAX} bytes"
            );
            return Err(Error::new(ErrorKind::Permanent, message));
        }
        Ok(Entry::file(path, size, version))
    }

    /// A directory with no other attributes.
    pub fn directory(path: impl Into<String>) -> Entry {
        Entry { kind: Kind::Directory, ..Entry::file(path, 0, Version("".into())) }
    }

    /// The same, last modified then.
    #[must_use]
    pub fn with_modified(self, modified: impl Into<Option<SystemTime>>) -> Entry {
        Entry { modified: modified.into(), ..self }
    }

    /// The same with these permission bits.
    #[must_use]
    pub fn with_mode(self, mode: impl Into<Option<u32>>) -> Entry {
        Entry { mode: mode.into(), ..self }
    }

    /// The same with this owner (user, group).
    #[must_use]
    pub fn with_owner(self, owner: impl Into<Option<(u32, u32)>>) -> Entry {
        Entry { owner: owner.into(), ..self }
    }

    /// The same of another kind, as for a symbolic link.
    #[must_use]
    pub fn with_kind(self, kind: Kind) -> Entry {
        Entry { kind, ..self }
    }

    /// The last component of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or("")
    }
}
