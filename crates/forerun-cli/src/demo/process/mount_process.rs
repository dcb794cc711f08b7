//! A mount process, and the directory of its mount.

use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{START_MAX, this_program};
use crate::demo::store::BUCKET;
use crate::print::tell;

/// The limit for an unmount, which waits for reads under way.
const STOP_MAX: Duration = Duration::from_secs(15);
/// The interval for checking the mount.
const SHOWN_POLL: Duration = Duration::from_millis(10);
/// The words of `forerun mount` on standard error when the directory can be used, and those of
/// Forerun and rclone after an unmount.
const IS_MOUNTED: &str = "forerun: mounted ";
const IS_UNMOUNTED: [&str; 2] = ["forerun: unmounted ", "Unmounted rclone mount"];

/// Options of a mount.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MountOptions<'a> {
    pub(crate) policy: &'a str,
    pub(crate) memory_bytes: u64,
    /// The file of the profile, if the mount learns.
    pub(crate) profile: Option<&'a Path>,
}

/// How to find out that a mount is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ready {
    /// Forerun prints a line.
    Told,
    /// For other programs: by the mounted directory.
    Shown,
}

/// A program that mounts, and its directory.
#[derive(Debug)]
pub(crate) struct MountProcess {
    child: Child,
    directory: PathBuf,
    log: JoinHandle<()>,
    is_stopped: bool,
}

impl MountProcess {
    /// Mounts the bucket of the store at `address`, and waits until it is ready.
    pub(crate) async fn start(
        address: SocketAddr,
        options: MountOptions<'_>,
    ) -> Result<MountProcess, String> {
        let MountOptions { policy, memory_bytes, profile } = options;
        let mut program = this_program()?;
        program
            .args(["mount", "--anonymous", "--region", "us-east-1", "--policy", policy])
            .args(["--endpoint", &format!("http://{address}"), "--memory", &memory_bytes.to_string()])
            .args(profile.iter().flat_map(|profile| ["--learn".as_ref(), profile.as_os_str()]))
            .arg(format!("s3://{BUCKET}"));
        MountProcess::run(program, Ready::Told).await
    }

    /// Runs `program`, whose arguments lack only the directory to mount on: adds a new one, and
    /// waits until it is ready.
    pub(crate) async fn run(mut program: Command, ready: Ready) -> Result<MountProcess, String> {
        let directory = new_directory()?;
        let spawned = program
            .arg(&directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("a mount does not start: {error}"));
        let mut child = spawned.inspect_err(|_| _ = std::fs::remove_dir(&directory))?;
        let stderr = child.stderr.take();
        let (told, is_told) = tokio::sync::oneshot::channel();
        let log = tokio::spawn(async move {
            let mut told = Some(told);
            let Some(stderr) = stderr else { return };
            let mut lines = BufReader::new(stderr).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                if line.starts_with(IS_MOUNTED) {
                    _ = told.take().map(|told| told.send(()));
                } else if !IS_UNMOUNTED.iter().any(|end| line.contains(end)) {
                    tell(&line);
                }
            }
        });
        let mut mount = MountProcess { child, directory, log, is_stopped: false };
        let is_ready = async {
            tokio::select! {
                // An error means that the program has ended.
                told = is_told => told.is_ok(),
                () = shown_on(&mount.directory), if ready == Ready::Shown => true,
            }
        };
        if timeout(START_MAX, is_ready).await.unwrap_or(false) {
            return Ok(mount);
        }
        mount.stop().await?;
        Err("the mount failed: its message above says why".to_owned())
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The process id, as long as the process runs.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// The peak of the process's resident memory, in bytes.
    pub(crate) fn memory_peak_bytes(&self) -> Result<u64, String> {
        self.memory("VmHWM:")
    }

    /// The process's resident memory, in bytes.
    pub(crate) fn memory_bytes(&self) -> Result<u64, String> {
        self.memory("VmRSS:")
    }

    fn memory(&self, field: &str) -> Result<u64, String> {
        let id = self.child.id().ok_or("the program that mounts has ended")?;
        let path = format!("/proc/{id}/status");
        let status = std::fs::read_to_string(&path).map_err(|error| format!("reading {path}: {error}"))?;
        bytes_of(field, &status).ok_or_else(|| format!("{path} has no {field}"))
    }

    /// Unmounts and waits for the end.
    pub(crate) async fn stop(&mut self) -> Result<(), String> {
        if let Some(pid) = self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)) {
            // Not reaped yet, so the id is still this process's.
            let _ = kill_process(pid, Signal::TERM);
        }
        let ended = timeout(STOP_MAX, self.child.wait()).await;
        if ended.is_err() {
            let _ = self.child.kill().await;
        }
        let _ = timeout(START_MAX, &mut self.log).await;
        self.is_stopped = true;
        remove(&self.directory)?;
        match ended {
            Ok(_) => Ok(()),
            Err(_) => Err(format!("a mount did not end within {STOP_MAX:?} and was killed")),
        }
    }
}

impl Drop for MountProcess {
    /// Cleans up after a panic.
    fn drop(&mut self) {
        if !self.is_stopped {
            let _ = self.child.start_kill();
            let _ = remove(&self.directory);
        }
    }
}

/// A new, empty directory for a mount.
fn new_directory() -> Result<PathBuf, String> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = format!("forerun-demo-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let directory = std::env::temp_dir().join(name);
    std::fs::create_dir(&directory).map_err(|error| format!("creating {}: {error}", directory.display()))?;
    Ok(directory)
}

/// Waits until something is mounted on `directory`.
async fn shown_on(directory: &Path) {
    let device = async |path: &Path| tokio::fs::metadata(path).await.ok().map(|found| found.dev());
    // The directory is in the temporary directory.
    let above = device(&std::env::temp_dir()).await;
    while device(directory).await == above {
        tokio::time::sleep(SHOWN_POLL).await;
    }
}

/// Removes a directory that was a mount point, and the mount if it still exists.
fn remove(directory: &Path) -> Result<(), String> {
    if std::fs::remove_dir(directory).is_ok() {
        return Ok(());
    }
    let _ = std::process::Command::new("fusermount3").args(["-u", "-z"]).arg(directory).status();
    std::fs::remove_dir(directory).map_err(|error| {
        let directory = directory.display();
        format!("{directory} is still mounted ({error}): unmount it with `fusermount3 -u {directory}`")
    })
}

/// A field of a `/proc/PID/status`, in bytes.
fn bytes_of(field: &str, status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix(" kB")?.parse().ok().map(|kib: u64| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_of_a_process() {
        let status = "Name:\tforerun\nVmHWM:\t  3072 kB\nVmRSS:\t 1024 kB\n";
        assert_eq!(bytes_of("VmHWM:", status), Some(3072 * 1024));
        assert_eq!(bytes_of("VmRSS:", status), Some(1024 * 1024));
        assert_eq!(bytes_of("VmHWM:", "Name:\tkthreadd\n"), None);
        let own = std::fs::read_to_string("/proc/self/status").unwrap();
        assert!(bytes_of("VmHWM:", &own).unwrap() > 100_000);
    }

    #[test]
    fn directories_come_and_go() {
        let directory = new_directory().unwrap();
        assert_ne!(directory, new_directory().inspect(|other| remove(other).unwrap()).unwrap());
        remove(&directory).unwrap();
        assert!(!directory.exists());
    }
}
