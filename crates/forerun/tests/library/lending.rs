//! Readahead that a front end copies into a cache of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use forerun::{Class, Extent, Forerun, Options, PolicyKind, Reader};
use forerun_backend::MemoryBackend;

use crate::gate::pattern;

const SIZE: u64 = 8 << 20;
const PAGE: u64 = 4096;

/// A reader of `source` that has read its first pages, and what was read ahead for it.
fn begun(source: &[u8]) -> (Forerun, Reader) {
    let memory = MemoryBackend::new();
    memory.replace("a", source.to_vec());
    let options = Options::default().with_policy(PolicyKind::Adaptive);
    let forerun = Forerun::over(Arc::new(memory), options).unwrap();
    let reader = forerun.open_blocking("a").unwrap();
    let mut page = [0; PAGE as usize];
    (0..4).for_each(|index| _ = reader.read_at_blocking(&mut page, index * PAGE).unwrap());
    let until = Instant::now() + Duration::from_secs(60);
    while unread(&reader) == 0 {
        assert!(Instant::now() < until, "nothing was read ahead");
        std::thread::yield_now();
    }
    (forerun, reader)
}

fn unread(reader: &Reader) -> u64 {
    reader.unread_bytes(Extent::between(4 * PAGE, SIZE), false)
}

#[test]
fn a_peek_shows_the_bytes_and_is_no_read() {
    let source = pattern(SIZE as usize);
    let (forerun, reader) = begun(&source);
    let used = || forerun.readahead().of(Class::Forward).in_time_bytes;
    let before = used();
    let ahead = Extent::new(4 * PAGE, PAGE);
    let bytes = reader.peek(ahead, |lease| lease.to_contiguous().into_owned()).expect("it is in memory");
    assert!(bytes == source[ahead.offset as usize..ahead.end() as usize]);
    assert!(unread(&reader) > 0, "it is unread still");
    assert_eq!(used(), before);
    reader.consume(&[ahead]);
    assert_eq!(unread(&reader), 0, "there is no unread byte at its start any more");
    assert_eq!(reader.unread_bytes(Extent::between(0, 5 * PAGE), true), 0);
    assert_eq!(used(), before + PAGE);
}

#[test]
fn nothing_is_fetched_for_a_peek() {
    let source = pattern(SIZE as usize);
    let (forerun, reader) = begun(&source);
    let far = Extent::new(SIZE - PAGE, PAGE);
    assert!(reader.peek(far, |_| ()).is_none());
    assert_eq!(reader.unread_bytes(far, false), 0);
    assert!(reader.peek(Extent::new(SIZE, PAGE), |_| ()).is_none(), "past the end");
    drop(forerun);
}
