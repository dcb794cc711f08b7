//! Every byte equals the source, within the budget, whoever reads how.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use forerun::{Backend, Forerun, Options, PolicyKind, Reader};
use forerun_backend::{MemoryBackend, layer};

use crate::gate::{Random, pattern};

const BUDGET_BYTES: u64 = 4 << 20;

/// One thread's reads: a mix of random places, runs forwards and runs backwards.
fn read_all_over(reader: &Reader, source: &[u8], seed: u64, read_count: usize) {
    let mut random = Random(seed);
    let (mut at, mut step, mut len) = (0usize, 0isize, 1);
    let mut buf = vec![0; 200 << 10];
    for _ in 0..read_count {
        if random.below(8) == 0 {
            at = random.below(source.len() + 10);
            let longest = [buf.len(), 9000][random.below(2)];
            len = 1 + random.below(longest);
            step = [0, len as isize, -(len as isize), 3 * len as isize][random.below(4)];
        }
        let read = reader.read_at_blocking(&mut buf[..len], at as u64).unwrap();
        let wanted = source.get(at..).map_or(&[][..], |rest| &rest[..rest.len().min(len)]);
        assert!(buf[..read] == *wanted, "{len} bytes at {at} differ from the source");
        at = at.saturating_add_signed(step).min(source.len());
    }
}

/// Several threads read each object, while another one watches the budget.
fn check(forerun: &Forerun, readers: &[(Reader, &[u8])], read_count: usize) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut most = 0;
            while !over.load(Ordering::Relaxed) {
                most = most.max(forerun.memory_bytes());
                std::thread::yield_now();
            }
            most
        });
        let threads: Vec<_> = readers
            .iter()
            .flat_map(|reader| [reader, reader])
            .enumerate()
            .map(|(seed, (reader, source))| {
                scope.spawn(move || read_all_over(reader, source, seed as u64, read_count))
            })
            .collect();
        let results: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        over.store(true, Ordering::Relaxed);
        assert!(watcher.join().unwrap() <= BUDGET_BYTES);
        assert!(results.iter().all(|result| result.is_ok()), "a thread failed");
    });
    let counters = forerun.counters();
    assert!(counters.memory_bytes_peak <= BUDGET_BYTES);
    assert_eq!(counters.read_count > 0, counters.read_bytes > 0);
}

fn options(policy: PolicyKind) -> Options {
    Options::default().with_memory_bytes(BUDGET_BYTES).with_policy(policy)
}

#[test]
fn every_policy_reads_what_is_there_from_slow_memory() {
    let sources = [pattern(6 << 20), pattern((1 << 20) + 77)];
    for policy in PolicyKind::ALL {
        let memory = MemoryBackend::new();
        memory.replace("a", sources[0].clone());
        memory.replace("b", sources[1].clone());
        let delay = layer::Delay::new(Arc::new(memory), Duration::from_micros(200));
        let forerun = Forerun::over(Arc::new(delay), options(policy)).unwrap();
        let readers = ["a", "b"].map(|path| forerun.open_blocking(path).unwrap());
        let [a, b] = readers;
        check(&forerun, &[(a, &sources[0]), (b, &sources[1])], 150);
    }
}

#[test]
fn files_are_read_through_their_url() {
    let directory = tempfile::tempdir().unwrap();
    let source = pattern((9 << 20) + 4097);
    std::fs::write(directory.path().join("large.bin"), &source).unwrap();
    let url = directory.path().to_str().unwrap();
    let forerun = Forerun::connect_blocking(url, options(PolicyKind::Adaptive)).unwrap();
    assert_eq!(forerun.object(), None);
    let reader = forerun.open_blocking("large.bin").unwrap();
    check(&forerun, &[(reader, &source)], 300);

    let single = forerun::open_blocking(&format!("{url}/large.bin")).unwrap();
    let mut all = vec![0; source.len() + 5];
    assert_eq!(single.read_at_blocking(&mut all, 0).unwrap(), source.len());
    assert!(all[..source.len()] == source);
    assert_eq!(single.size(), source.len() as u64);
    assert_eq!(single.entry().path, "large.bin");
}

#[test]
fn the_end_of_an_object_and_an_empty_one() {
    let memory = Arc::new(MemoryBackend::new());
    memory.replace("empty", "");
    memory.replace("short", "abc");
    let forerun = Forerun::over(memory.clone() as Arc<dyn Backend>, Options::default()).unwrap();
    let [empty, short] = ["empty", "short"].map(|path| forerun.open_blocking(path).unwrap());
    let mut buf = [7; 4];
    assert_eq!(empty.read_at_blocking(&mut buf, 0).unwrap(), 0);
    assert_eq!(short.read_at_blocking(&mut buf, 3).unwrap(), 0);
    assert_eq!(short.read_at_blocking(&mut buf, u64::MAX).unwrap(), 0);
    assert_eq!(short.read_at_blocking(&mut [], 0).unwrap(), 0);
    assert_eq!((short.read_at_blocking(&mut buf, 1).unwrap(), &buf), (2, b"bc\x07\x07"));
}
