//! Readers that have a place.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use forerun::{Cursor, ErrorKind, Forerun, Options};
use forerun_backend::MemoryBackend;
use futures::FutureExt;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use crate::gate::{gate, over, pattern};

#[test]
fn a_cursor_reads_and_seeks_as_a_file_does() {
    let source = pattern(3 << 20);
    let memory = MemoryBackend::new();
    memory.replace("a", source.clone());
    let forerun = Forerun::over(Arc::new(memory), Options::default()).unwrap();
    let mut cursor = Cursor::new(forerun.open_blocking("a").unwrap());
    let mut all = Vec::new();
    assert_eq!(Read::read_to_end(&mut cursor, &mut all).unwrap(), source.len());
    assert!(all == source);
    assert_eq!(Seek::seek(&mut cursor, SeekFrom::End(-5)).unwrap(), source.len() as u64 - 5);
    let mut tail = [0; 5];
    Read::read_exact(&mut cursor, &mut tail).unwrap();
    assert_eq!(tail[..], source[source.len() - 5..]);
    let error = Seek::seek(&mut cursor, SeekFrom::Current(i64::MIN)).unwrap_err();
    assert_eq!((error.kind(), cursor.position()), (std::io::ErrorKind::InvalidInput, source.len() as u64));

    futures::executor::block_on(async {
        let (mut cursor, mut all) = (Cursor::new(cursor.reader().clone()), Vec::new());
        AsyncReadExt::read_to_end(&mut cursor, &mut all).await.unwrap();
        assert!(all == source);
        assert_eq!(AsyncSeekExt::seek(&mut cursor, SeekFrom::Start(7)).await.unwrap(), 7);
        assert_eq!(AsyncReadExt::read_u8(&mut cursor).await.unwrap(), source[7]);
        assert_eq!(AsyncSeekExt::seek(&mut cursor, SeekFrom::Start(u64::MAX)).await.unwrap(), u64::MAX);
        assert_eq!(AsyncReadExt::read(&mut cursor, &mut [0; 9]).await.unwrap(), 0);
    });
}

#[test]
fn a_read_goes_on_with_a_smaller_buffer_and_ends_with_a_seek() {
    let source = pattern(64 << 10);
    let (gate, requests) = gate("a", source.clone());
    let forerun = over(&gate);
    let mut cursor = Cursor::new(forerun.open_blocking("a").unwrap());
    let mut buf = [0; 4096];
    assert!(AsyncReadExt::read(&mut cursor, &mut buf).now_or_never().is_none());
    requests.next().send_all();
    let read = futures::executor::block_on(AsyncReadExt::read(&mut cursor, &mut buf[..10]));
    assert_eq!((read.unwrap(), &buf[..10]), (10, &source[..10]));

    Seek::seek(&mut cursor, SeekFrom::Start(8192)).unwrap();
    assert!(AsyncReadExt::read(&mut cursor, &mut buf).now_or_never().is_none());
    Seek::seek(&mut cursor, SeekFrom::Start(20)).unwrap();
    let read = AsyncReadExt::read(&mut cursor, &mut buf[..10]).now_or_never();
    assert_eq!((read.unwrap().unwrap(), &buf[..10]), (10, &source[20..30]));
}

#[test]
fn an_error_of_a_cursor_holds_our_error() {
    let (gate, requests) = gate("a", pattern(4096));
    let forerun = over(&gate);
    let mut cursor = Cursor::new(forerun.open_blocking("a").unwrap());
    let thread = std::thread::spawn(move || Read::read(&mut cursor, &mut [0; 10]).unwrap_err());
    requests.next().fail(ErrorKind::Denied, "no");
    let error = thread.join().unwrap();
    assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
    let ours = error.get_ref().and_then(|inner| inner.downcast_ref::<forerun::Error>());
    assert_eq!(ours.map(|ours| ours.message.as_str()), Some("no"));
}
