use std::io::Write;
use std::os::unix::fs::symlink;

use futures::{StreamExt, TryStreamExt};

use super::*;

fn tree() -> (tempfile::TempDir, FileBackend) {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("sub")).unwrap();
    std::fs::write(directory.path().join("file"), vec![7; 3 << 20]).unwrap();
    symlink("/etc", directory.path().join("link")).unwrap();
    let backend = FileBackend::new(directory.path()).unwrap();
    (directory, backend)
}

async fn kind_of_fetch(backend: &FileBackend, entry: &Entry) -> ErrorKind {
    backend.fetch(&entry.path, &entry.version, 0..entry.size).await.map(|_| ()).unwrap_err().kind
}

#[tokio::test]
async fn links_are_shown_and_not_followed() {
    let (_directory, backend) = tree();
    let link = backend.stat("link").await.unwrap();
    assert_eq!((link.kind, link.size), (Kind::Symlink, 4));
    assert_eq!(backend.read_link("link").await.unwrap(), b"/etc");
    assert_eq!(backend.stat("link/passwd").await.unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(backend.stat("file/x").await.unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(backend.read_link("file").await.unwrap_err().kind, ErrorKind::Invalid);
    assert_eq!(kind_of_fetch(&backend, &link).await, ErrorKind::Changed);
    let passwd = FileBackend::new("/etc").unwrap().stat("passwd").await.unwrap();
    let passwd = Entry { path: "link/passwd".into(), ..passwd };
    for ring in [SharedRing::default(), SharedRing::none()] {
        let backend = FileBackend { ring, ..backend.clone() }.with_direct(true);
        assert_eq!(kind_of_fetch(&backend, &passwd).await, ErrorKind::NotFound);
    }
}

#[tokio::test]
async fn special_files_and_undecodable_names_are_not_shown() {
    let (directory, backend) = tree();
    let pipe = directory.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
    assert_eq!(backend.stat("pipe").await.unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(backend.list("").await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_file_written_or_cut_between_pieces_is_changed() {
    for cut in [false, true] {
        let (directory, backend) = tree();
        let entry = backend.stat("file").await.unwrap();
        let mut stream = backend.fetch("file", &entry.version, 0..entry.size).await.unwrap();
        assert_eq!(stream.try_next().await.unwrap().unwrap().len() as u64, 1 << 20);
        let mut file = File::options().append(true).open(directory.path().join("file")).unwrap();
        if cut {
            file.set_len(10).unwrap()
        } else {
            file.write_all(b"more").unwrap()
        }
        assert_eq!(stream.try_next().await.unwrap_err().kind, ErrorKind::Changed);
        assert_eq!(kind_of_fetch(&backend, &entry).await, ErrorKind::Changed);
    }
}

#[tokio::test]
async fn a_replaced_file_is_changed_and_a_removed_one_is_gone() {
    let (directory, backend) = tree();
    let entry = backend.stat("file").await.unwrap();
    std::fs::write(directory.path().join("new"), vec![8; 3 << 20]).unwrap();
    std::fs::rename(directory.path().join("new"), directory.path().join("file")).unwrap();
    assert_eq!(kind_of_fetch(&backend, &entry).await, ErrorKind::Changed);
    std::fs::remove_file(directory.path().join("file")).unwrap();
    assert_eq!(kind_of_fetch(&backend, &entry).await, ErrorKind::NotFound);
}

#[tokio::test]
async fn a_local_file_is_the_version_that_was_asked_for_and_stays_it_when_it_is_replaced() {
    let (directory, backend) = tree();
    let entry = backend.stat("file").await.unwrap();
    let file = backend.open_local("file", &entry.version).await.unwrap().unwrap();
    std::fs::write(directory.path().join("new"), "new").unwrap();
    std::fs::rename(directory.path().join("new"), directory.path().join("file")).unwrap();
    assert_eq!(file.metadata().unwrap().len(), entry.size);
    let of = async |entry: &Entry| {
        backend.open_local(&entry.path, &entry.version).await.map(|_| ()).unwrap_err().kind
    };
    assert_eq!(of(&entry).await, ErrorKind::Changed);
    assert_eq!(of(&backend.stat("link").await.unwrap()).await, ErrorKind::Changed);
    std::fs::remove_file(directory.path().join("file")).unwrap();
    assert_eq!(of(&entry).await, ErrorKind::NotFound);
}

#[test]
fn a_root_that_is_missing_or_a_file_says_so() {
    let (directory, _backend) = tree();
    let missing = FileBackend::new(directory.path().join("nowhere")).unwrap_err();
    assert_eq!(missing.kind, ErrorKind::NotFound);
    assert!(missing.message.contains("nowhere"), "{missing}");
    assert_eq!(FileBackend::new(directory.path().join("file")).unwrap_err().kind, ErrorKind::NotADirectory);
}

/// The file with a bad block is this program's own memory, beyond the end of the stack.
#[tokio::test]
async fn bytes_before_a_bad_block_arrive_before_the_error() {
    const GOOD: u64 = 4096;
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let stack = maps.lines().find(|line| line.ends_with("[stack]")).unwrap();
    let (_, end) = stack.split_once(' ').unwrap().0.split_once('-').unwrap();
    let end = u64::from_str_radix(end, 16).unwrap();
    let memory = File::open("/proc/self/mem").unwrap();
    let version = version_of(&rustix::fs::fstat(&memory).unwrap());
    let extent = end - GOOD..end + GOOD;
    let source = VersionedFile::new(memory, "memory".into(), None, version);
    let first = source.read(extent.start, extent.end).unwrap();
    let mut stream = read::stream(SharedRing::default(), Arc::new(source), first, extent);
    assert_eq!(stream.try_next().await.unwrap().unwrap().len() as u64, GOOD);
    let error = stream.try_next().await.unwrap_err();
    assert!(error.kind == ErrorKind::Permanent && error.message.contains("memory"), "{error}");
}

#[tokio::test]
async fn direct_reads_bring_the_same_bytes_or_are_given_up() {
    // The bytes do not end with a block.
    let bytes: Vec<u8> = (0..(2 << 20) + 777_u32).map(|at| (at / 3) as u8).collect();
    for parent in [std::env::temp_dir(), "/dev/shm".into()] {
        let directory = tempfile::tempdir_in(parent).unwrap();
        std::fs::write(directory.path().join("file"), &bytes).unwrap();
        let backend = FileBackend::new(directory.path()).unwrap().with_direct(true);
        let entry = backend.stat("file").await.unwrap();
        for extent in [0..entry.size, 4096..8192, 5001..5002, 1_000_000..entry.size - 1] {
            let read = backend.fetch("file", &entry.version, extent.clone()).await.unwrap();
            let read: Vec<bytes::Bytes> = read.try_collect().await.unwrap();
            assert!(read.concat() == bytes[extent.start as usize..extent.end as usize], "{extent:?}");
        }
    }
}

/// The kernel computes the files of `/proc`, and reads none of them directly.
#[tokio::test]
async fn a_file_system_that_refuses_direct_reads_is_read_through_the_page_cache() {
    let backend = FileBackend::new("/proc/self").unwrap().with_direct(true);
    let direct = backend.direct.clone().unwrap();
    let file = backend.open_now("auxv").unwrap();
    assert!(!direct.is_refused());
    assert!(!direct.begin(&file));
    assert!(direct.is_refused());
    // A read that began before is not direct any more.
    let version = version_of(&rustix::fs::fstat(&file).unwrap());
    let source = VersionedFile::new(file, "auxv".into(), Some(direct), version);
    assert_eq!(source.read(0, 16).unwrap().len(), 16);
}

/// Reads of all sizes, through the page cache and past it, with a ring and without.
#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_reads_at_once_bring_the_right_bytes() {
    let (directory, backend) = tree();
    let bytes: Vec<u8> =
        (0..(3 << 20) + 777_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 23) as u8).collect();
    std::fs::write(directory.path().join("file"), &bytes).unwrap();
    let entry = backend.stat("file").await.unwrap();
    for (ring, is_direct) in
        [(SharedRing::default(), true), (SharedRing::none(), true), (SharedRing::none(), false)]
    {
        let backend = FileBackend { ring, ..backend.clone() }.with_direct(is_direct);
        let reads = (0..4000_u64).map(|at| {
            let start = at * 65_537 % entry.size;
            let extent = start..(start + at * at % 30_000 + 1).min(entry.size);
            let (backend, version) = (&backend, &entry.version);
            async move {
                let stream = backend.fetch("file", version, extent.clone()).await.unwrap();
                let pieces: Vec<bytes::Bytes> = stream.try_collect().await.unwrap();
                (extent, pieces.concat())
            }
        });
        let mut reads = futures::stream::iter(reads).buffer_unordered(500);
        while let Some((extent, read)) = reads.next().await {
            assert!(read == bytes[extent.start as usize..extent.end as usize], "{extent:?}");
        }
    }
}
