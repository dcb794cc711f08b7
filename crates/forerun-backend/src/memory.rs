//! Objects in memory, for tests of the readers of backends.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{PoisonError, RwLock};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;

use crate::{Backend, ByteStream, Entry, Error, ErrorKind, Result, Version, path};

/// The largest piece of a fetched extent: even small extents arrive in several pieces.
const PIECE_BYTES_MAX: usize = 64 << 10;

/// Objects in memory. Directories are the prefixes that they share.
#[derive(Debug, Default)]
pub struct MemoryBackend {
    objects: RwLock<BTreeMap<String, Object>>,
}

#[derive(Clone, Debug)]
struct Object {
    bytes: Bytes,
    version: u64,
}

impl MemoryBackend {
    /// An empty tree.
    pub fn new() -> MemoryBackend {
        MemoryBackend::default()
    }

    /// Puts `bytes` at `path`, as a new version of the object there.
    pub fn replace(&self, path: &str, bytes: impl Into<Bytes>) {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        let version = objects.get(path).map_or(0, |object| object.version) + 1;
        objects.insert(path.to_owned(), Object { bytes: bytes.into(), version });
    }

    /// Removes the object at `path`, if there is one.
    pub fn remove(&self, path: &str) {
        self.objects.write().unwrap_or_else(PoisonError::into_inner).remove(path);
    }

    fn get(&self, path: &str) -> Option<Object> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    /// The entries of the directory `path`; none if no object is below it.
    fn children(&self, path: &str) -> Option<Vec<Entry>> {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        let mut entries: Vec<Entry> = Vec::new();
        for (key, object) in objects.range(prefix.clone()..).take_while(|(key, _)| key.starts_with(&prefix)) {
            match key[prefix.len()..].split_once('/') {
                None => entries.push(file(key, object)),
                Some((name, _)) => {
                    let directory = path::join(path, name);
                    if !entries.iter().any(|entry| entry.path == directory) {
                        entries.push(Entry::directory(directory));
                    }
                }
            }
        }
        (path.is_empty() || !entries.is_empty()).then_some(entries)
    }
}

#[async_trait]
impl Backend for MemoryBackend {
    fn url(&self) -> String {
        "memory:".to_owned()
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        path::components(path)?;
        match self.get(path) {
            Some(object) => Ok(file(path, &object)),
            None => self.children(path).map(|_| Entry::directory(path)).ok_or_else(|| not_found(path)),
        }
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        path::components(path)?;
        match (self.children(path), self.get(path)) {
            (Some(entries), _) => Ok(entries),
            (None, Some(_)) => Err(Error::not_a_directory(path)),
            (None, None) => Err(not_found(path)),
        }
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        Err(Error::not_a_link(path))
    }

    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        let object = self.get(path).ok_or_else(|| not_found(path))?;
        if file(path, &object).version != *version {
            return Err(Error::new(ErrorKind::Changed, format!("{path} in memory has changed")));
        }
        let range = usize::try_from(extent.start).ok().zip(usize::try_from(extent.end).ok());
        let bytes = match range {
            Some((start, end)) if start < end && end <= object.bytes.len() => object.bytes.slice(start..end),
            _ => return Err(Error::new(ErrorKind::Invalid, format!("{path} has no bytes {extent:?}"))),
        };
        let pieces = (0..bytes.len()).step_by(PIECE_BYTES_MAX);
        let pieces: Vec<Result<Bytes>> =
            pieces.map(|at| Ok(bytes.slice(at..bytes.len().min(at + PIECE_BYTES_MAX)))).collect();
        Ok(futures::stream::iter(pieces).boxed())
    }
}

fn file(path: &str, object: &Object) -> Entry {
    Entry::file(path, object.bytes.len() as u64, Version(object.version.to_string().into()))
}

fn not_found(path: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is nothing at {path:?} in memory"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::conformance;

    #[tokio::test]
    async fn memory_conforms() {
        let backend = Arc::new(MemoryBackend::new());
        let tree = conformance::sample_tree();
        tree.iter().for_each(|(path, bytes)| backend.replace(path, bytes.clone()));
        conformance::check(backend, &tree).await;
    }

    #[tokio::test]
    async fn a_replaced_object_is_changed() {
        let backend = MemoryBackend::new();
        backend.replace("a", "one");
        let entry = backend.stat("a").await.unwrap();
        backend.replace("a", "two");
        let error = backend.fetch("a", &entry.version, 0..3).await.map(|_| ()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Changed);
        backend.remove("a");
        assert_eq!(backend.stat("a").await.unwrap_err().kind, ErrorKind::NotFound);
    }
}
