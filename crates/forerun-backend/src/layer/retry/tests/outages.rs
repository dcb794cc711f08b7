//! Requests while a store fails them all, or keeps failing one object.

use super::*;

#[tokio::test(start_paused = true)]
async fn one_request_at_a_time_probes_a_store_in_an_outage() {
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
    // Each once, then one at a time after 0.1, 0.2 ... 3.2 s and 5 s, each reduced by up to half.
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
    assert_eq!(retry.try_counts(), TryCounts { busy: 6, again: 5 });
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
async fn a_dropped_request_lets_another_probe() {
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
