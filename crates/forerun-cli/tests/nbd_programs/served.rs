//! The NBD server, with an image of its own.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use super::serving::Serving;
use super::support::program::forerun;
use super::support::{Store, pattern};

pub(crate) const MIB: usize = 1 << 20;
/// An image has twelve of these, and 4 KiB: the debug build of the bucket's server takes seconds for each MiB.
pub(crate) const FILE_UNIT: usize = 4 * MIB;
pub(crate) const BUCKET_UNIT: usize = MIB;

pub(crate) const fn size_of(unit: usize) -> usize {
    12 * unit + 4096
}

/// A server of an image.
pub(crate) struct Served {
    pub(crate) folder: TempDir,
    /// The same bytes as a file.
    pub(crate) image: PathBuf,
    pub(crate) unit: usize,
    pub(crate) server: Serving,
}

impl Served {
    /// Runs `server`, whose socket is still missing, as the server of `image` in `folder`.
    pub(crate) fn start((folder, image): (TempDir, PathBuf), unit: usize, mut server: Command) -> Served {
        let socket = folder.path().join("nbd");
        let server = Serving::start(server.arg("--unix").arg(&socket));
        Served { folder, image, unit, server }
    }

    /// Of a local file, with holes. Paths in `options` are relative to its folder.
    pub(crate) fn file(options: &[&str]) -> Served {
        let image = image(FILE_UNIT);
        let mut server = forerun();
        server.current_dir(image.0.path()).args(["nbd", "--memory", "32MiB"]).args(options).arg(&image.1);
        Served::start(image, FILE_UNIT, server)
    }

    /// Of an object in a bucket.
    pub(crate) fn bucket(store: &Store, options: &[&str]) -> Served {
        let image = image(BUCKET_UNIT);
        fs::copy(&image.1, store.at("disk.img")).unwrap();
        let mut server = forerun();
        server.current_dir(image.0.path()).args(["nbd", "--memory", "32MiB"]).args(options);
        server.args(["--endpoint", &store.endpoint, "s3://bucket/disk.img"]);
        server.env("AWS_ACCESS_KEY_ID", "id").env("AWS_SECRET_ACCESS_KEY", "key");
        Served::start(image, BUCKET_UNIT, server)
    }

    pub(crate) fn uri(&self) -> String {
        format!("nbd+unix:///disk.img?socket={}", self.at("nbd").display())
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// A file with bytes, then a hole, then bytes.
fn image(unit: usize) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk.img");
    let file = fs::File::create(&path).unwrap();
    file.set_len(size_of(unit) as u64).unwrap();
    file.write_all_at(&pattern(5 * unit, 1), 0).unwrap();
    file.write_all_at(&pattern(2 * unit + 4096, 2), 10 * unit as u64).unwrap();
    file.sync_all().unwrap();
    (folder, path)
}
