//! A server over storage that the tests control.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use forerun::{Backend, Forerun, Options};
use forerun_serve::nfs::Server;
use forerun_serve::{Buckets, Limits, Listener, Place};
use tokio::runtime::Runtime;

use super::client::Client;
use super::running::Running;
pub(crate) use super::storage::{SLOW_FROM, Storage, pattern};

pub(crate) const MIB: usize = 1 << 20;
pub(crate) const MEMORY_BYTES: u64 = 16 << 20;

/// A running server of the export `data`.
pub(crate) struct Served {
    pub(crate) storage: Arc<Storage>,
    pub(crate) forerun: Forerun,
    pub(crate) address: SocketAddr,
    pub(crate) running: Running,
}

impl Served {
    /// Serves `objects`, by path.
    pub(crate) fn new(objects: &[(&str, Vec<u8>)]) -> Served {
        Served::with(objects, Limits::default())
    }

    /// The same within `limits`.
    pub(crate) fn with(objects: &[(&str, Vec<u8>)], limits: Limits) -> Served {
        Served::over(Storage::of(objects), limits)
    }

    /// Serves `storage`, which an earlier server may have served.
    pub(crate) fn over(storage: Arc<Storage>, limits: Limits) -> Served {
        let options = Options::default().with_memory_bytes(MEMORY_BYTES).with_metadata_ttl(Duration::ZERO);
        let forerun = Forerun::over(Arc::clone(&storage) as Arc<dyn Backend>, options).unwrap();
        let mut buckets = Buckets::default();
        buckets.add("data", forerun.clone()).unwrap();
        buckets.add("Other_2", forerun.clone()).unwrap();
        let server = Server::new(buckets).with_limits(limits);
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(Listener::tcp("127.0.0.1:0".parse().unwrap())).unwrap();
        let Place::Tcp(address) = listener.place().unwrap() else { panic!("it has an address") };
        let running = Running::start(runtime, |stopped| async move {
            server.serve(vec![listener], async { stopped.await.unwrap_or_default() }).await;
        });
        Served { storage, forerun, address, running }
    }

    pub(crate) fn connect(&self) -> Client {
        Client::new(self.address)
    }

    /// Another server of the same storage, in place of this one.
    pub(crate) fn restart(self) -> Served {
        let storage = Arc::clone(&self.storage);
        drop(self);
        Served::over(storage, Limits::default())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.storage.allowed.add_permits(1 << 20);
    }
}
