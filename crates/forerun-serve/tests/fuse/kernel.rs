//! Counts the kernel's requests, and checks the bytes that are pushed into its page cache.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

use forerun::{Forerun, Options};
use forerun_backend::MemoryBackend;
use forerun_backend::layer::{Delay, Rate};
use memmap2::{Advice, Mmap};

use super::support::{Mounted, pattern};

const TTL: Duration = Duration::from_secs(1);
const PAGE_BYTES: usize = 4096;
const ESTALE: i32 = 116;

fn map(file: &File) -> Mmap {
    // SAFETY: the mount is read-only, and an inode is one version for ever.
    unsafe { Mmap::map(file) }.unwrap()
}

/// A mount of `size` bytes in memory, read ahead by the default policy.
fn mount(bytes: Vec<u8>) -> (Mounted, Forerun) {
    let objects = MemoryBackend::new();
    objects.replace("file", bytes);
    let forerun = Forerun::over(Arc::new(objects), Options::default()).unwrap();
    (Mounted::over(forerun.clone(), tempfile::tempdir().unwrap(), TTL), forerun)
}

#[test]
fn pages_touched_at_random_cost_a_page_each() {
    const SIZE: usize = 1 << 30;
    const TOUCHES: usize = 2000;
    let (mounted, forerun) = mount(vec![7; SIZE]);
    for advice in [Advice::Normal, Advice::Random] {
        let before = (mounted.mount.asked(), forerun.counters());
        let memory = map(&File::open(mounted.at("file")).unwrap());
        memory.advise(advice).unwrap();
        let mut state = if advice == Advice::Normal { 1_u64 } else { 2 };
        for _ in 0..TOUCHES {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            assert_eq!(memory[(state >> 33) as usize % (SIZE / PAGE_BYTES) * PAGE_BYTES], 7);
        }
        let (asked, counters) = (mounted.mount.asked(), forerun.counters());
        let asked = asked.read_bytes - before.0.read_bytes;
        let fetched = counters.demand_bytes + counters.readahead_bytes
            - (before.1.demand_bytes + before.1.readahead_bytes);
        let touched = (TOUCHES * PAGE_BYTES) as u64;
        assert!(asked * 10 <= touched * 12, "{advice:?}: {asked} bytes asked for, {touched} touched");
        // Where the storage seems slow, a few regions are worth a guess.
        assert!(fetched * 10 <= asked * 11, "{advice:?}: {fetched} bytes fetched, {asked} asked for");
        assert_eq!(mounted.mount.asked().pushed_bytes, 0, "{advice:?}");
    }
}

#[test]
fn readers_of_small_pieces_hardly_ask_and_get_the_right_bytes() {
    const SIZE: usize = (16 << 20) + 123;
    let bytes = pattern(SIZE, 3);
    let (mounted, _forerun) = mount(bytes.clone());
    let file = File::open(mounted.at("file")).unwrap();
    let memory = map(&file);
    std::thread::scope(|scope| {
        // Mapped forward, small reads forward, and random reads, at once.
        scope.spawn(|| {
            memory.chunks(PAGE_BYTES).zip(bytes.chunks(PAGE_BYTES)).for_each(|(a, b)| assert!(a == b))
        });
        scope.spawn(|| check(&file, &bytes, 0..SIZE / PAGE_BYTES + 1));
        scope.spawn(|| check(&file, &bytes, (0..2000).map(|step| step * 7919 % (SIZE / PAGE_BYTES))));
    });
    let asked = mounted.mount.asked();
    assert!(asked.pushed_bytes > 0, "{asked:?}");
    assert_eq!(file.metadata().unwrap().len(), SIZE as u64);
}

#[test]
fn pages_of_mapped_slices_that_are_touched_downward_are_pushed() {
    const SLICE_PAGES: usize = 1024;
    let bytes = pattern(32 << 20, 5);
    let (mounted, _forerun) = mount(bytes.clone());
    let memory = map(&File::open(mounted.at("file")).unwrap());
    let page = |index: usize| index * PAGE_BYTES..(index + 1) * PAGE_BYTES;
    for slice in 0..bytes.len() / PAGE_BYTES / SLICE_PAGES {
        for index in (slice * SLICE_PAGES..(slice + 1) * SLICE_PAGES).rev() {
            assert!(memory[page(index)] == bytes[page(index)], "page {index}");
        }
    }
    let asked = mounted.mount.asked();
    let all = bytes.len() as u64;
    assert!(asked.pushed_bytes > all / 2, "{asked:?}");
    assert!(asked.read_bytes < all / 2, "{asked:?}");
}

#[test]
fn parts_at_even_steps_are_read_ahead_alone_and_as_far_as_the_reader_goes() {
    const STEPS: usize = 400;
    const STEP: usize = 1 << 20;
    const PART: usize = 64 << 10;
    let objects = MemoryBackend::new();
    objects.replace("file", vec![7; STEPS * STEP]);
    // A request costs as much as 200 KB: less than what a step leaves out.
    let slow = Rate::new(Arc::new(objects), None, Some(100_000_000));
    let slow = Delay::new(Arc::new(slow), Duration::from_millis(2));
    let options = Options::default().with_memory_bytes(64 << 20);
    let forerun = Forerun::over(Arc::new(slow), options).unwrap();
    let mounted = Mounted::over(forerun.clone(), tempfile::tempdir().unwrap(), TTL);
    let file = File::open(mounted.at("file")).unwrap();
    let mut part = vec![0; PART];
    for step in 0..STEPS {
        file.read_exact_at(&mut part, (step * STEP) as u64).unwrap();
        assert!(part.iter().all(|byte| *byte == 7), "step {step}");
    }
    let counters = forerun.counters();
    let (fetched, read) = (counters.demand_bytes + counters.readahead_bytes, (STEPS * PART) as u64);
    // The kernel reads more of the first part, and that is no part like the others.
    assert!(counters.demand_count < 20, "{counters:?}");
    assert!(fetched * 10 <= read * 12, "{fetched} bytes fetched, {read} read");
}

#[test]
fn readers_that_meet_in_one_file_from_both_ends_do_not_deadlock() {
    const PAGES: usize = 4096;
    let bytes = pattern(PAGES * PAGE_BYTES, 6);
    for _ in 0..4 {
        let (mounted, _forerun) = mount(bytes.clone());
        let memory = map(&File::open(mounted.at("file")).unwrap());
        let touch = |pages: &mut dyn Iterator<Item = usize>| {
            for page in pages {
                let at = page * PAGE_BYTES;
                assert!(memory[at..at + PAGE_BYTES] == bytes[at..at + PAGE_BYTES], "page {page}");
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| touch(&mut (0..PAGES)));
            scope.spawn(|| touch(&mut (0..PAGES).rev()));
            scope.spawn(|| touch(&mut (PAGES / 2..PAGES)));
            scope.spawn(|| touch(&mut (0..PAGES / 2).rev()));
        });
        assert!(mounted.mount.asked().pushed_bytes > 0);
    }
}

/// Reads each of `pages` and compares.
fn check(file: &File, bytes: &[u8], pages: impl IntoIterator<Item = usize>) {
    let mut buffer = [0; PAGE_BYTES];
    for page in pages {
        let at = page * PAGE_BYTES;
        let len = file.read_at(&mut buffer, at as u64).unwrap();
        assert!(buffer[..len] == bytes[at..(at + PAGE_BYTES).min(bytes.len())], "page {page}");
    }
}

#[test]
fn no_push_mixes_versions_of_a_file_that_is_replaced_and_shortened() {
    const VERSIONS: u64 = 20;
    const SIZE: usize = 4 << 20;
    let versions: Vec<Vec<u8>> =
        (0..VERSIONS).map(|seed| pattern(SIZE - seed as usize * 100_001, seed)).collect();
    let mounted = Mounted::new(Duration::ZERO, Duration::ZERO, |root| {
        fs::write(root.join("file"), &versions[0]).unwrap();
    });
    let source = mounted.source.path();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for bytes in &versions {
                fs::write(source.join("in the making"), bytes).unwrap();
                fs::rename(source.join("in the making"), source.join("file")).unwrap();
            }
        });
        let mut last_round = false;
        while !last_round {
            last_round = writer.is_finished();
            let Ok(file) = File::open(mounted.at("file")) else { continue };
            if let Some(bytes) = read_small(&file) {
                assert!(versions.contains(&bytes), "{} bytes of no version", bytes.len());
            }
        }
    });
    let file = File::open(mounted.at("file")).unwrap();
    assert!(read_small(&file).as_ref() == versions.last());
}

/// Reads `file` page by page; none if it was replaced meanwhile.
fn read_small(file: &File) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut buffer = [0; PAGE_BYTES];
    loop {
        match file.read_at(&mut buffer, bytes.len() as u64) {
            Ok(0) => return Some(bytes),
            Ok(len) => bytes.extend_from_slice(&buffer[..len]),
            Err(error) => {
                assert_eq!(error.raw_os_error(), Some(ESTALE), "{error}");
                return None;
            }
        }
    }
}
