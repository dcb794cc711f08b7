//! A web server that misbehaves on demand.

use std::ops::Deref;

use bytes::Bytes;
use tokio::runtime::Runtime;

use crate::support::{Mounted, mount};

#[path = "../../../forerun-backend/tests/common/mod.rs"]
mod web;

/// A running server of `file`, as it was given, and of a small `other` one.
pub(crate) struct Site {
    server: web::Server,
    _runtime: Runtime,
}

/// The contents of `other`.
pub(crate) const OTHER: &[u8] = b"another file";

impl Site {
    pub(crate) fn start(file: &[u8]) -> Site {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let tree = [("file", Bytes::copy_from_slice(file)), ("other", Bytes::from_static(OTHER))];
        let tree = tree.map(|(path, bytes)| (path.to_owned(), bytes));
        let server = runtime.block_on(web::Server::start(&tree));
        Site { server, _runtime: runtime }
    }

    /// Mounts it all. Readers wait for a failing server no longer than a test should.
    pub(crate) fn mount(&self) -> Mounted {
        Mounted::start(mount(&["--retry-timeout", "3s", &self.url("")]))
    }

    /// Mounts it all, with the patience of users.
    pub(crate) fn patient_mount(&self) -> Mounted {
        Mounted::start(mount(&[&self.url("")]))
    }
}

impl Deref for Site {
    type Target = web::Server;

    fn deref(&self) -> &web::Server {
        &self.server
    }
}

/// Checks that `mounted`, of a whole site, reads what no one has touched.
pub(crate) fn check_other(mounted: &Mounted) {
    assert_eq!(std::fs::read(mounted.at("other")).unwrap(), OTHER);
}
