//! rclone, which reads the store's bucket for others.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::Path;

use tempfile::TempDir;
use tokio::process::Command;

use super::heard_process::HeardProcess;
use super::serve_process::greeting;
use crate::demo::store::BUCKET;
use crate::scratch::scratch;

/// The words of `rclone serve nfs` on standard error when clients can read. Its address follows.
const SERVES: &str = "NFS Server running at ";

/// `rclone serve nfs`, which ends with this process.
#[derive(Debug)]
pub(crate) struct RcloneProcess {
    process: HeardProcess,
    /// HOST:PORT
    nfs: String,
    /// The files of its cache.
    _cache: TempDir,
}

/// The rclone in the file `program`, which runs `subcommand` for the bucket of the store at `address`. Without a
/// configuration file: the name of the bucket describes the store.
pub(crate) fn rclone(program: &OsStr, subcommand: &[&str], address: SocketAddr) -> Command {
    let mut command = Command::new(program);
    command
        .process_group(0)
        .kill_on_drop(true)
        // rclone 1.60 does not start with it, and the store has no certificate.
        .env_remove("AWS_CA_BUNDLE")
        .args(subcommand)
        .args(["--config", "/dev/null", "--read-only"])
        .arg(format!(":s3,provider=Other,list_version=2,endpoint='http://{address}':{BUCKET}"));
    command
}

impl RcloneProcess {
    /// Serves the bucket of the store at `address` over NFS by the rclone in the file `program`, and waits until it is
    /// ready.
    pub(crate) async fn start(program: &Path, address: SocketAddr) -> Result<RcloneProcess, String> {
        let cache = scratch()?;
        // Without a cache of whole files, each read opens the file anew, and 1 GiB in 1 MiB takes 78 s.
        let serve =
            ["serve", "nfs", "--addr", "127.0.0.1:0", "--log-format", "nolevel", "--vfs-cache-mode", "full"];
        let mut command = rclone(program.as_os_str(), &serve, address);
        command.arg("--cache-dir").arg(cache.path());
        let (mut process, is_told) = HeardProcess::spawn(command, SERVES, &[])?;
        match greeting(is_told).await {
            Ok(line) => {
                let nfs = line[SERVES.len()..].trim().to_owned();
                Ok(RcloneProcess { process, nfs, _cache: cache })
            }
            Err(failure) => {
                process.stop().await.map_err(|error| format!("rclone {error}"))?;
                Err(format!("rclone: {failure}"))
            }
        }
    }

    pub(crate) fn process(&self) -> &HeardProcess {
        &self.process
    }

    /// The address for clients of NFS.
    pub(crate) fn nfs(&self) -> &str {
        &self.nfs
    }

    /// Waits for the end.
    pub(crate) async fn stop(&mut self) -> Result<(), String> {
        self.process.stop().await.map_err(|error| format!("rclone {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts a shell script in the place of rclone.
    async fn start(script: &str) -> Result<RcloneProcess, String> {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("rclone");
        // A file that this process has written may still be open in a child of another test, and does not start then.
        let write = "printf '#!/bin/sh\n%s' \"$1\" > \"$0\" && chmod +x \"$0\"";
        let written = std::process::Command::new("sh").args(["-c", write]).arg(&program).arg(script).status();
        assert!(written.unwrap().success());
        RcloneProcess::start(&program, ([127, 0, 0, 1], 80).into()).await
    }

    #[tokio::test]
    async fn a_server_tells_where_it_serves_and_its_cache_goes_with_it() {
        let script = "for last; do :; done; : > \"$last/file\"; echo \"$SERVES$*\" >&2; exec sleep 1000";
        let mut served = start(&format!("SERVES='{SERVES}'; {script}")).await.unwrap();
        assert!(served.nfs().starts_with("serve nfs --addr 127.0.0.1:0"), "{}", served.nfs());
        assert!(served.nfs().contains("endpoint='http://127.0.0.1:80':demo"), "{}", served.nfs());
        let cache = served._cache.path().to_owned();
        assert!(cache.join("file").exists());
        served.stop().await.unwrap();
        drop(served);
        assert!(!cache.exists());
    }

    #[tokio::test]
    async fn a_server_that_ends_is_told() {
        let error = start("echo unknown flag >&2; exit 1").await.unwrap_err();
        assert!(error.starts_with("rclone: the server ended"), "{error}");
    }
}
