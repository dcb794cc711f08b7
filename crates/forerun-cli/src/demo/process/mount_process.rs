//! A mount process, and the directory of its mount.

use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use super::heard_process::HeardProcess;
use super::{START_MAX, this_program};
use crate::demo::store::BUCKET;

/// The interval for checking the mount.
const SHOWN_POLL: Duration = Duration::from_millis(10);
/// The words of `forerun mount` on standard error when the directory can be used, and those of
/// Forerun and rclone after an unmount.
const IS_MOUNTED: &str = "forerun: mounted ";
const IS_UNMOUNTED: &[&str] = &["forerun: unmounted ", "Unmounted rclone mount"];

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
    process: HeardProcess,
    directory: PathBuf,
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
        program.arg(&directory);
        let spawned = HeardProcess::spawn(program, IS_MOUNTED, IS_UNMOUNTED);
        let (process, is_told) = spawned.inspect_err(|_| _ = std::fs::remove_dir(&directory))?;
        let mut mount = MountProcess { process, directory, is_stopped: false };
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

    pub(crate) fn process(&self) -> &HeardProcess {
        &self.process
    }

    /// The process id, as long as the process runs.
    pub(crate) fn id(&self) -> Option<u32> {
        self.process.id()
    }

    /// The peak of the process's resident memory, in bytes.
    pub(crate) fn memory_peak_bytes(&self) -> Result<u64, String> {
        self.process.memory_peak_bytes()
    }

    /// The process's resident memory, in bytes.
    pub(crate) fn memory_bytes(&self) -> Result<u64, String> {
        self.process.memory_bytes()
    }

    /// Unmounts and waits for the end.
    pub(crate) async fn stop(&mut self) -> Result<(), String> {
        let stopped = self.process.stop().await;
        self.is_stopped = true;
        remove(&self.directory)?;
        stopped.map_err(|error| format!("a mount {error}"))
    }
}

impl Drop for MountProcess {
    /// Cleans up after a panic.
    fn drop(&mut self) {
        if !self.is_stopped {
            self.process.kill();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_come_and_go() {
        let directory = new_directory().unwrap();
        assert_ne!(directory, new_directory().inspect(|other| remove(other).unwrap()).unwrap());
        remove(&directory).unwrap();
        assert!(!directory.exists());
    }
}
