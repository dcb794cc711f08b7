//! A layer that limits bandwidth.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use tokio::time::Instant;

use crate::{Backend, ByteStream, Entry, Result, TryCounts, Version};

/// Limits the bandwidth of each fetch, and of all fetches together. Metadata is not limited.
#[derive(Debug)]
pub struct Rate {
    inner: Arc<dyn Backend>,
    connection_bytes_per_s: Option<u64>,
    total: Option<Arc<Wire>>,
}

impl Rate {
    /// `inner`, limited in bytes per second for each fetch (`connection`) and for all (`total`).
    ///
    /// # Panics
    /// For a limit of 0.
    pub fn new(
        inner: Arc<dyn Backend>,
        connection_bytes_per_s: Option<u64>,
        total_bytes_per_s: Option<u64>,
    ) -> Rate {
        assert!(
            connection_bytes_per_s != Some(0) && total_bytes_per_s != Some(0),
            "a rate of 0 moves nothing"
        );
        let total = total_bytes_per_s.map(|rate| Arc::new(Wire::new(rate)));
        Rate { inner, connection_bytes_per_s, total }
    }
}

#[async_trait]
impl Backend for Rate {
    fn url(&self) -> String {
        self.inner.url()
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        self.inner.stat(path).await
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        self.inner.list(path).await
    }

    fn try_counts(&self) -> TryCounts {
        self.inner.try_counts()
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        self.inner.read_link(path).await
    }

    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        let body = self.inner.fetch(path, version, extent).await?;
        let connection = self.connection_bytes_per_s.map(|rate| Arc::new(Wire::new(rate)));
        let wires: Vec<Arc<Wire>> = connection.into_iter().chain(self.total.clone()).collect();
        let limited = futures::stream::try_unfold((body, wires), |(mut body, wires)| async move {
            let Some(piece) = body.try_next().await? else { return Ok(None) };
            carry(&wires, &piece).await;
            Ok(Some((piece, (body, wires))))
        });
        Ok(limited.boxed())
    }
}

/// Waits until every wire has carried `piece`.
async fn carry(wires: &[Arc<Wire>], piece: &Bytes) {
    let carried = wires.iter().map(|wire| wire.carry(piece.len() as u64)).max();
    if let Some(carried) = carried {
        tokio::time::sleep_until(carried).await;
    }
}

/// Carries one piece after the other.
#[derive(Debug)]
struct Wire {
    bytes_per_s: u64,
    free: Mutex<Instant>,
}

impl Wire {
    fn new(bytes_per_s: u64) -> Wire {
        Wire { bytes_per_s, free: Mutex::new(Instant::now()) }
    }

    /// The time at which the wire will have carried `bytes` more.
    fn carry(&self, bytes: u64) -> Instant {
        let nanoseconds = u128::from(bytes) * 1_000_000_000 / u128::from(self.bytes_per_s);
        let time = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free = (*free).max(Instant::now()) + time;
        *free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryBackend, conformance};

    const MIB: u64 = 1 << 20;

    /// The time of `fetches` concurrent fetches of 1 MiB.
    async fn time(fetches: usize, connection: Option<u64>, total: Option<u64>) -> Duration {
        let memory = Arc::new(MemoryBackend::new());
        memory.replace("a", vec![1; MIB as usize]);
        let rate = Rate::new(memory, connection, total);
        let entry = rate.stat("a").await.unwrap();
        let start = Instant::now();
        let all = (0..fetches).map(|_| conformance::fetch(&rate, &entry, 0..MIB));
        futures::future::try_join_all(all).await.unwrap();
        start.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_and_all_together_are_limited() {
        let close = |time: Duration, secs: u64| {
            assert!((time.as_secs_f64() - secs as f64).abs() < 0.1, "{time:?} is not {secs} s");
        };
        close(time(1, Some(MIB), None).await, 1);
        close(time(4, Some(MIB), None).await, 1);
        close(time(4, Some(MIB), Some(MIB)).await, 4);
        close(time(4, None, Some(2 * MIB)).await, 2);
        close(time(4, None, None).await, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_rate_conforms() {
        let memory = Arc::new(MemoryBackend::new());
        let tree = conformance::sample_tree();
        tree.iter().for_each(|(path, bytes)| memory.replace(path, bytes.clone()));
        conformance::check(Arc::new(Rate::new(memory, Some(MIB), Some(8 * MIB))), &tree).await;
    }
}
