use std::io::Write;
use std::os::fd::OwnedFd;

use super::*;
use crate::file::version_of;

/// A ring and its thread, where the kernel gives one.
fn ring() -> Option<(Ring, JoinHandle<()>)> {
    let started = Ring::start(Kernel::new);
    if let Err(error) = &started {
        eprintln!("not tested: the kernel gives no io_uring: {error}");
    }
    started.ok()
}

fn source(file: impl Into<OwnedFd>) -> Arc<VersionedFile> {
    let file = File::from(file.into());
    let version = version_of(&rustix::fs::fstat(&file).unwrap());
    Arc::new(VersionedFile::new(file, "file".into(), None, version))
}

#[tokio::test]
async fn a_read_that_nobody_waits_for_keeps_its_memory_and_its_thread_until_the_kernel_is_done() {
    let Some((ring, thread)) = ring() else { return };
    let (reader, mut writer) = std::io::pipe().unwrap();
    let pipe = source(reader);
    let owned = Arc::downgrade(&pipe);
    let mut read = Box::pin(ring.read(pipe, 0, 4096));
    assert!(futures::poll!(&mut read).is_pending());
    // Jobs begin in their order. So the one before has begun.
    let file = source(File::open("/etc/passwd").unwrap());
    assert_eq!(ring.read(file, 0, 4).await.unwrap(), "root"[..]);
    drop(read);
    drop(ring);
    assert!(owned.upgrade().is_some() && !thread.is_finished());
    writer.write_all(&[1; 1000]).unwrap();
    writer.write_all(&[2; 3096]).unwrap();
    thread.join().unwrap();
    assert!(owned.upgrade().is_none());
}

#[tokio::test]
async fn nobody_waits_for_a_thread_that_has_ended() {
    let Some((ring, thread)) = ring() else { return };
    ring.queue.close();
    thread.join().unwrap();
    assert_eq!(ring.read(source(File::open("/etc/passwd").unwrap()), 0, 4).await, None);
}

#[tokio::test]
async fn more_reads_than_the_ring_has_entries_wait_for_their_turn() {
    let Some((ring, _thread)) = ring() else { return };
    let pipes: Vec<_> = (0..300).map(|_| std::io::pipe().unwrap()).collect();
    let (readers, writers): (Vec<_>, Vec<_>) = pipes.into_iter().unzip();
    let reads = readers.into_iter().map(|reader| ring.read(source(reader), 0, 1)).collect::<Vec<_>>();
    let mut reads = Box::pin(futures::future::join_all(reads));
    assert!(futures::poll!(&mut reads).is_pending());
    // The ends of the pipes let the reads end.
    drop(writers);
    assert!(reads.await.iter().all(Option::is_none));
    let file = source(File::open("/etc/passwd").unwrap());
    assert_eq!(ring.read(file, 0, 4).await.unwrap(), "root"[..]);
}

#[test]
fn a_short_read_goes_on_where_it_ended() {
    let mut buffer = PieceBuffer::new(100, 10, false);
    assert_eq!((buffer.room().0, buffer.room().1.len()), (100, 10));
    buffer.room().1[..4].fill(1);
    let mut buffer = buffer.filled_by(4).unwrap_err();
    assert_eq!((buffer.room().0, buffer.room().1.len()), (104, 6));
    buffer.room().1.fill(2);
    assert_eq!(buffer.filled_by(6).unwrap(), [1, 1, 1, 1, 2, 2, 2, 2, 2, 2][..]);
}
