//! The paths of handles that have no room for them.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use forerun::{ErrorKind, Kind, Result};
use parking_lot::Mutex;

use super::HashedPath;
use crate::served::Bucket;

/// Bytes of paths that are kept, in each of two halves. Older ones are found again.
const KEPT_BYTES_MAX: usize = 2 << 20;
/// Bytes that a path takes besides its own.
const PATH_BYTES: usize = 64;
/// Directories that are listed to find one path. Hashes hardly ever lead astray.
const LISTS_MAX: usize = 256;

/// Long paths by their hash: the later and the earlier half.
#[derive(Debug, Default)]
pub(in super::super) struct LongPaths {
    halves: Mutex<Halves>,
}

#[derive(Debug, Default)]
struct Halves {
    late: HashMap<[u8; 16], Arc<str>>,
    late_bytes: usize,
    early: HashMap<[u8; 16], Arc<str>>,
}

impl LongPaths {
    /// Keeps `path`, of which a handle goes to a client.
    pub(in super::super) fn remember(&self, hashed: &HashedPath, path: &str) {
        self.halves.lock().put(hashed.whole, path.into());
    }

    /// The path of `hashed` in `bucket`; none if there is none.
    ///
    /// # Errors
    /// Errors of the storage.
    pub(in super::super) async fn find(
        &self,
        bucket: &Bucket,
        hashed: &HashedPath,
    ) -> Result<Option<Arc<str>>> {
        if let Some(path) = self.halves.lock().get(hashed.whole) {
            return Ok(Some(path));
        }
        let found = search(bucket, hashed).await?;
        if let Some(path) = &found {
            self.halves.lock().put(hashed.whole, path.clone());
        }
        Ok(found)
    }
}

impl Halves {
    fn get(&mut self, hash: [u8; 16]) -> Option<Arc<str>> {
        if let Some(path) = self.late.get(&hash) {
            return Some(path.clone());
        }
        let path = self.early.remove(&hash)?;
        self.put(hash, path.clone());
        Some(path)
    }

    fn put(&mut self, hash: [u8; 16], path: Arc<str>) {
        if self.late_bytes > KEPT_BYTES_MAX {
            self.early = mem::take(&mut self.late);
            self.late_bytes = 0;
        }
        let bytes = path.len() + PATH_BYTES;
        if self.late.insert(hash, path).is_none() {
            self.late_bytes += bytes;
        }
    }
}

/// Goes down from the top, into all directories whose names have the hashes. As a rule that is one of each depth.
async fn search(bucket: &Bucket, hashed: &HashedPath) -> Result<Option<Arc<str>>> {
    let (mut left, mut list_count) = (vec![(String::new(), 0)], 0);
    while let Some((directory, depth)) = left.pop() {
        list_count += 1;
        if list_count > LISTS_MAX {
            return Ok(None);
        }
        let entries = match bucket.entries(&directory).await {
            // It was removed meanwhile.
            Err(error) if error.kind == ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries.iter().filter(|entry| hashed.may_be(depth, entry.name())) {
            if depth + 1 < hashed.depth {
                if entry.kind == Kind::Directory {
                    left.push((entry.path.clone(), depth + 1));
                }
            } else if HashedPath::whole(&entry.path) == hashed.whole {
                return Ok(Some(entry.path.as_str().into()));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_are_used_stay_and_all_are_bounded() {
        let mut halves = Halves::default();
        let hash = |number: u32| HashedPath::whole(&number.to_string());
        for number in 0..200_000 {
            halves.put(hash(number), "x".repeat(50).into());
            assert!(halves.get(hash(0)).is_some());
        }
        assert!(halves.get(hash(1)).is_none() && halves.get(hash(199_999)).is_some());
        let count_max = 2 * (KEPT_BYTES_MAX / (50 + PATH_BYTES) + 2);
        assert!(halves.late.len() + halves.early.len() <= count_max);
    }
}
