//! How often a read takes the engine's lock. Only debug builds count it.

use std::future::Future;
use std::io::Read;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use forerun::{Cursor, Forerun, Options, Reader};
use forerun_backend::MemoryBackend;

use crate::gate::pattern;

const MISS_LOCKS_MAX: u64 = 5;
const MIB: usize = 1 << 20;

fn over_memory(bytes: Vec<u8>, options: Options) -> (Forerun, Reader) {
    let memory = MemoryBackend::new();
    memory.replace("a", bytes);
    let forerun = Forerun::over(Arc::new(memory), options).unwrap();
    let reader = forerun.open_blocking("a").unwrap();
    (forerun, reader)
}

/// How often the lock was taken during `work`.
fn locks<T>(forerun: &Forerun, work: impl FnOnce() -> T) -> u64 {
    let before = forerun.lock_count();
    work();
    forerun.lock_count() - before
}

fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("a hit does not wait"),
    }
}

#[test]
fn a_hit_takes_the_lock_once_however_it_is_read() {
    let (forerun, reader) = over_memory(pattern(4 * MIB), Options::default());
    let mut buf = vec![0; 4 * MIB];
    reader.read_at_blocking(&mut buf, 0).unwrap();
    let buf = &mut buf[..4096];
    for offset in [0, 4096, 8192, 3 << 20, 5000] {
        assert_eq!(locks(&forerun, || reader.read_at_blocking(buf, offset).unwrap()), 1, "blocking");
        assert_eq!(locks(&forerun, || ready(reader.read_at(buf, offset)).unwrap()), 1, "awaited");
        assert_eq!(locks(&forerun, || ready(reader.lease(offset, 4096)).unwrap()), 1, "leased");
        assert_eq!(locks(&forerun, || reader.submit(offset, 4096, |lease| drop(lease.unwrap()))), 1);
    }
    let mut cursor = Cursor::new(reader);
    assert_eq!(locks(&forerun, || cursor.read(buf).unwrap()), 1, "by a cursor");
}

#[test]
fn a_miss_of_a_mebibyte_takes_the_lock_five_times_at_most() {
    let (forerun, reader) = over_memory(pattern(MIB), Options::default());
    let mut buf = vec![0; MIB];
    // It is answered last of all, after the end of the last fetch was told.
    let count = locks(&forerun, || reader.read_at_blocking(&mut buf, 0).unwrap());
    assert!(count <= MISS_LOCKS_MAX, "{count} locks");
    assert_eq!(locks(&forerun, || reader.read_at_blocking(&mut buf, 0).unwrap()), 1, "nothing is left to do");
}
