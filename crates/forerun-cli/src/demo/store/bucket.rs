//! The objects of the store: the demo's own, or the files below a directory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Bound;
use std::path::Path;

use bytes::Bytes;
use memmap2::Mmap;

use crate::demo::data::Contents;

/// The one bucket.
pub(crate) const BUCKET: &str = "demo";

/// The objects of a store, by key.
#[derive(Debug)]
pub(crate) enum Bucket {
    /// Objects that are computed.
    Generated(Contents),
    /// Files, mapped. Nothing may change them while the store runs.
    Files(BTreeMap<String, Bytes>),
}

impl Bucket {
    /// All files below `directory`. A file's key is its path from there.
    ///
    /// # Errors
    /// A directory or file cannot be read, or has a name that is not UTF-8.
    pub(crate) fn of_directory(directory: &Path) -> io::Result<Bucket> {
        let mut files = BTreeMap::new();
        add_files(directory, "", &mut files)?;
        Ok(Bucket::Files(files))
    }

    /// The size of the object named `key`.
    pub(super) fn size(&self, key: &str) -> Option<u64> {
        match self {
            Bucket::Generated(contents) => contents.object(key).map(|object| object.size),
            Bucket::Files(files) => files.get(key).map(|bytes| bytes.len() as u64),
        }
    }

    /// Every object whose key is greater than `after`, in order, with its size.
    pub(super) fn sizes_after<'a>(&'a self, after: &'a str) -> Box<dyn Iterator<Item = (&'a str, u64)> + 'a> {
        match self {
            Bucket::Generated(contents) => {
                Box::new(contents.objects_after(after).map(|(key, object)| (key, object.size)))
            }
            Bucket::Files(files) => {
                let range = (Bound::Excluded(after), Bound::Unbounded);
                Box::new(files.range::<str, _>(range).map(|(key, bytes)| (key.as_str(), bytes.len() as u64)))
            }
        }
    }

    /// At most `len` bytes of the object named `key`, from `offset` on. At least one, unless `len`
    /// is 0 or the object ends before.
    pub(super) fn bytes_at(&self, key: &str, offset: u64, len: u64) -> Bytes {
        match self {
            Bucket::Generated(contents) => {
                contents.object(key).map(|object| contents.bytes_at(object, offset, len)).unwrap_or_default()
            }
            Bucket::Files(files) => {
                let Some(bytes) = files.get(key) else { return Bytes::new() };
                let from = offset.min(bytes.len() as u64);
                let to = offset.saturating_add(len).min(bytes.len() as u64);
                bytes.slice(from as usize..to as usize)
            }
        }
    }
}

/// Adds the files of `directory`, whose keys begin with `prefix`.
fn add_files(directory: &Path, prefix: &str, files: &mut BTreeMap<String, Bytes>) -> io::Result<()> {
    let failed = |error: io::Error| io::Error::other(format!("{}: {error}", directory.display()));
    for entry in directory.read_dir().map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        let name = entry.file_name().into_string().map_err(|_| {
            io::Error::other(format!("{} has a name that is not UTF-8: rename it", path.display()))
        })?;
        let key = format!("{prefix}{name}");
        if path.is_dir() {
            add_files(&path, &format!("{key}/"), files)?;
        } else {
            let mapped = File::open(&path).and_then(|file| {
                // SAFETY: the store's files are not changed while it serves them.
                unsafe { Mmap::map(&file) }
            });
            let mapped =
                mapped.map_err(|error| io::Error::other(format!("mapping {}: {error}", path.display())))?;
            files.insert(key, Bytes::from_owner(mapped));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serves_the_files_below_a_directory_by_their_paths() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("a/b")).unwrap();
        for (name, text) in [("a/b/long", "0123456789"), ("a/empty", ""), ("z", "z")] {
            std::fs::write(directory.path().join(name), text).unwrap();
        }
        let bucket = Bucket::of_directory(directory.path()).unwrap();
        let keys: Vec<_> = bucket.sizes_after("").collect();
        assert_eq!(keys, [("a/b/long", 10), ("a/empty", 0), ("z", 1)]);
        assert_eq!(bucket.sizes_after("a/b/long").count(), 2);
        assert_eq!(bucket.size("a/b/long"), Some(10));
        assert_eq!(bucket.size("a/b"), None);
        assert_eq!(bucket.bytes_at("a/b/long", 2, 3), "234");
        assert_eq!(bucket.bytes_at("a/b/long", 8, 100), "89");
        assert_eq!(bucket.bytes_at("a/b/long", 10, 1), "");
        assert_eq!(bucket.bytes_at("absent", 0, 1), "");
    }

    #[test]
    fn tells_which_directory_cannot_be_read() {
        let error = Bucket::of_directory(Path::new("/absent/data")).unwrap_err();
        assert!(error.to_string().contains("/absent/data"), "{error}");
    }
}
