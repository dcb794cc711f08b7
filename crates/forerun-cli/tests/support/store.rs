//! An S3 server.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::buckets;
use super::mounted::mount;

/// A running server of one bucket, called `bucket`, whose objects are files. It
/// checks signatures.
pub(crate) struct Store {
    pub(crate) endpoint: String,
    root: TempDir,
    _runtime: Runtime,
}

impl Store {
    /// Starts it with an empty bucket.
    pub(crate) fn start() -> Store {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("bucket")).unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let endpoint = runtime.block_on(buckets::serve(root.path()));
        Store { endpoint, root, _runtime: runtime }
    }

    /// The file that is the object `key`.
    pub(crate) fn at(&self, key: &str) -> PathBuf {
        self.root.path().join("bucket").join(key)
    }

    /// `forerun mount` of `url`, by somebody who may read it.
    pub(crate) fn mount(&self, url: &str) -> Command {
        let mut command = mount(&["--endpoint", &self.endpoint, url]);
        command.env("AWS_ACCESS_KEY_ID", "id").env("AWS_SECRET_ACCESS_KEY", "key");
        command
    }
}
