//! The servers of block devices, each in a process of its own.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

use super::{end, start_listener, this_program};

/// Forerun's memory for data.
const MEMORY: &str = "256MiB";

/// A server to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockServer {
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

/// The object to serve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockExport<'a> {
    pub(crate) url: &'a str,
    pub(crate) size: u64,
    /// The profile that Forerun learns. nbdkit has none.
    pub(crate) profile: Option<&'a Path>,
}

/// A server that listens.
#[derive(Debug)]
pub(crate) struct BlockServerProcess {
    child: Child,
    /// The socket, and the server's messages.
    folder: TempDir,
}

impl BlockServer {
    /// The name in the table.
    pub(crate) fn title(self) -> &'static str {
        match self {
            BlockServer::Forerun => "forerun",
            BlockServer::Curl => "nbdkit curl",
            BlockServer::CurlCache => "nbdkit curl, cache",
            BlockServer::CurlReadahead => "nbdkit curl, readahead, cache",
            BlockServer::Memory => "nbdkit memory",
        }
    }

    /// Starts it, as the server of `export`.
    ///
    /// # Errors
    /// The reason why it does not listen.
    pub(crate) async fn start(self, export: BlockExport<'_>) -> Result<BlockServerProcess, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("a folder for a socket: {error}"))?;
        let socket = socket_in(folder.path());
        let command = self.command(&socket, export)?;
        let listens = async || UnixStream::connect(&socket).await.is_ok();
        let child = start_listener(command, &folder.path().join("log"), listens).await?;
        Ok(BlockServerProcess { child, folder })
    }

    fn command(self, socket: &Path, export: BlockExport<'_>) -> Result<Command, String> {
        if self == BlockServer::Forerun {
            let mut command = this_program()?;
            let learn = export.profile.iter().flat_map(|profile| ["--learn".as_ref(), profile.as_os_str()]);
            command.args(["nbd", "--memory", MEMORY, "--unix"]).arg(socket).args(learn).arg(export.url);
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
            BlockServer::Memory => command.args(["memory", &export.size.to_string()]),
            _ => command.args(["--readonly", "curl", export.url]),
        };
        if !filters.is_empty() {
            // Without it, the filter keeps nothing that is only read.
            command.arg("cache-on-read=true");
        }
        Ok(command)
    }
}

impl BlockServerProcess {
    pub(crate) fn socket(&self) -> PathBuf {
        socket_in(self.folder.path())
    }

    /// The process id, as long as the process runs.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Ends it.
    ///
    /// # Errors
    /// If it does not end.
    pub(crate) async fn stop(mut self) -> Result<(), String> {
        end(&mut self.child).await.map_err(|error| format!("it {error}"))
    }
}

fn socket_in(folder: &Path) -> PathBuf {
    folder.join("nbd")
}
