//! The network between the demo's store and its clients.
//!
//! A request's first byte waits for the latency. Each connection has its own rate, and the link
//! limits all together. Rates hold on average whatever the timers do. Each chunk advances a virtual
//! clock by its time on the wire, and the next one leaves when real time has reached that clock.
//! After a late timer, up to [`BURST`] of chunks that are due leave at once.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// The size of a chunk.
pub(crate) const CHUNK_BYTES: u64 = 64 << 10;
/// The lateness that is made up for. tokio's timers have a granularity of 1 ms, and two processors
/// shared with the readers add some.
const BURST: Duration = Duration::from_millis(4);
/// The usual lateness of a timer: tokio and `epoll` both round up to whole milliseconds. It is
/// subtracted from a latency, which has nothing to average over.
const LATENESS: Duration = Duration::from_millis(1);

/// The properties of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) latency: Duration,
    pub(crate) connection_bytes_per_s: u64,
    pub(crate) total_bytes_per_s: u64,
}

impl Default for Shape {
    /// Roughly one virtual machine and one object store of the same region.
    fn default() -> Shape {
        Shape {
            latency: Duration::from_millis(10),
            connection_bytes_per_s: 80_000_000,
            total_bytes_per_s: 400_000_000,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mb_s = |bytes_per_s| bytes_per_s / 1_000_000;
        let (each, all) = (mb_s(self.connection_bytes_per_s), mb_s(self.total_bytes_per_s));
        let latency = self.latency.as_millis();
        write!(out, "An object store {latency} ms away, {each} MB/s per connection, {all} MB/s in all")
    }
}

/// The link that all connections share.
#[derive(Debug)]
pub(crate) struct Link {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    shape: Shape,
    /// When all chunks so far have passed.
    free_at: Instant,
}

impl Link {
    pub(crate) fn new(shape: Shape) -> Arc<Link> {
        Arc::new(Link { state: Mutex::new(State { shape, free_at: Instant::now() }) })
    }

    /// The current properties.
    pub(crate) fn shape(&self) -> Shape {
        self.with(|state| state.shape)
    }

    /// Sets the properties from the next chunk on.
    pub(crate) fn reshape(&self, shape: Shape) {
        self.with(|state| state.shape = shape);
    }

    /// Reserves the link for the next `bytes`, and returns when they may leave. Chunks are equal,
    /// and a connection waits for one at a time: serving them in order shares the link fairly.
    fn reserve(&self, bytes: u64) -> Instant {
        self.with(|state| {
            let start = state.free_at.max(Instant::now() - BURST);
            state.free_at = start + time_on_wire(bytes, state.shape.total_bytes_per_s);
            start
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// One connection's side of the link.
#[derive(Debug)]
pub(crate) struct Wire {
    link: Arc<Link>,
    /// When all chunks of this connection so far have passed.
    free_at: Mutex<Instant>,
}

impl Wire {
    pub(crate) fn new(link: Arc<Link>) -> Wire {
        Wire { link, free_at: Mutex::new(Instant::now()) }
    }

    /// Waits for the latency of an answer's first byte.
    pub(crate) async fn wait_latency(&self) {
        reach(Instant::now() + self.link.shape().latency.saturating_sub(LATENESS)).await;
        // An idle connection has no lateness to make up for.
        self.advance(Instant::now(), Duration::ZERO);
    }

    /// Waits until the next `bytes` of an answer may leave.
    pub(crate) async fn wait_turn(&self, bytes: u64) {
        reach(self.advance(Instant::now() - BURST, Duration::ZERO)).await;
        reach(self.link.reserve(bytes)).await;
        let taken = time_on_wire(bytes, self.link.shape().connection_bytes_per_s);
        self.advance(Instant::now() - BURST, taken);
    }

    /// Advances the connection's clock to `earliest` if it is behind, then by `taken`. Returns the
    /// clock.
    fn advance(&self, earliest: Instant, taken: Duration) -> Instant {
        let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        *free_at = (*free_at).max(earliest) + taken;
        *free_at
    }
}

/// Waits for `deadline`. Skips the timer if it has passed: a timer would still be late.
async fn reach(deadline: Instant) {
    if deadline > Instant::now() {
        sleep_until(deadline).await;
    }
}

fn time_on_wire(bytes: u64, bytes_per_s: u64) -> Duration {
    Duration::from_nanos(bytes.saturating_mul(1_000_000_000) / bytes_per_s.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that each of `connections` busy connections sends in 2 s.
    async fn sent(connections: usize) -> Vec<u64> {
        let link = Link::new(Shape::default());
        let end = Instant::now() + Duration::from_secs(2);
        let tasks: Vec<_> = (0..connections)
            .map(|_| {
                let wire = Wire::new(Arc::clone(&link));
                tokio::spawn(async move {
                    let mut sent = 0;
                    loop {
                        wire.wait_turn(CHUNK_BYTES).await;
                        if Instant::now() >= end {
                            return sent;
                        }
                        sent += CHUNK_BYTES;
                    }
                })
            })
            .collect();
        let mut each = Vec::new();
        for task in tasks {
            each.push(task.await.unwrap());
        }
        each
    }

    #[tokio::test(start_paused = true)]
    async fn rates_hold_and_are_shared() {
        for (connections, total_mb_s) in [(1, 80), (3, 240), (5, 400), (8, 400), (40, 400)] {
            let each = sent(connections).await;
            let mb_s = each.iter().sum::<u64>() as f64 / 2e6;
            assert!((mb_s / f64::from(total_mb_s) - 1.0).abs() <= 0.02, "{connections}: {mb_s} MB/s");
            let (least, most) = (each.iter().min().unwrap(), each.iter().max().unwrap());
            assert!(most - least <= 4 * CHUNK_BYTES, "{connections}: from {least} to {most}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_waited_does_not_burst() {
        let link = Link::new(Shape::default());
        let wire = Wire::new(link);
        for _ in 0..3 {
            let asked = Instant::now();
            wire.wait_latency().await;
            for _ in 0..100 {
                wire.wait_turn(CHUNK_BYTES).await;
            }
            // 9 to 10 ms, then 99 chunks of 0.8192 ms before the last one leaves.
            let took = asked.elapsed().as_secs_f64() * 1e3;
            assert!((90.0..=92.5).contains(&took), "{took} ms");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn latency_is_waited_for_once() {
        let wire = Wire::new(Link::new(Shape::default()));
        let asked = Instant::now();
        wire.wait_latency().await;
        wire.wait_turn(4096).await;
        let took = asked.elapsed();
        assert!((9..=10).contains(&took.as_millis()), "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_shape_counts_at_once() {
        let link = Link::new(Shape::default());
        let wire = Wire::new(Arc::clone(&link));
        link.reshape(Shape { latency: Duration::from_millis(50), ..link.shape() });
        let asked = Instant::now();
        wire.wait_latency().await;
        assert!((49..=50).contains(&asked.elapsed().as_millis()), "{:?}", asked.elapsed());
    }
}
