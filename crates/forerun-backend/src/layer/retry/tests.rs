mod outages;

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
    // 100, 200 and 400 ms, each reduced by up to half.
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
    // 0.1, 0.2 ... 3.2 s and then 5 s, each reduced by up to half.
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
    // Every try takes as long as a silent connection takes to be noticed.
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
