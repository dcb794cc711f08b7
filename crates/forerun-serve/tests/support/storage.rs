//! Storage that the tests of every server control.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use forerun::{Backend, Entry, Result, Version};
use forerun_backend::{ByteStream, MemoryBackend};
use tokio::sync::Semaphore;

/// Fetches of objects called `slow` wait if they go past this offset.
pub(crate) const SLOW_FROM: u64 = 8 << 20;

/// Mon, 12 Jan 1970 13:46:40 GMT.
pub(crate) const DATE: Duration = Duration::from_secs(1_000_000);

/// A fetch of `far` takes so long that a busy machine, too, sees that fetches overlap.
const FAR: Duration = Duration::from_millis(20);

/// Objects in memory. Fetches of `slow` past [`SLOW_FROM`] wait until they are allowed, and those of
/// `broken` from there on fail. Objects whose names end in `private` are not for everybody, and those in `dated` have
/// [`DATE`].
#[derive(Debug)]
pub(crate) struct Storage {
    pub(crate) objects: MemoryBackend,
    pub(crate) allowed: Semaphore,
}

impl Storage {
    /// Holds `objects`, by path.
    pub(crate) fn of(objects: &[(&str, Vec<u8>)]) -> Arc<Storage> {
        let storage = Storage { objects: MemoryBackend::new(), allowed: Semaphore::new(0) };
        for (name, bytes) in objects {
            storage.objects.replace(name, bytes.clone());
        }
        Arc::new(storage)
    }
}

#[async_trait]
impl Backend for Storage {
    fn url(&self) -> String {
        "memory:".to_owned()
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        self.objects.stat(path).await.map(described)
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        Ok(self.objects.list(path).await?.into_iter().map(described).collect())
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        self.objects.read_link(path).await
    }

    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        if extent.end > SLOW_FROM && path == "slow" {
            self.allowed.acquire().await.expect("it is never closed").forget();
        }
        if path == "far" {
            tokio::time::sleep(FAR).await;
        }
        if extent.end > SLOW_FROM && path == "broken" {
            return Err(forerun::Error::new(forerun::ErrorKind::Permanent, "it is broken, as it must be"));
        }
        self.objects.fetch(path, version, extent).await
    }
}

fn described(entry: Entry) -> Entry {
    match entry.name() {
        name if name.ends_with("private") => entry.with_mode(0o640).with_owner((1000, 7)),
        name if name.ends_with("dated") => entry.with_modified(SystemTime::UNIX_EPOCH + DATE),
        _ => entry,
    }
}

/// `len` bytes that are different at every offset and for every `seed`, and never zero for long.
pub(crate) fn pattern(len: usize, seed: u64) -> Vec<u8> {
    let word =
        |index: u64| (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15 ^ seed.rotate_left(32)).to_le_bytes();
    (0..len.div_ceil(8) as u64).flat_map(word).take(len).collect()
}
