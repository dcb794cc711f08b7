//! Bytes of answers that a client does not take.
//!
//! No write waits for a client of HTTP/2 that shuts its windows and goes on talking. So each connection counts the bytes
//! that its answers have ready.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Buf;
use hyper::body::{Body, Frame, SizeHint};
use parking_lot::Mutex;
use tokio::time::Instant;

/// The bytes that are ready for a client. All answers of a connection share it.
#[derive(Debug, Default)]
pub(crate) struct Untaken(Mutex<Ready>);

#[derive(Debug, Default)]
struct Ready {
    bytes: usize,
    /// When the client last took some of them, or the first of them came.
    since: Option<Instant>,
}

/// A body whose bytes are counted.
pub(crate) struct CountedBody<B> {
    body: B,
    untaken: Arc<Untaken>,
}

/// Bytes that count until they are taken or given up.
#[derive(Debug)]
pub(crate) struct CountedBytes<D: Buf> {
    bytes: D,
    untaken: Arc<Untaken>,
}

impl Untaken {
    /// The same body, whose bytes are counted.
    pub(crate) fn body<B>(self: Arc<Self>, body: B) -> CountedBody<B> {
        CountedBody { body, untaken: self }
    }

    /// Ends once there were bytes for so long of which the client took none.
    pub(crate) async fn stalled(&self, time_max: Duration) {
        loop {
            let now = Instant::now();
            let since = self.0.lock().since.unwrap_or(now);
            if now.duration_since(since) >= time_max {
                return;
            }
            tokio::time::sleep_until(since + time_max).await;
        }
    }

    /// `bytes` are ready. Further ones are no progress of the client.
    fn add(&self, bytes: usize) {
        let mut ready = self.0.lock();
        ready.bytes += bytes;
        if ready.bytes > 0 {
            ready.since.get_or_insert_with(Instant::now);
        }
    }

    /// `bytes` are taken or given up.
    fn remove(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let mut ready = self.0.lock();
        ready.bytes -= bytes;
        ready.since = (ready.bytes > 0).then(Instant::now);
    }
}

impl<B: Body + Unpin> Body for CountedBody<B> {
    type Data = CountedBytes<B::Data>;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, B::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        polled.map_ok(|frame| {
            frame.map_data(|bytes| {
                self.untaken.add(bytes.remaining());
                CountedBytes { bytes, untaken: Arc::clone(&self.untaken) }
            })
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<D: Buf> Buf for CountedBytes<D> {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        self.untaken.remove(count);
    }
}

impl<D: Buf> Drop for CountedBytes<D> {
    fn drop(&mut self) {
        self.untaken.remove(self.bytes.remaining());
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use futures::FutureExt;
    use http_body_util::{BodyExt, Full};

    use super::*;

    const TIME_MAX: Duration = Duration::from_secs(60);

    async fn bytes_of(untaken: &Arc<Untaken>) -> CountedBytes<Bytes> {
        let mut body = Arc::clone(untaken).body(Full::new(Bytes::from_static(b"0123456789")));
        body.frame().await.unwrap().unwrap().into_data().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_stalls_that_takes_none_of_its_bytes_and_a_slow_one_does_not() {
        let untaken = Arc::new(Untaken::default());
        let watched = Arc::clone(&untaken);
        let stalled = tokio::spawn(async move { watched.stalled(TIME_MAX).await });
        tokio::time::sleep(2 * TIME_MAX).await;
        let mut slow = bytes_of(&untaken).await;
        while slow.has_remaining() {
            tokio::time::sleep(TIME_MAX * 5 / 6).await;
            slow.advance(1);
        }
        drop(bytes_of(&untaken).await);
        tokio::time::sleep(2 * TIME_MAX).await;
        assert!(!stalled.is_finished());
        let begun = Instant::now();
        let _first = bytes_of(&untaken).await;
        // Another answer is no sign of life.
        tokio::time::sleep(TIME_MAX / 2).await;
        let _second = bytes_of(&untaken).await;
        stalled.await.unwrap();
        let time = begun.elapsed();
        assert!(time >= TIME_MAX && time < TIME_MAX + Duration::from_secs(1), "{time:?}");
        assert_eq!(untaken.stalled(TIME_MAX).now_or_never(), Some(()));
    }
}
