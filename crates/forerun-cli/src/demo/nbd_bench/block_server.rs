//! The servers of block devices, each in a process of its own.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use super::disk_reads::DiskReads;
use crate::demo::process::this_program;
use crate::demo::store::BUCKET;

/// The time for a server to start or to end, which takes much less.
const CHANGE_TIME_MAX: Duration = Duration::from_secs(30);
/// The interval for asking whether a server listens.
const LISTEN_POLL: Duration = Duration::from_millis(5);
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
        let mut command = self.command(&socket_in(folder.path()), &url, size)?;
        let log_path = folder.path().join("log");
        let log = fs::File::create(&log_path).map_err(|error| format!("{}: {error}", log_path.display()))?;
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn();
        let child = spawned.map_err(|error| format!("it does not start: {error}; try `make bench-nbd`"))?;
        let mut process = BlockServerProcess { child, folder };
        let until = Instant::now() + CHANGE_TIME_MAX;
        while std::os::unix::net::UnixStream::connect(process.socket()).is_err() {
            let has_ended = process.child.try_wait().is_ok_and(|ended| ended.is_some());
            if has_ended || Instant::now() > until {
                let said = fs::read_to_string(&log_path).unwrap_or_default();
                return Err(format!("it does not listen: {}", said.trim()));
            }
            // nbdkit does not tell when it listens.
            sleep(LISTEN_POLL).await;
        }
        Ok(process)
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
        if let Some(pid) = self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)) {
            // Not reaped yet, so the id is still this process's.
            let _ = kill_process(pid, Signal::TERM);
        }
        match timeout(CHANGE_TIME_MAX, self.child.wait()).await {
            Ok(_) => Ok(()),
            Err(_) => Err(format!("it did not end within {CHANGE_TIME_MAX:?}")),
        }
    }
}

fn socket_in(folder: &Path) -> PathBuf {
    folder.join("nbd")
}
