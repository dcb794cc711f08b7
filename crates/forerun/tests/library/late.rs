//! Storage that lets one request in many wait, for its first bytes or for those after them.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use forerun::{Backend, Entry, Forerun, Options, Result, Version};
use forerun_backend::{ByteStream, MemoryBackend};
use futures::{FutureExt, StreamExt};

use crate::gate::{pattern, until};

/// How long a request waits, and how long one in [`SLOW_PERIOD`] does.
const LATENCY: Duration = Duration::from_millis(20);
const SLOW: Duration = Duration::from_secs(2);
const SLOW_PERIOD: usize = 50;
/// Bytes that come before a request stalls.
const FIRST_BYTES: u64 = 16 << 10;

/// Objects in memory, further away.
#[derive(Debug, Default)]
struct Tail {
    objects: MemoryBackend,
    /// Slow requests are so once their first bytes are there.
    stalls: bool,
    fetch_count: AtomicUsize,
    /// Slow requests that nobody waits for any more.
    dropped_count: Arc<AtomicUsize>,
}

/// Counts that it was dropped.
struct Slow(Arc<AtomicUsize>);

impl Drop for Slow {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Backend for Tail {
    fn url(&self) -> String {
        "tail:".to_owned()
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        self.objects.stat(path).await
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        self.objects.list(path).await
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        self.objects.read_link(path).await
    }

    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        let index = self.fetch_count.fetch_add(1, Ordering::SeqCst);
        let is_slow = index % SLOW_PERIOD == SLOW_PERIOD - 1;
        if !is_slow || self.stalls {
            tokio::time::sleep(LATENCY).await;
        }
        let wait = slow(is_slow, Arc::clone(&self.dropped_count));
        if !self.stalls {
            wait.await;
            return self.objects.fetch(path, version, extent).await;
        }
        let middle = extent.end.min(extent.start + FIRST_BYTES);
        let first = self.objects.fetch(path, version, extent.start..middle).await?;
        if middle == extent.end {
            return Ok(first);
        }
        let rest = self.objects.fetch(path, version, middle..extent.end).await?;
        Ok(first.chain(wait.map(|()| rest).flatten_stream()).boxed())
    }
}

async fn slow(is_slow: bool, dropped_count: Arc<AtomicUsize>) {
    if is_slow {
        let slow = Slow(dropped_count);
        tokio::time::sleep(SLOW).await;
        std::mem::forget(slow);
    }
}

#[test]
fn a_slow_request_is_made_again_and_the_first_one_dropped() {
    check(Tail::default());
}

#[test]
fn of_a_request_that_stalls_the_rest_is_asked_for_again() {
    check(Tail { stalls: true, ..Tail::default() });
}

fn check(tail: Tail) {
    let tail = Arc::new(tail);
    let source = pattern(64 << 20);
    tail.objects.replace("a", source.clone());
    let forerun = Forerun::over(tail.clone(), Options::default().with_memory_bytes(16 << 20)).unwrap();
    let reader = forerun.open_blocking("a").unwrap();
    let mut buf = vec![0; 64 << 10];
    for at in (0..source.len()).step_by(buf.len()) {
        reader.read_at_blocking(&mut buf, at as u64).unwrap();
        assert!(buf == source[at..at + buf.len()], "wrong bytes at {at}");
    }
    let slow_count = tail.fetch_count.load(Ordering::SeqCst) / SLOW_PERIOD;
    let counters = forerun.counters();
    assert!(
        slow_count >= 2 && counters.repeated_count >= slow_count as u64 / 2,
        "{slow_count}: {counters:?}"
    );
    until(|| tail.dropped_count.load(Ordering::SeqCst) > 0);
}
