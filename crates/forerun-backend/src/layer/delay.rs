//! A layer that makes storage more distant.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::{Backend, ByteStream, Entry, Result, TryCounts, Version};

/// Waits a fixed time before each request.
#[derive(Debug)]
pub struct Delay {
    inner: Arc<dyn Backend>,
    latency: Duration,
}

impl Delay {
    /// `inner`, with every request's first byte delayed by `latency`.
    pub fn new(inner: Arc<dyn Backend>, latency: Duration) -> Delay {
        Delay { inner, latency }
    }
}

#[async_trait]
impl Backend for Delay {
    fn url(&self) -> String {
        self.inner.url()
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        tokio::time::sleep(self.latency).await;
        self.inner.stat(path).await
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        tokio::time::sleep(self.latency).await;
        self.inner.list(path).await
    }

    fn try_counts(&self) -> TryCounts {
        self.inner.try_counts()
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        tokio::time::sleep(self.latency).await;
        self.inner.read_link(path).await
    }

    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        tokio::time::sleep(self.latency).await;
        self.inner.fetch(path, version, extent).await
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::{MemoryBackend, conformance};

    #[tokio::test(start_paused = true)]
    async fn every_request_is_later_and_otherwise_the_same() {
        let memory = Arc::new(MemoryBackend::new());
        let tree = conformance::sample_tree();
        tree.iter().for_each(|(path, bytes)| memory.replace(path, bytes.clone()));
        let delay = Arc::new(Delay::new(memory, Duration::from_millis(50)));
        conformance::check(delay.clone(), &tree).await;
        let start = Instant::now();
        let entry = delay.stat("one").await.unwrap();
        conformance::fetch(&*delay, &entry, 0..1).await.unwrap();
        assert_eq!(start.elapsed(), Duration::from_millis(100));
    }
}
