//! The buckets of a server. Each has the objects of one URL.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forerun::{Entry, Error, ErrorKind, Forerun, Kind, Reader, Result};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::body::PIECE_BYTES_MAX;

/// This part of an engine's memory may be lent to clients at once. Fetches and readahead need the rest.
const LENT_PART: u64 = 4;
/// Objects that stay open between requests, so that what their readers do is not forgotten.
const KEPT_MAX: usize = 1024;
/// How long each of them stays open after a request.
const KEPT_TIME: Duration = Duration::from_secs(60);

/// The buckets by name.
#[derive(Debug, Default)]
pub struct Buckets {
    buckets: Vec<Arc<Bucket>>,
}

/// The objects of one URL.
#[derive(Debug)]
pub(super) struct Bucket {
    pub(super) name: String,
    pub(super) forerun: Forerun,
    /// Bytes of the engine's memory that may still be lent.
    pub(super) lending: Arc<Semaphore>,
    /// By path. It reads nothing.
    kept: Mutex<HashMap<String, Kept>>,
}

#[derive(Debug)]
struct Kept {
    reader: Reader,
    last_used: Instant,
}

impl Buckets {
    /// Adds the objects of `forerun`, whose memory has `memory_bytes`, as the bucket `name`.
    ///
    /// # Errors
    /// If a bucket is called so already, or if no bucket of S3 can be.
    pub fn add(
        &mut self,
        name: &str,
        forerun: Forerun,
        memory_bytes: u64,
    ) -> std::result::Result<(), String> {
        if !is_name(name) {
            return Err(format!(
                "no bucket can be called {name:?}: give 3 to 63 small letters, digits, `-` and `.`, as in NAME=URL"
            ));
        }
        if self.get(name).is_some() {
            return Err(format!("two buckets are called {name:?}: give one another name, as in NAME=URL"));
        }
        let lent = (memory_bytes / LENT_PART).max(PIECE_BYTES_MAX as u64);
        let lent = usize::try_from(lent).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        let (lending, kept) = (Arc::new(Semaphore::new(lent)), Mutex::default());
        self.buckets.push(Arc::new(Bucket { name: name.to_owned(), forerun, lending, kept }));
        Ok(())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Arc<Bucket>> {
        self.buckets.iter().find(|bucket| bucket.name == name)
    }

    /// All of them, in the order in which they were added.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Bucket>> {
        self.buckets.iter()
    }
}

impl Bucket {
    /// The file at `path`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none, and errors of the storage.
    pub(super) async fn file(&self, path: &str) -> Result<Entry> {
        let is_path = path.split('/').all(is_component);
        let not_found = || Error::new(ErrorKind::NotFound, format!("there is no object {path:?}"));
        if !is_path {
            return Err(not_found());
        }
        match self.forerun.stat(path).await {
            Ok(entry) if entry.kind == Kind::File => Ok(entry),
            Ok(_) => Err(not_found()),
            Err(error) if error.kind == ErrorKind::NotADirectory => Err(not_found()),
            Err(error) => Err(error),
        }
    }

    /// The entries of the directory at `path`; the empty path is the top.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none, and errors of the storage.
    pub(super) async fn entries(&self, path: &str) -> Result<Arc<[Entry]>> {
        let not_found = || Error::new(ErrorKind::NotFound, format!("there is no directory {path:?}"));
        if !path.is_empty() && !path.split('/').all(is_component) {
            return Err(not_found());
        }
        match self.forerun.list(path).await {
            Err(error) if error.kind == ErrorKind::NotADirectory => Err(not_found()),
            entries => entries,
        }
    }

    /// A reader of the version that `entry` describes, for one request. The object stays open for a while
    /// when it is over.
    pub(super) fn reader(&self, entry: &Entry) -> Reader {
        let reader = self.forerun.reader_of(entry);
        let now = Instant::now();
        let mut kept = self.kept.lock();
        match kept.get_mut(&entry.path).filter(|kept| kept.reader.entry().version == entry.version) {
            Some(kept) => kept.last_used = now,
            None => {
                kept.insert(
                    entry.path.clone(),
                    Kept { reader: self.forerun.reader_of(entry), last_used: now },
                );
            }
        }
        if kept.len() > KEPT_MAX {
            kept.retain(|_, kept| now - kept.last_used < KEPT_TIME);
        }
        while kept.len() > KEPT_MAX {
            let Some(oldest) = kept.iter().min_by_key(|(_, kept)| kept.last_used) else { break };
            let oldest = oldest.0.clone();
            kept.remove(&oldest);
        }
        reader
    }

    /// Forgets what was kept of the version that `entry` describes, since the storage has another.
    pub(super) fn forget(&self, entry: &Entry) {
        self.kept.lock().remove(&entry.path);
        self.forerun.invalidate_metadata(&entry.path);
    }
}

/// Whether S3 allows a bucket of this name.
fn is_name(name: &str) -> bool {
    let is_inner =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    let is_end =
        |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    (3..=63).contains(&name.len())
        && name.bytes().all(is_inner)
        && is_end(name.bytes().next())
        && is_end(name.bytes().last())
        && !name.contains("..")
}

/// Whether `part` can be one component of a path: nothing leads out of the bucket.
fn is_component(part: &str) -> bool {
    !matches!(part, "" | "." | "..") && !part.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_s3() {
        for name in ["abc", "a-b", "a.b", "0a9"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "ab", "-abc", "abc-", "a..b", "Abc", "a_b", "a/b", &"a".repeat(64)] {
            assert!(!is_name(name), "{name}");
        }
    }
}
