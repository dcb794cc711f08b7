//! A backend whose every fetch waits for the test, so that no test sleeps.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use forerun::{Backend, Entry, Error, ErrorKind, Forerun, Options, Result, Version};
use forerun_backend::{ByteStream, MemoryBackend};
use futures::StreamExt;
use futures::stream::poll_fn;
use tokio::sync::RwLock;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// Long enough for the busiest machine; only a failing test waits as long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Objects in memory whose fetches the test answers.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) objects: MemoryBackend,
    pub(crate) stat_count: AtomicUsize,
    pub(crate) list_count: AtomicUsize,
    /// Whether lists are said to be whole.
    pub(crate) lists_whole: AtomicBool,
    /// Lists wait while a test holds it.
    pub(crate) lists: RwLock<()>,
    requests: Mutex<Sender<Request>>,
}

/// A fetch that waits for the test. Dropped, its stream ends where it is.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) extent: Range<u64>,
    pub(crate) version: Version,
    rest: Bytes,
    pieces: UnboundedSender<Answer>,
}

#[derive(Debug)]
enum Answer {
    Piece(Result<Bytes>),
    Panic,
}

/// The test's end of a gate.
pub(crate) struct Requests(Receiver<Request>);

impl Requests {
    /// The next fetch.
    pub(crate) fn next(&self) -> Request {
        self.0.recv_timeout(PATIENCE).expect("a fetch should have been made")
    }

    /// The fetches that together bring `len` bytes, in order.
    pub(crate) fn bringing(&self, len: u64) -> Vec<Request> {
        let (mut requests, mut bytes) = (Vec::new(), 0);
        while bytes < len {
            let request = self.next();
            bytes += request.extent.end - request.extent.start;
            requests.push(request);
        }
        requests.sort_by_key(|request| request.extent.start);
        requests
    }

    /// A fetch that is on its way already.
    pub(crate) fn ready(&self) -> Option<Request> {
        self.0.try_recv().ok()
    }
}

impl Request {
    /// Sends the next `len` bytes, or what is left.
    pub(crate) fn send(&mut self, len: usize) {
        let piece = self.rest.split_to(len.min(self.rest.len()));
        self.push(Answer::Piece(Ok(piece)));
    }

    pub(crate) fn send_all(mut self) {
        self.send(usize::MAX);
    }

    /// Sends bytes that were not asked for.
    pub(crate) fn send_extra(&self, bytes: &'static [u8]) {
        self.push(Answer::Piece(Ok(Bytes::from_static(bytes))));
    }

    pub(crate) fn fail(self, kind: ErrorKind, message: &str) {
        self.push(Answer::Piece(Err(Error::new(kind, message))));
    }

    pub(crate) fn panic(self) {
        self.push(Answer::Panic);
    }

    /// Waits until nobody wants the rest any more.
    pub(crate) fn until_cancelled(&self) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let closed = runtime.block_on(async { tokio::time::timeout(PATIENCE, self.pieces.closed()).await });
        closed.expect("the fetch should have been cancelled");
    }

    fn push(&self, answer: Answer) {
        // A cancelled fetch does not listen, which is no test's failure.
        let _ = self.pieces.send(answer);
    }
}

impl Gate {
    /// Waits until metadata was asked for so often.
    pub(crate) fn until_stats(&self, count: usize) {
        let started = Instant::now();
        while self.stat_count.load(Ordering::Relaxed) < count {
            assert!(started.elapsed() < PATIENCE, "metadata should have been asked for {count} times");
            std::thread::yield_now();
        }
    }
}

/// A gate with one object `path` of `bytes`.
pub(crate) fn gate(path: &str, bytes: impl Into<Bytes>) -> (Arc<Gate>, Requests) {
    let (requests, received) = channel();
    let objects = MemoryBackend::new();
    objects.replace(path, bytes);
    let gate = Gate {
        objects,
        stat_count: AtomicUsize::new(0),
        list_count: AtomicUsize::new(0),
        lists_whole: AtomicBool::new(false),
        lists: RwLock::new(()),
        requests: Mutex::new(requests),
    };
    (Arc::new(gate), Requests(received))
}

#[async_trait]
impl Backend for Gate {
    fn url(&self) -> String {
        "gate:".to_owned()
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        self.stat_count.fetch_add(1, Ordering::SeqCst);
        self.objects.stat(path).await
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        self.list_count.fetch_add(1, Ordering::SeqCst);
        let _held = self.lists.read().await;
        self.objects.list(path).await
    }

    fn has_whole_lists(&self) -> bool {
        self.lists_whole.load(Ordering::SeqCst)
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        self.objects.read_link(path).await
    }

    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        let mut whole = self.objects.fetch(path, version, extent.clone()).await?;
        let mut bytes = Vec::new();
        while let Some(piece) = whole.next().await {
            bytes.extend_from_slice(&piece?);
        }
        let (pieces, mut answers) = unbounded_channel();
        let request = Request { extent, version: version.clone(), rest: bytes.into(), pieces };
        self.requests.lock().unwrap().send(request).expect("the test has ended before its fetches");
        let stream = poll_fn(move |context| answers.poll_recv(context)).map(|answer| match answer {
            Answer::Piece(piece) => piece,
            Answer::Panic => panic!("the backend panics, as the test wants it to"),
        });
        Ok(stream.boxed())
    }
}

/// Waits for other threads to make something true.
pub(crate) fn until(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "what the test waits for does not happen");
        std::thread::yield_now();
    }
}

/// Default options, except that metadata is never believed and nothing is read
/// ahead, so that a test knows each fetch.
pub(crate) fn plain() -> Options {
    Options::default().with_metadata_ttl(Duration::ZERO).with_policy(forerun::PolicyKind::None)
}

pub(crate) fn over(gate: &Arc<Gate>) -> Forerun {
    Forerun::over(gate.clone(), plain()).unwrap()
}

/// Bytes of which no two places look alike for long.
pub(crate) fn pattern(len: usize) -> Vec<u8> {
    let mut random = Random(len as u64);
    (0..len.div_ceil(8)).flat_map(|_| random.next().to_le_bytes()).take(len).collect()
}

/// Repeatable numbers: SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}
