//! A server over storage that the tests control.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use forerun::{Backend, Forerun, Options};
use forerun_serve::http::{Credentials, Server};
use forerun_serve::{Buckets, Limits, Listener, Place};
use tokio::runtime::Runtime;

use super::client::{Connection, Reply};
use super::running::Running;
use super::storage::Storage;
pub(crate) use super::storage::pattern;

pub(crate) const MIB: usize = 1 << 20;

/// A running server.
pub(crate) struct Served {
    pub(crate) storage: Arc<Storage>,
    pub(crate) forerun: Forerun,
    pub(crate) address: SocketAddr,
    pub(crate) running: Running,
}

impl Served {
    /// Serves `objects`, by path, in the bucket `bucket`.
    pub(crate) fn new(objects: &[(&str, Vec<u8>)]) -> Served {
        Served::with(objects, "", Limits::default())
    }

    /// The same for those who have `credentials`, within `limits`.
    pub(crate) fn with(objects: &[(&str, Vec<u8>)], credentials: &str, limits: Limits) -> Served {
        Served::by(objects, credentials, |server| server.with_limits(limits))
    }

    /// The same for those who have `credentials`, by the server that `change` makes.
    pub(crate) fn by(
        objects: &[(&str, Vec<u8>)],
        credentials: &str,
        change: impl FnOnce(Server) -> Server,
    ) -> Served {
        let storage = Storage::of(objects);
        let memory_bytes = 16 * MIB as u64;
        let options =
            Options::default().with_memory_bytes(memory_bytes).with_metadata_ttl(Duration::from_secs(60));
        let forerun = Forerun::over(Arc::clone(&storage) as Arc<dyn Backend>, options).unwrap();
        let mut buckets = Buckets::default();
        buckets.add("bucket", forerun.clone()).unwrap();
        let credentials = if credentials.is_empty() {
            Credentials::default()
        } else {
            Credentials::parse(credentials).unwrap()
        };
        let server = change(Server::new(buckets, credentials).unwrap());
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(Listener::tcp("127.0.0.1:0".parse().unwrap())).unwrap();
        let Place::Tcp(address) = listener.place().unwrap() else { panic!("it has an address") };
        let running = Running::start(runtime, |stopped| async move {
            server.serve(vec![listener], async { stopped.await.unwrap_or_default() }).await;
        });
        Served { storage, forerun, address, running }
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::new(self.address)
    }

    /// The answer to one request, on a connection of its own.
    pub(crate) fn ask(&self, head: &str) -> Reply {
        self.connect().ask(head)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.storage.allowed.add_permits(1 << 20);
    }
}

/// Others read on beside `count` clients of `connect`, which ask for the object `a` and take nothing. Enough of these
/// would fill the engine's memory if each kept a part of it.
pub(crate) fn others_read_beside<C>(count: usize, connect: impl Fn(&Served) -> C) {
    let bytes = pattern(12 * MIB, 1);
    let served = Served::new(&[("a", bytes.clone()), ("b", bytes.clone())]);
    let silent: Vec<C> = (0..count).map(|_| connect(&served)).collect();
    for _ in 0..3 {
        assert!(served.ask("GET /-/bucket/b").body == bytes);
    }
    assert!(served.forerun.memory_bytes() <= 16 * MIB as u64);
    drop(silent);
}

/// A server of the objects `a` and `b` for one client at a time: another is served once that one is cut off.
pub(crate) fn for_one_client(limits: Limits) -> Served {
    Served::with(&[("a", pattern(12 * MIB, 1)), ("b", vec![1])], "", limits.with_connections(1))
}
