//! A server over storage that the tests control.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forerun::{Backend, Forerun, Options, PolicyKind};
use forerun_serve::Listener;
use forerun_serve::nbd::{Exports, Server, Source};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::client::Client;
use super::running::Running;
pub(crate) use super::storage::{SLOW_FROM, Storage, pattern};

pub(crate) const MIB: usize = 1 << 20;

/// A running server.
pub(crate) struct Served {
    pub(crate) storage: Arc<Storage>,
    pub(crate) forerun: Forerun,
    pub(crate) socket: PathBuf,
    pub(crate) running: Running,
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
        Served::over(storage, forerun)
    }

    /// Serves what `forerun` has.
    pub(crate) fn over(storage: Arc<Storage>, forerun: Forerun) -> Served {
        Served::source(storage, forerun.clone(), Source::new(forerun, None))
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
        let listener = runtime.block_on(Listener::unix(&socket)).unwrap();
        let running = Running::start(runtime, |stopped| async move {
            server.serve(vec![listener], async { stopped.await.unwrap_or_default() }).await.unwrap();
        });
        Served { storage, forerun, socket, running, _folder: folder }
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

    /// Ends the server, and waits until nothing of it is left.
    pub(crate) fn end(mut self) {
        self.running.stop();
        assert!(self.running.ends_within(Duration::from_secs(30)), "the server does not end");
        self.running.runtime.take().unwrap().shutdown_timeout(Duration::from_secs(30));
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.storage.allowed.add_permits(1 << 20);
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
