//! Storage that fails, and storage that does not answer.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use forerun::{Backend, Entry, Error, ErrorKind, Forerun, Options, PolicyKind, Result, Version};
use forerun_backend::{ByteStream, MemoryBackend};
use tokio::sync::Semaphore;

use super::support::{Mounted, pattern};

const TTL: Duration = Duration::from_secs(1);
const SIZE: usize = 300_000;

const FAILURES: [(&str, ErrorKind, i32); 7] = [
    ("denied", ErrorKind::Denied, 13),
    ("changed", ErrorKind::Changed, 116),
    ("no range", ErrorKind::NoRange, 95),
    ("transient", ErrorKind::Transient, 5),
    ("unreachable", ErrorKind::Unreachable, 5),
    ("permanent", ErrorKind::Permanent, 5),
    ("invalid", ErrorKind::Invalid, 22),
];

/// Objects that fail by their names: `stat NAME` cannot be looked up, `read NAME` cannot be read,
/// and `slow N` is read when the test allows it.
#[derive(Debug)]
struct Troubled {
    objects: MemoryBackend,
    /// Receives a message for every fetch of a slow object.
    waiting: mpsc::Sender<()>,
    allowed: Arc<Semaphore>,
}

impl Troubled {
    fn fail(path: &str, what: &str) -> Result<()> {
        let name = path.strip_prefix(what);
        let failure = FAILURES.iter().find(|(failure, ..)| name == Some(failure));
        failure.map_or(Ok(()), |(_, kind, _)| Err(Error::new(*kind, format!("{path} fails, as it must"))))
    }
}

#[async_trait]
impl Backend for Troubled {
    fn url(&self) -> String {
        "troubled:".to_owned()
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        Troubled::fail(path, "stat ")?;
        self.objects.stat(path).await
    }

    async fn list(&self, path: &str) -> Result<Vec<Entry>> {
        self.objects.list(path).await
    }

    async fn read_link(&self, path: &str) -> Result<Vec<u8>> {
        self.objects.read_link(path).await
    }

    async fn fetch(&self, path: &str, version: &Version, extent: Range<u64>) -> Result<ByteStream> {
        Troubled::fail(path, "read ")?;
        if path.starts_with("slow ") {
            let _ = self.waiting.send(());
            let allowed = self.allowed.acquire().await;
            allowed.expect("the semaphore is never closed").forget();
        }
        self.objects.fetch(path, version, extent).await
    }
}

/// A mount of `names`, the messages of slow fetches, and the semaphore that allows them.
fn mount(names: &[String]) -> (Mounted, mpsc::Receiver<()>, Arc<Semaphore>) {
    let (waiting, told) = mpsc::channel();
    let allowed = Arc::new(Semaphore::new(0));
    let objects = MemoryBackend::new();
    for (seed, name) in names.iter().enumerate() {
        objects.replace(name, pattern(SIZE, seed as u64));
    }
    let backend = Troubled { objects, waiting, allowed: allowed.clone() };
    let options = Options::default().with_policy(PolicyKind::None).with_memory_bytes(64 << 20);
    let forerun = Forerun::over(Arc::new(backend), options).unwrap();
    (Mounted::over(forerun, tempfile::tempdir().unwrap(), TTL), told, allowed)
}

fn errno<T: std::fmt::Debug>(result: io::Result<T>) -> Option<i32> {
    result.unwrap_err().raw_os_error()
}

#[test]
fn a_failure_is_the_error_that_programs_know_for_it() {
    let names: Vec<String> = FAILURES.iter().map(|(name, ..)| format!("read {name}")).collect();
    let (mounted, ..) = mount(&names);
    for (name, _, expected) in FAILURES {
        assert_eq!(errno(fs::metadata(mounted.at(&format!("stat {name}")))), Some(expected), "stat {name}");
        let file = File::open(mounted.at(&format!("read {name}"))).unwrap();
        assert_eq!(errno(file.read_at(&mut [0; 10], 0)), Some(expected), "read {name}");
    }
}

#[test]
fn readers_that_wait_hold_up_nobody_else() {
    // More than the threads that receive requests.
    const SLOW: usize = 12;
    let mut names: Vec<String> = (0..SLOW).map(|index| format!("slow {index}")).collect();
    names.push("fast".to_owned());
    let (mounted, told, allowed) = mount(&names);
    let read = |name: &str| fs::read(mounted.at(name)).unwrap();
    thread::scope(|scope| {
        let slow: Vec<_> = names[..SLOW].iter().map(|name| scope.spawn(|| read(name))).collect();
        for _ in 0..SLOW {
            told.recv_timeout(Duration::from_secs(30)).expect("all of them are fetched at the same time");
        }
        assert!(read("fast") == pattern(SIZE, SLOW as u64));
        assert_eq!(fs::read_dir(mounted.path()).unwrap().count(), SLOW + 1);
        assert!(fs::metadata(mounted.path().join(Path::new("slow 0"))).is_ok());

        allowed.add_permits(Semaphore::MAX_PERMITS);
        for (seed, reader) in slow.into_iter().enumerate() {
            assert!(reader.join().unwrap() == pattern(SIZE, seed as u64), "slow {seed}");
        }
    });
}
