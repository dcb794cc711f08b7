//! Resources of the machine that clean up after themselves when dropped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as StdCommand;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Command;

use crate::print::say;

/// The memory controller of cgroup v1.
const MEMORY_GROUPS: &str = "/sys/fs/cgroup/memory";
/// The limit for a killed process to end, which takes much less.
const GONE_MAX: Duration = Duration::from_secs(10);

/// A loop device.
#[derive(Debug)]
pub(super) struct LoopDevice(PathBuf);

impl LoopDevice {
    /// A loop device that passes every request to `file` unchanged.
    pub(super) async fn new(file: &Path) -> Result<LoopDevice, String> {
        let mut losetup = Command::new("losetup");
        let said = run(losetup.args(["--find", "--show", "--direct-io=on"]).arg(file)).await?;
        let device = LoopDevice(said.trim().into());
        // The kernel's usual settings for such a disk.
        for (name, value) in [("scheduler", "mq-deadline"), ("max_sectors_kb", "512"), ("rotational", "1")] {
            device.set(name, value)?;
        }
        Ok(device)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Sets a property of its queue.
    pub(super) fn set(&self, name: &str, value: &str) -> Result<(), String> {
        let device = self.0.file_name().unwrap_or_default();
        let path = Path::new("/sys/block").join(device).join("queue").join(name);
        fs::write(&path, value).map_err(|error| format!("writing {value} to {}: {error}", path.display()))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = StdCommand::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

/// A mounted file system.
#[derive(Debug)]
pub(super) struct MountedDisk(PathBuf);

impl MountedDisk {
    pub(super) async fn new(what: &Path, at: &Path, options: &str) -> Result<MountedDisk, String> {
        run(Command::new("mount").args(["-t", "ext4", "-o", options]).arg(what).arg(at)).await?;
        Ok(MountedDisk(at.to_owned()))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for MountedDisk {
    fn drop(&mut self) {
        let unmounted = StdCommand::new("umount").arg(&self.0).status();
        if !unmounted.is_ok_and(|status| status.success()) {
            let _ = StdCommand::new("umount").arg("--lazy").arg(&self.0).status();
        }
    }
}

/// A memory cgroup, and the processes in it.
#[derive(Debug)]
pub(crate) struct MemoryGroup(PathBuf);

impl MemoryGroup {
    /// A cgroup with `memory_bytes`.
    pub(crate) fn new(memory_bytes: u64) -> Result<MemoryGroup, String> {
        let directory = Path::new(MEMORY_GROUPS).join(format!("forerun-bench-{}", std::process::id()));
        let failed = |error| {
            format!(
                "{} cannot be made: {error}; this needs the memory controller of cgroup v1, \
                 mounted on {MEMORY_GROUPS}",
                directory.display()
            )
        };
        fs::create_dir(&directory).map_err(failed)?;
        let group = MemoryGroup(directory.clone());
        fs::write(group.0.join("memory.limit_in_bytes"), memory_bytes.to_string()).map_err(failed)?;
        Ok(group)
    }

    /// Sets a limit for the buffers of its sockets. The kernel counts them from now on, besides the memory of the cgroup.
    pub(crate) fn limit_sockets(&self, bytes: u64) -> Result<(), String> {
        self.set("memory.kmem.tcp.limit_in_bytes", bytes)
    }

    /// Gives it `memory_bytes`, less what the buffers of its sockets take now. Returns the memory in use with these.
    pub(crate) fn share_with_sockets(&self, memory_bytes: u64) -> Result<u64, String> {
        let sockets = self.get("memory.kmem.tcp.usage_in_bytes")?;
        let used = self.get("memory.usage_in_bytes")? + sockets;
        // The kernel refuses a limit while it cannot free as much.
        let _ = self.set("memory.limit_in_bytes", memory_bytes.saturating_sub(sockets));
        Ok(used)
    }

    fn get(&self, name: &str) -> Result<u64, String> {
        let path = self.0.join(name);
        let read =
            fs::read_to_string(&path).map_err(|error| format!("reading {}: {error}", path.display()))?;
        read.trim().parse::<u64>().map_err(|error| format!("{}: {error}", path.display()))
    }

    fn set(&self, name: &str, bytes: u64) -> Result<(), String> {
        let path = self.0.join(name);
        fs::write(&path, bytes.to_string()).map_err(|error| format!("writing {}: {error}", path.display()))
    }

    /// The processes in it.
    pub(crate) fn process_ids(&self) -> Vec<u32> {
        let ids = fs::read_to_string(self.0.join("cgroup.procs")).unwrap_or_default();
        ids.lines().filter_map(|id| id.parse().ok()).collect()
    }

    /// A command that runs `program` in it.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]);
        command.arg(self.0.join("cgroup.procs")).arg(program);
        command.process_group(0).kill_on_drop(true);
        command
    }

    /// The number of its processes that the kernel killed for lack of memory.
    pub(crate) fn killed_count(&self) -> u64 {
        let control = fs::read_to_string(self.0.join("memory.oom_control")).unwrap_or_default();
        let killed = control.lines().find_map(|line| line.strip_prefix("oom_kill "));
        killed.and_then(|count| count.parse().ok()).unwrap_or(0)
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        let until = Instant::now() + GONE_MAX;
        // The directory can be removed only when its processes are gone.
        while fs::remove_dir(&self.0).is_err() {
            let ids = self.process_ids();
            for pid in ids.into_iter().filter_map(|id| Pid::from_raw(i32::try_from(id).ok()?)) {
                let _ = kill_process(pid, Signal::KILL);
            }
            if Instant::now() > until {
                say(&format!("{} cannot be removed: remove it with `rmdir`", self.0.display()));
                return;
            }
            // cgroup v1 does not announce the end of the last process.
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Runs `command` to its end, and returns its output.
pub(super) async fn run(command: &mut Command) -> Result<String, String> {
    let name = command.as_std().get_program().display().to_string();
    let output = command.kill_on_drop(true).output().await.map_err(|error| {
        format!("{name} does not start: {error}; this needs the packages mount, util-linux and e2fsprogs")
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{name} failed: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
