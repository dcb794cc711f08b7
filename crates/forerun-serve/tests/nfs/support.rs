//! A server over storage that the tests control.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use forerun::{Backend, Forerun, Options};
use forerun_serve::nfs::Server;
use forerun_serve::{Buckets, Limits, Listener, Place};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::client::Client;
pub(crate) use super::storage::{SLOW_FROM, Storage};

pub(crate) const MIB: usize = 1 << 20;
pub(crate) const MEMORY_BYTES: u64 = 16 << 20;

/// A running server of the export `data`.
pub(crate) struct Served {
    pub(crate) storage: Arc<Storage>,
    pub(crate) forerun: Forerun,
    pub(crate) address: SocketAddr,
    runtime: Option<Runtime>,
    stop: Option<oneshot::Sender<()>>,
    ended: Mutex<mpsc::Receiver<()>>,
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
        buckets.add("data", forerun.clone(), MEMORY_BYTES).unwrap();
        buckets.add("Other_2", forerun.clone(), MEMORY_BYTES).unwrap();
        let server = Server::new(buckets).with_limits(limits);
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(Listener::tcp("127.0.0.1:0".parse().unwrap())).unwrap();
        let Place::Tcp(address) = listener.place().unwrap() else { panic!("it has an address") };
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = mpsc::channel();
        let ended = Mutex::new(ended);
        runtime.spawn(async move {
            server.serve(vec![listener], async { stopped.await.unwrap_or_default() }).await;
            let _ = end.send(());
        });
        Served { storage, forerun, address, runtime: Some(runtime), stop: Some(stop), ended }
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

    /// Asks the server to end.
    pub(crate) fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
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
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// `len` bytes that are different at every offset and for every `seed`.
pub(crate) fn pattern(len: usize, seed: u64) -> Vec<u8> {
    let word =
        |index: u64| (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15 ^ seed.rotate_left(32)).to_le_bytes();
    (0..len.div_ceil(8) as u64).flat_map(word).take(len).collect()
}
