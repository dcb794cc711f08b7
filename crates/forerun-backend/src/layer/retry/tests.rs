use std::time::Duration;

use tokio::time::Instant;

use super::*;
use crate::http::IDLE_TIMEOUT;
use crate::layer::{Delay, Fault, Faults};
use crate::{MemoryBackend, conformance};

const SIZE: u64 = 300_000;

fn over(faults: Faults) -> (Arc<Fault>, Retry) {
    let memory = MemoryBackend::new();
    memory.replace("a", (0..SIZE).map(|at| (at % 251) as u8).collect::<Vec<u8>>());
    let fault = Arc::new(Fault::new(Arc::new(memory), faults));
    (fault.clone(), Retry::new(fault, RetryOptions::default()))
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_faults_conforms() {
    let memory = Arc::new(MemoryBackend::new());
    let tree = conformance::sample_tree();
    tree.iter().for_each(|(path, bytes)| memory.replace(path, bytes.clone()));
    let fault = Fault::new(memory, Faults::new().random(3, 100, ErrorKind::Transient));
    let patient = RetryOptions { attempts: 12, ..RetryOptions::default() };
    conformance::check(Arc::new(Retry::new(Arc::new(fault), patient)), &tree).await;
}

#[tokio::test(start_paused = true)]
async fn transient_errors_are_tried_again_with_growing_waits() {
    let (fault, retry) = over(
        Faults::new()
            .fail(0, ErrorKind::Transient)
            .fail(1, ErrorKind::Unreachable)
            .fail(2, ErrorKind::Transient),
    );
    let start = Instant::now();
    retry.stat("a").await.unwrap();
    assert_eq!(fault.requests_count(), 4);
    let waited = start.elapsed();
    // 100, 200 and 400 ms, each between half and whole.
    assert!((350..=710).contains(&waited.as_millis()), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn other_errors_are_returned_at_once() {
    for kind in [ErrorKind::Denied, ErrorKind::Changed, ErrorKind::NoRange, ErrorKind::Permanent] {
        let (fault, retry) = over(Faults::new().fail(0, kind));
        assert_eq!(retry.stat("a").await.unwrap_err().kind, kind);
        assert_eq!(fault.requests_count(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_error_says_how_often_it_was_tried() {
    let (fault, retry) = over(Faults::new().random(1, 1000, ErrorKind::Transient));
    let error = retry.list("").await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Transient);
    let count = fault.requests_count();
    // 0.1, 0.2 ... 3.2 s and then 5 s, each between half and whole.
    assert!((10..=18).contains(&count), "{count}");
    assert!(error.message.contains(&format!("gave up after {count} tries in ")), "{error}");
}

#[tokio::test(start_paused = true)]
async fn no_try_starts_after_the_deadline() {
    let (fault, _) = over(Faults::new().random(1, 1000, ErrorKind::Transient));
    let second = Duration::from_secs(1);
    let options = RetryOptions {
        attempts: 100,
        backoff_first: second,
        backoff_max: second,
        deadline: Duration::from_secs(10),
    };
    let start = Instant::now();
    Retry::new(fault.clone(), options).stat("a").await.unwrap_err();
    assert!(start.elapsed() <= Duration::from_secs(10));
    assert!((10..=20).contains(&fault.requests_count()), "{}", fault.requests_count());
}

#[tokio::test(start_paused = true)]
async fn a_broken_stream_goes_on_where_it_broke() {
    let cuts = [(1, 0), (2, 65_536), (3, 100), (4, 0), (5, 70_000)];
    let faults = cuts.iter().fold(Faults::new(), |faults, &(index, bytes)| faults.cut(index, bytes));
    let (fault, retry) = over(faults);
    let entry = retry.stat("a").await.unwrap();
    let bytes = conformance::fetch(&retry, &entry, 10..SIZE).await.unwrap();
    assert!(bytes.iter().zip(10..).all(|(byte, at)| *byte == (at % 251) as u8));
    assert_eq!((bytes.len() as u64, fault.requests_count()), (SIZE - 10, 7));
}

#[tokio::test(start_paused = true)]
async fn a_resumed_stream_never_mixes_versions() {
    let (fault, retry) = over(Faults::new().cut(1, 1000).change(2));
    let entry = retry.stat("a").await.unwrap();
    assert_eq!(conformance::fetch(&retry, &entry, 0..SIZE).await.unwrap_err().kind, ErrorKind::Changed);
    assert_eq!(fault.requests_count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_silent_connection_is_tried_again() {
    let (fault, _) = over(Faults::new().fail(1, ErrorKind::Transient).fail(2, ErrorKind::Transient));
    let entry = fault.stat("a").await.unwrap();
    // Every try takes as long as it takes to notice a silent connection.
    let slow = Arc::new(Delay::new(fault.clone(), IDLE_TIMEOUT));
    let retry = Retry::new(slow, RetryOptions::default());
    assert_eq!(conformance::fetch(&retry, &entry, 0..SIZE).await.unwrap().len() as u64, SIZE);
    assert_eq!(fault.requests_count(), 4);
    fault.set(Faults::new().random(1, 1000, ErrorKind::Transient));
    let error = conformance::fetch(&retry, &entry, 0..SIZE).await.unwrap_err();
    assert!(error.message.contains("gave up after 3 tries in 30."), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_byte_with_each_answer_is_not_getting_on() {
    let (fault, retry) = over((1..100).fold(Faults::new(), |faults, index| faults.cut(index, 1)));
    let entry = retry.stat("a").await.unwrap();
    let error = conformance::fetch(&retry, &entry, 0..SIZE).await.unwrap_err();
    assert!(error.message.contains("gave up after"), "{error}");
    assert!(fault.requests_count() < 20, "{}", fault.requests_count());
}

/// Sends a byte each second.
#[derive(Debug)]
struct Trickle(MemoryBackend);

#[async_trait]
impl Backend for Trickle {
    fn url(&self) -> String {
        self.0.url()
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        self.0.stat(path).await
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        self.0.list(path).await
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        self.0.read_link(path).await
    }

    async fn fetch(&self, _: &str, _: &Version, extent: Range<u64>) -> Result<ByteStream> {
        let bytes = futures::stream::iter(extent).then(|_| async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(Bytes::from_static(b"x"))
        });
        Ok(bytes.boxed())
    }
}

#[tokio::test(start_paused = true)]
async fn a_trickle_is_given_up() {
    let memory = MemoryBackend::new();
    memory.replace("a", vec![0; SIZE as usize]);
    let retry = Retry::new(Arc::new(Trickle(memory)), RetryOptions::default());
    let entry = retry.stat("a").await.unwrap();
    let start = Instant::now();
    let error = conformance::fetch(&retry, &entry, 0..SIZE).await.unwrap_err();
    assert!(error.message.contains("too slowly"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_is_asked_by_one_request_at_a_time() {
    const READERS: u64 = 32;
    let (fault, retry) = over(Faults::new().random(1, 1000, ErrorKind::Unreachable));
    let retry = Arc::new(retry);
    let readers = (0..READERS).map(|_| {
        let retry = Arc::clone(&retry);
        tokio::spawn(async move { retry.stat("a").await })
    });
    let readers: Vec<_> = readers.collect();
    tokio::time::sleep(Duration::from_secs(20)).await;
    let during = fault.requests_count();
    fault.set(Faults::new());
    let back = Instant::now();
    for reader in readers {
        reader.await.unwrap().unwrap();
    }
    // Each once, and then one at a time after 0.1, 0.2 ... 3.2 s and then 5 s, each between half and whole.
    assert!((READERS + 7..=READERS + 15).contains(&during), "{during}");
    assert_eq!(fault.requests_count(), READERS);
    assert!(back.elapsed() <= Duration::from_secs(5), "{:?}", back.elapsed());
}

/// Fails each request with the error it holds, except those for `a`.
#[derive(Debug)]
struct Broken(MemoryBackend, Error);

#[async_trait]
impl Backend for Broken {
    fn url(&self) -> String {
        self.0.url()
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        if path == "a" { self.0.stat(path).await } else { Err(self.1.clone()) }
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        self.0.list(path).await
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        self.0.read_link(path).await
    }

    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        self.0.fetch(path, version, extent).await
    }
}

fn broken(error: Error, options: RetryOptions) -> Arc<Retry> {
    let memory = MemoryBackend::new();
    memory.replace("a", vec![0; 10]);
    Arc::new(Retry::new(Arc::new(Broken(memory, error)), options))
}

#[tokio::test(start_paused = true)]
async fn an_object_that_always_fails_holds_up_no_other() {
    let retry = broken(Error::new(ErrorKind::Transient, "broken"), RetryOptions::default());
    let other = Arc::clone(&retry);
    let failing = tokio::spawn(async move { other.stat("b").await });
    for _ in 0..290 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let start = Instant::now();
        retry.stat("a").await.unwrap();
        assert_eq!(start.elapsed(), Duration::ZERO);
    }
    let error = failing.await.unwrap().unwrap_err();
    assert!(error.message.contains("gave up after"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_server_says_when_it_is_back() {
    let busy =
        Error { retry_after: Some(Duration::from_secs(7)), ..Error::new(ErrorKind::Busy, "come back later") };
    // Three times within the deadline, and once at its end.
    let retry = broken(busy.clone(), RetryOptions::default());
    let start = Instant::now();
    let error = retry.stat("b").await.unwrap_err();
    assert_eq!(start.elapsed(), Duration::from_secs(30));
    assert!(error.message.contains("gave up after 6 tries in 30.0 s"), "{error}");
    assert_eq!(retry.busy_count(), 6);
    let options = RetryOptions { deadline: Duration::from_secs(3), ..RetryOptions::default() };
    let start = Instant::now();
    broken(busy.clone(), options).stat("b").await.unwrap_err();
    assert_eq!(start.elapsed(), Duration::from_secs(3));
    let at_once = RetryOptions { deadline: Duration::ZERO, ..RetryOptions::default() };
    let error = broken(busy, at_once).stat("b").await.unwrap_err();
    assert!(error.message.contains("gave up after 1 try in 0.0 s"), "{error}");
    assert_eq!(start.elapsed(), Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_goes_away_leaves_its_turn_to_others() {
    let (fault, retry) = over(Faults::new().random(1, 1000, ErrorKind::Unreachable));
    let retry = Arc::new(retry);
    let readers: Vec<_> = (0..8)
        .map(|_| {
            let retry = Arc::clone(&retry);
            tokio::spawn(async move { retry.stat("a").await })
        })
        .collect();
    tokio::time::sleep(Duration::from_secs(10)).await;
    readers[..7].iter().for_each(tokio::task::JoinHandle::abort);
    fault.set(Faults::new());
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert!(readers[7].is_finished());
    assert_eq!(fault.requests_count(), 1);
}
