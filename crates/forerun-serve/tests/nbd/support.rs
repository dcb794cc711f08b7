//! A server over storage that the tests control.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use forerun::{Backend, Forerun, Options, PolicyKind};
use forerun_serve::Listener;
use forerun_serve::nbd::{Exports, Server, Source};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::client::Client;
pub(crate) use super::storage::{SLOW_FROM, Storage};

pub(crate) const MIB: usize = 1 << 20;

/// A running server.
pub(crate) struct Served {
    pub(crate) storage: Arc<Storage>,
    pub(crate) forerun: Forerun,
    pub(crate) socket: PathBuf,
    runtime: Runtime,
    stop: Option<oneshot::Sender<()>>,
    ended: Mutex<mpsc::Receiver<()>>,
    _folder: TempDir,
}

impl Served {
    /// Serves `objects`, by name, in this order.
    pub(crate) fn new(objects: &[(&str, Vec<u8>)]) -> Served {
        Served::with_memory(64 << 20, objects)
    }

    /// The same in so much memory.
    pub(crate) fn with_memory(memory_bytes: u64, objects: &[(&str, Vec<u8>)]) -> Served {
        let (storage, forerun) = engine(memory_bytes, objects);
        Served::over(storage, forerun, memory_bytes)
    }

    /// Serves what `forerun` has.
    pub(crate) fn over(storage: Arc<Storage>, forerun: Forerun, memory_bytes: u64) -> Served {
        Served::source(storage, forerun.clone(), Source::new(forerun, memory_bytes, None))
    }

    /// Serves `source`, which is of `forerun`.
    pub(crate) fn source(storage: Arc<Storage>, forerun: Forerun, source: Source) -> Served {
        Served::by(storage, forerun, Server::new(Exports::new(vec![source])))
    }

    /// The clients of `server`, which serves `forerun`.
    pub(crate) fn by(storage: Arc<Storage>, forerun: Forerun, server: Server) -> Served {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("nbd");
        let runtime = Runtime::new().unwrap();
        let server = server.with_handshake_time_max(Duration::from_secs(2));
        let listener = runtime.block_on(Listener::unix(&socket)).unwrap();
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = mpsc::channel();
        let ended = Mutex::new(ended);
        runtime.spawn(async move {
            let ended = server.serve(vec![listener], async { stopped.await.unwrap_or_default() }).await;
            if ended.is_ok() {
                let _ = end.send(());
            }
        });
        Served { storage, forerun, socket, runtime, stop: Some(stop), ended, _folder: folder }
    }

    /// Connects, and chooses the export `name`.
    pub(crate) fn open(&self, name: &str) -> Client {
        let mut client = Client::unix(&self.socket);
        client.go(name);
        client
    }

    /// The same with structured replies.
    pub(crate) fn open_structured(&self, name: &str) -> Client {
        let mut client = Client::unix(&self.socket).structured();
        client.go(name);
        client
    }

    /// Asks the server to end.
    pub(crate) fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Ends the server, and waits until nothing of it is left.
    pub(crate) fn end(mut self) {
        self.stop();
        assert!(self.ends_within(Duration::from_secs(30)), "the server does not end");
        self.take_runtime().shutdown_timeout(Duration::from_secs(30));
    }

    fn take_runtime(&mut self) -> Runtime {
        let other = tokio::runtime::Builder::new_current_thread().build().unwrap();
        std::mem::replace(&mut self.runtime, other)
    }

    /// Whether the server ends within `time`.
    pub(crate) fn ends_within(&self, time: Duration) -> bool {
        self.ended.lock().unwrap().recv_timeout(time).is_ok()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.storage.allowed.add_permits(1 << 20);
        drop(self.stop.take());
        // Its tasks end at their next wait.
        self.take_runtime().shutdown_background();
    }
}

/// Storage with `objects`, and an engine with so much memory above it.
pub(crate) fn engine(memory_bytes: u64, objects: &[(&str, Vec<u8>)]) -> (Arc<Storage>, Forerun) {
    let storage = Storage::of(objects);
    // Without readahead a test knows which fetches there are.
    let options = Options::default()
        .with_memory_bytes(memory_bytes)
        .with_policy(PolicyKind::None)
        .with_metadata_ttl(Duration::ZERO);
    let forerun = Forerun::over(Arc::clone(&storage) as Arc<dyn Backend>, options).unwrap();
    (storage, forerun)
}

/// `len` bytes that are different at every offset and for every `seed`, and never zero for long.
pub(crate) fn pattern(len: usize, seed: u64) -> Vec<u8> {
    let word =
        |index: u64| (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15 ^ seed.rotate_left(32)).to_le_bytes();
    (0..len.div_ceil(8) as u64).flat_map(word).take(len).collect()
}
