use std::io::Write;
use std::os::fd::OwnedFd;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;

use super::*;
use crate::file::direct::Direct;
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
    // The thread could have ended by now.
    std::thread::sleep(Duration::from_millis(50));
    assert!(owned.upgrade().is_some() && !thread.is_finished());
    writer.write_all(&[1; 1000]).unwrap();
    thread.join().unwrap();
    assert!(owned.upgrade().is_none());
}

#[tokio::test]
async fn a_file_is_opened_and_read() {
    let Some((ring, _thread)) = ring() else { return };
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("file");
    std::fs::write(&name, "0123456789").unwrap();
    let version = version_of(&rustix::fs::stat(&name).unwrap());
    let direct = Arc::new(Direct::new(name.clone()));
    let root = Arc::new(File::open(folder.path()).unwrap());
    let file = ClosedFile { root, path: c"file".into(), name, direct, version };
    let (file, bytes) = ring.begin(file, &(1..5)).await.unwrap();
    assert_eq!(bytes, "1234"[..]);
    assert_eq!(ring.read(file, 5, 10).await.unwrap(), "56789"[..]);
}

#[tokio::test]
async fn a_thread_that_ends_leaves_nobody_waiting() {
    let queue = Arc::new(Queue::new().unwrap());
    let (ring, end) = (Ring { queue: queue.clone() }, ClosedAtEnd(queue));
    let read = || Box::pin(ring.read(source(File::open("/etc/passwd").unwrap()), 0, 4));
    let mut before = read();
    assert!(futures::poll!(&mut before).is_pending());
    drop(end);
    assert_eq!((before.await, read().await), (None, None));
}

#[tokio::test]
async fn a_ring_whose_reads_hang_leaves_others_to_threads() {
    let Some((ring, _thread)) = ring() else { return };
    let pipes: Vec<_> = (0..300).map(|_| std::io::pipe().unwrap()).collect();
    let (readers, writers): (Vec<_>, Vec<_>) = pipes.into_iter().unzip();
    let reads = readers.into_iter().map(|reader| ring.read(source(reader), 0, 1));
    let mut reads: FuturesUnordered<_> = reads.collect();
    for _ in 128..300 {
        assert_eq!(reads.next().await, Some(None));
    }
    assert!(futures::poll!(reads.next()).is_pending());
    // The ends of the pipes let the reads end.
    drop(writers);
    assert_eq!(reads.collect::<Vec<_>>().await, vec![None; 128]);
    let file = source(File::open("/etc/passwd").unwrap());
    assert_eq!(ring.read(file, 0, 4).await.unwrap(), "root"[..]);
}

#[test]
fn a_kernel_without_rings_is_no_error() {
    let refused = Ring::start(|_| Err(rustix::io::Errno::PERM.into()));
    assert!(Ring::or_log(refused, Path::new("/")).is_none());
}
