//! The servers of block devices, each in a process of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

use super::disk_reads::DiskReads;
use crate::demo::process::{end, start_listener, this_program};
use crate::demo::store::BUCKET;

/// Forerun's memory for data.
const MEMORY: &str = "256MiB";

/// A server to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockServer {
    Forerun,
    /// nbdkit, which asks the store for each read.
    Curl,
    /// nbdkit, which keeps what it has read in a file.
    CurlCache,
    /// nbdkit, which reads ahead into that file.
    CurlReadahead,
    /// nbdkit, with all bytes in memory. A client writes them first.
    Memory,
}

/// A server that listens.
#[derive(Debug)]
pub(super) struct BlockServerProcess {
    child: Child,
    /// The socket, and the server's messages.
    folder: TempDir,
}

impl BlockServer {
    /// The name in the table.
    pub(super) fn title(self) -> &'static str {
        match self {
            BlockServer::Forerun => "forerun",
            BlockServer::Curl => "nbdkit curl",
            BlockServer::CurlCache => "nbdkit curl, cache",
            BlockServer::CurlReadahead => "nbdkit curl, readahead, cache",
            BlockServer::Memory => "nbdkit memory",
        }
    }

    /// Starts it, for the object of `reads`, which has `size` bytes and is in the store at `address`.
    ///
    /// # Errors
    /// The reason why it does not listen.
    pub(super) async fn start(
        self,
        address: SocketAddr,
        reads: DiskReads,
        size: u64,
    ) -> Result<BlockServerProcess, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("a folder for a socket: {error}"))?;
        let url = format!("http://{address}/{BUCKET}/{}", reads.object());
        let socket = socket_in(folder.path());
        let command = self.command(&socket, &url, size)?;
        let listens = async || UnixStream::connect(&socket).await.is_ok();
        let child = start_listener(command, &folder.path().join("log"), listens).await?;
        Ok(BlockServerProcess { child, folder })
    }

    fn command(self, socket: &Path, url: &str, size: u64) -> Result<Command, String> {
        if self == BlockServer::Forerun {
            let mut command = this_program()?;
            command.args(["nbd", "--memory", MEMORY, "--unix"]).arg(socket).arg(url);
            return Ok(command);
        }
        let mut command = Command::new("nbdkit");
        command.process_group(0).kill_on_drop(true).args(["--foreground", "--unix"]).arg(socket);
        let filters: &[&str] = match self {
            BlockServer::CurlCache => &["--filter=cache"],
            BlockServer::CurlReadahead => &["--filter=readahead", "--filter=cache"],
            _ => &[],
        };
        command.args(filters);
        match self {
            BlockServer::Memory => command.args(["memory", &size.to_string()]),
            _ => command.args(["--readonly", "curl", url]),
        };
        if !filters.is_empty() {
            // Without it, the filter keeps nothing that is only read.
            command.arg("cache-on-read=true");
        }
        Ok(command)
    }
}

impl BlockServerProcess {
    pub(super) fn socket(&self) -> PathBuf {
        socket_in(self.folder.path())
    }

    /// The process id, as long as the process runs.
    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Ends it.
    ///
    /// # Errors
    /// If it does not end.
    pub(super) async fn stop(mut self) -> Result<(), String> {
        end(&mut self.child).await.map_err(|error| format!("it {error}"))
    }
}

fn socket_in(folder: &Path) -> PathBuf {
    folder.join("nbd")
}
