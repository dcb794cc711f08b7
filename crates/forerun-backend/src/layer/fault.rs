//! A layer that fails on purpose.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt};

use crate::{Backend, ByteStream, Entry, Error, ErrorKind, Result, TryCounts, Version};

/// A fault of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Harm {
    /// It fails with this kind of error.
    Fail(ErrorKind),
    /// Its body breaks with a transient error after this many bytes.
    Cut(u64),
}

/// The requests that fail, and how. Requests of all kinds are counted together, from 0.
/// [`Faults::cut`] affects only fetches.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    script: BTreeMap<u64, Harm>,
    chance: Option<Chance>,
}

/// Faults at random, from a seed.
#[derive(Clone, Copy, Debug)]
struct Chance {
    seed: u64,
    per_mille: u64,
    kind: ErrorKind,
}

impl Faults {
    /// No faults.
    pub fn new() -> Faults {
        Faults::default()
    }

    /// Lets request `index` fail with `kind`.
    #[must_use]
    pub fn fail(mut self, index: u64, kind: ErrorKind) -> Faults {
        self.script.insert(index, Harm::Fail(kind));
        self
    }

    /// Lets the body of the fetch that is request `index` break after `bytes` bytes, with a
    /// transient error.
    #[must_use]
    pub fn cut(mut self, index: u64, bytes: u64) -> Faults {
        self.script.insert(index, Harm::Cut(bytes));
        self
    }

    /// Lets the fetch that is request `index` find another version of its object.
    #[must_use]
    pub fn change(self, index: u64) -> Faults {
        self.fail(index, ErrorKind::Changed)
    }

    /// Lets `per_mille` of a thousand other requests fail with `kind`. Equal seeds fail equal
    /// requests.
    #[must_use]
    pub fn random(mut self, seed: u64, per_mille: u64, kind: ErrorKind) -> Faults {
        self.chance = Some(Chance { seed, per_mille, kind });
        self
    }

    fn harm(&self, index: u64) -> Option<Harm> {
        let scripted = self.script.get(&index).copied();
        scripted.or_else(|| {
            self.chance.filter(|chance| chance.strikes(index)).map(|chance| Harm::Fail(chance.kind))
        })
    }
}

impl Chance {
    fn strikes(&self, index: u64) -> bool {
        // splitmix64: well mixed, and the same on every machine.
        let mut z = self.seed.wrapping_add((index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % 1000 < self.per_mille
    }
}

/// A backend that fails as scripted.
#[derive(Debug)]
pub struct Fault {
    inner: Arc<dyn Backend>,
    script: Mutex<Script>,
}

/// The faults, and the count of requests so far.
#[derive(Debug)]
struct Script {
    faults: Faults,
    requests: u64,
}

impl Fault {
    /// `inner` with `faults`.
    pub fn new(inner: Arc<dyn Backend>, faults: Faults) -> Fault {
        Fault { inner, script: Mutex::new(Script { faults, requests: 0 }) }
    }

    /// The number of requests, failed ones included.
    pub fn requests_count(&self) -> u64 {
        self.script.lock().unwrap_or_else(PoisonError::into_inner).requests
    }

    /// Replaces the faults, and counts from 0 again.
    pub fn set(&self, faults: Faults) {
        *self.script.lock().unwrap_or_else(PoisonError::into_inner) = Script { faults, requests: 0 };
    }

    /// Counts a request. Fails it, or returns the length after which its body is to be cut.
    fn request(&self, what: &str, path: &str) -> Result<Option<u64>> {
        let (index, harm) = {
            let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
            let index = script.requests;
            script.requests += 1;
            (index, script.faults.harm(index))
        };
        match harm {
            Some(Harm::Fail(kind)) => Err(injected(kind, format!("request {index}, {what} {path:?}"))),
            Some(Harm::Cut(bytes)) => Ok(Some(bytes)),
            None => Ok(None),
        }
    }
}

#[async_trait]
impl Backend for Fault {
    fn url(&self) -> String {
        self.inner.url()
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        self.request("stat", path)?;
        self.inner.stat(path).await
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        self.request("list", path)?;
        self.inner.list(path).await
    }

    fn try_counts(&self) -> TryCounts {
        self.inner.try_counts()
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        self.request("read_link", path)?;
        self.inner.read_link(path).await
    }

    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        let cut = self.request("fetch", path)?;
        let body = self.inner.fetch(path, version, extent).await?;
        let Some(bytes) = cut else { return Ok(body) };
        let path = path.to_owned();
        let cut = futures::stream::try_unfold((body, bytes), move |(mut body, left)| {
            let path = path.clone();
            async move {
                let piece = body.try_next().await?;
                match piece {
                    Some(_) if left == 0 => {
                        Err(injected(ErrorKind::Transient, format!("the body of {path:?} is cut")))
                    }
                    Some(mut piece) => {
                        piece.truncate(usize::try_from(left).unwrap_or(usize::MAX));
                        let left = left - piece.len() as u64;
                        Ok(Some((piece, (body, left))))
                    }
                    None => Ok(None),
                }
            }
        });
        Ok(cut.boxed())
    }
}

fn injected(kind: ErrorKind, what: String) -> Error {
    Error::new(kind, format!("injected fault: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryBackend, conformance};

    fn memory() -> Arc<MemoryBackend> {
        let memory = Arc::new(MemoryBackend::new());
        memory.replace("a", vec![9; 200_000]);
        memory
    }

    #[tokio::test]
    async fn without_faults_it_conforms() {
        let memory = Arc::new(MemoryBackend::new());
        let tree = conformance::sample_tree();
        tree.iter().for_each(|(path, bytes)| memory.replace(path, bytes.clone()));
        conformance::check(Arc::new(Fault::new(memory, Faults::new())), &tree).await;
    }

    #[tokio::test]
    async fn the_scripted_requests_fail() {
        let faults = Faults::new().fail(1, ErrorKind::Denied).change(2).cut(3, 70_000);
        let fault = Fault::new(memory(), faults);
        let entry = fault.stat("a").await.unwrap();
        assert_eq!(fault.list("").await.unwrap_err().kind, ErrorKind::Denied);
        let changed = conformance::fetch(&fault, &entry, 0..200_000).await.unwrap_err();
        assert_eq!(changed.kind, ErrorKind::Changed);
        let mut body = fault.fetch("a", &entry.version, 0..200_000).await.unwrap();
        let mut bytes = 0;
        let error = loop {
            match body.try_next().await {
                Ok(piece) => bytes += piece.unwrap().len(),
                Err(error) => break error,
            }
        };
        assert_eq!((bytes, error.kind), (70_000, ErrorKind::Transient));
        assert_eq!(fault.requests_count(), 4);
    }

    #[tokio::test]
    async fn equal_seeds_fail_equal_requests() {
        let mut runs = Vec::new();
        for _ in 0..2 {
            let fault = Fault::new(memory(), Faults::new().random(7, 250, ErrorKind::Transient));
            let mut failed = Vec::new();
            for _ in 0..400 {
                failed.push(fault.stat("a").await.is_err());
            }
            runs.push(failed);
        }
        assert_eq!(runs[0], runs[1]);
        let count = runs[0].iter().filter(|failed| **failed).count();
        assert!((60..140).contains(&count), "{count} of 400");
    }
}
