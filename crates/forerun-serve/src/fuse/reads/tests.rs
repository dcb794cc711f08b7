use std::io::Read;
use std::os::unix::net::UnixStream;

use super::super::session::Channel;
use super::*;

const HEADER_BYTES: usize = 16;

#[test]
fn an_answer_in_many_pieces_arrives_in_order() {
    let (ours, mut kernel) = UnixStream::pair().unwrap();
    let bytes: Vec<u8> = (0..200).collect();
    Reply::new(&Arc::new(Channel::new(ours.into(), None)), 7).pieces(bytes.chunks(3));
    let mut answer = Vec::new();
    kernel.read_to_end(&mut answer).unwrap();
    assert_eq!(answer[HEADER_BYTES..], bytes);
    assert_eq!(answer[..4], ((HEADER_BYTES + bytes.len()) as u32).to_ne_bytes());
}

/// The engine counts its locks with debug assertions alone.
#[cfg(debug_assertions)]
mod locks {
    use std::time::{Duration, SystemTime};

    use forerun::{Entry, Forerun, Options};
    use forerun_backend::MemoryBackend;

    use super::*;
    use crate::fuse::waits::Waits;
    use crate::served::Defaults;

    const LEN: usize = 1 << 20;

    /// One open file, of which nothing is in memory yet, and its bytes.
    fn open() -> (Arc<Tree>, u64, Vec<u8>) {
        let bytes: Vec<u8> = (0..LEN as u32).map(|at| (at ^ at >> 8 ^ at >> 16) as u8).collect();
        let memory = MemoryBackend::new();
        memory.replace("a", bytes.clone());
        let forerun = Forerun::over(Arc::new(memory), Options::default()).unwrap();
        let reader = forerun.open_blocking("a").unwrap();
        let defaults = Defaults { owner: (0, 0), time: SystemTime::UNIX_EPOCH };
        let waits = Arc::new(Waits::new(forerun.clone(), false));
        let tree = Tree::new(forerun, Entry::directory(""), defaults, Duration::ZERO, false, waits);
        let handle = tree.files.insert(OpenFile { ino: 2, route: Route::Engine { reader, runs: None } });
        (Arc::new(tree), handle, bytes)
    }

    /// The answer that the kernel gets for a READ.
    fn read(tree: &Arc<Tree>, handle: u64, offset: u64, len: usize) -> Vec<u8> {
        let (ours, mut kernel) = UnixStream::pair().unwrap();
        let reply = Reply::new(&Arc::new(Channel::new(ours.into(), None)), 7);
        // The kernel takes an answer whole; a socket takes as much as it has room for.
        let taker = std::thread::spawn(move || {
            let mut answer = vec![0; HEADER_BYTES + len];
            kernel.read_exact(&mut answer).unwrap();
            answer
        });
        tree.read(Asker { unique: 7, thread: 0, is_for_cache: true }, handle, offset, len, reply);
        let answer = taker.join().unwrap();
        assert_eq!(answer[..4], ((HEADER_BYTES + len) as u32).to_ne_bytes());
        answer[HEADER_BYTES..].to_vec()
    }

    /// A miss is answered by another thread, which lets go of the tree after the answer.
    fn wait_until_answered(tree: &Arc<Tree>) {
        let start = std::time::Instant::now();
        while Arc::strong_count(tree) > 1 {
            assert!(start.elapsed() < Duration::from_secs(30), "a miss keeps the tree after its answer");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_read_takes_the_lock_once_on_a_hit_and_five_times_at_most_on_a_miss() {
        let (tree, handle, bytes) = open();
        let before = tree.forerun.lock_count();
        assert!(read(&tree, handle, 0, LEN) == bytes);
        wait_until_answered(&tree);
        let count = tree.forerun.lock_count() - before;
        assert!(count <= 5, "{count} locks on a miss");
        for offset in [0, 4096, 70_000] {
            let before = tree.forerun.lock_count();
            assert!(read(&tree, handle, offset, 8192) == bytes[offset as usize..][..8192]);
            assert_eq!(tree.forerun.lock_count() - before, 1, "at {offset}");
            assert_eq!(Arc::strong_count(&tree), 1, "a hit keeps nothing");
        }
    }
}
