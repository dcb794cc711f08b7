//! Measurements on the disk under test, one after the other.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::timeout;

use super::disk_contents::{self, DISK_BYTES};
use super::jobs::Job;
use super::resource::{LoopDevice, MemoryGroup, MountedDisk, run};
use crate::demo::process::{MountProcess, Ready, this_program};
use crate::scratch::scratch;

/// The limit of a run: after it, nothing moves any more.
const RUN_MAX: Duration = Duration::from_secs(120);

/// The reader-ahead: the kernel or Forerun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// The kernel, up to this window.
    Kernel {
        /// In KiB.
        readahead_kb: u64,
    },
    /// A mount of the same directory, with half of the memory.
    Forerun,
}

impl Column {
    pub(super) const ALL: [Column; 3] =
        [Column::Kernel { readahead_kb: 128 }, Column::Kernel { readahead_kb: 1024 }, Column::Forerun];

    pub(super) fn name(self) -> &'static str {
        match self {
            Column::Kernel { readahead_kb: 128 } => "kernel 128K",
            Column::Kernel { .. } => "kernel 1M",
            Column::Forerun => "forerun",
        }
    }
}

/// The result of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct DiskRun {
    /// Real time.
    pub(super) elapsed: Duration,
    /// Bytes that the disk read.
    pub(super) device_bytes: u64,
}

/// A file system on a slow disk. Its fields clean up in order when dropped.
#[derive(Debug)]
pub(super) struct SlowDisk {
    loop_device: LoopDevice,
    device: MountProcess,
    mount_point: PathBuf,
    /// The path of this program.
    own: PathBuf,
    /// The kernel's readahead below a mount.
    below_kb: u64,
    _scratch: TempDir,
}

impl SlowDisk {
    /// Fills a disk and puts it behind the model `preset`, `speed` times as fast. Below a mount the
    /// kernel will read `below_kb` KiB ahead.
    ///
    /// # Errors
    /// The step that failed.
    pub(super) async fn new(preset: &str, speed: u64, below_kb: u64) -> Result<SlowDisk, String> {
        let scratch = scratch()?;
        let (image, mount_point) = (scratch.path().join("image"), scratch.path().join("mnt"));
        fs::create_dir(&mount_point)
            .map_err(|error| format!("creating {}: {error}", mount_point.display()))?;
        make_image(&image, &mount_point).await?;
        let mut device = this_program()?;
        device.args(["lab", "device", preset, "--speed", &speed.to_string(), "--backing"]).arg(&image);
        let device = MountProcess::run(device, Ready::Told).await?;
        let loop_device = LoopDevice::new(&device.directory().join("disk")).await?;
        let own = std::env::current_exe()
            .map_err(|error| format!("this program cannot find its own file: {error}"))?;
        Ok(SlowDisk { loop_device, device, mount_point, own, below_kb, _scratch: scratch })
    }

    /// Removes everything, in order.
    ///
    /// # Errors
    /// If the device does not end.
    pub(super) async fn close(self) -> Result<(), String> {
        let SlowDisk { loop_device, mut device, .. } = self;
        drop(loop_device);
        device.stop().await
    }

    /// Mounts, so that the page cache is empty, reads, and unmounts.
    ///
    /// # Errors
    /// The step that failed; one reason is too little memory.
    pub(super) async fn measure(&self, row: &Job, column: Column) -> Result<DiskRun, String> {
        let readahead_kb = match column {
            Column::Kernel { readahead_kb } => readahead_kb,
            Column::Forerun => self.below_kb,
        };
        self.loop_device.set("read_ahead_kb", &readahead_kb.to_string())?;
        let mounted =
            MountedDisk::new(self.loop_device.path(), &self.mount_point, "ro,noload,noatime").await?;
        let group = MemoryGroup::new(row.memory_bytes)?;
        let mut mount = match column {
            Column::Kernel { .. } => None,
            Column::Forerun => Some(self.mount(&group, row, mounted.path()).await?),
        };
        let directory = mount.as_ref().map_or(mounted.path(), MountProcess::directory);
        let measured = self.read(&group, row, directory).await;
        let killed = group.killed_count();
        if let Some(mount) = &mut mount {
            mount.stop().await?;
        }
        if killed > 0 {
            return Err("out of memory".to_owned());
        }
        measured
    }

    async fn mount(&self, group: &MemoryGroup, row: &Job, directory: &Path) -> Result<MountProcess, String> {
        let mut program = group.command(&self.own.display().to_string());
        let memory = (row.memory_bytes / 2).to_string();
        program.args(["mount", "--policy", "adaptive", "--memory", &memory]).arg(directory);
        MountProcess::run(program, Ready::Told).await
    }

    async fn read(&self, group: &MemoryGroup, row: &Job, directory: &Path) -> Result<DiskRun, String> {
        let (arguments, success) = row.command(&self.own, directory);
        let before = self.device_bytes()?;
        let started = Instant::now();
        let mut reader = group.command(&arguments[0]);
        reader.args(&arguments[1..]).stdin(Stdio::null()).stdout(Stdio::null());
        let ended =
            timeout(RUN_MAX, reader.status()).await.map_err(|_| format!("longer than {RUN_MAX:?}"))?;
        let elapsed = started.elapsed();
        let status = ended.map_err(|error| format!("{} does not start: {error}", arguments[0]))?;
        if status.code() != Some(success) {
            return Err(format!("{} ended with {status}", arguments[0]));
        }
        Ok(DiskRun { elapsed, device_bytes: self.device_bytes()? - before })
    }

    /// The average lateness of the disk's answers, in real nanoseconds.
    pub(super) fn late_ns(&self) -> Result<u64, String> {
        self.stat("late_ns_mean ")
    }

    fn device_bytes(&self) -> Result<u64, String> {
        self.stat("read_bytes ")
    }

    fn stat(&self, name: &str) -> Result<u64, String> {
        let path = self.device.directory().join("stats");
        let stats =
            fs::read_to_string(&path).map_err(|error| format!("reading {}: {error}", path.display()))?;
        let value = stats.lines().find_map(|line| line.strip_prefix(name));
        value.and_then(|value| value.parse().ok()).ok_or_else(|| format!("{} has no {name}", path.display()))
    }
}

/// Makes a file system in the file `image`, at the machine's own speed.
async fn make_image(image: &Path, mount_point: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("filling {}: {error}", image.display());
    File::create(image).and_then(|file| file.set_len(DISK_BYTES)).map_err(failed)?;
    let complete = "lazy_itable_init=0,lazy_journal_init=0,nodiscard";
    run(Command::new("mkfs.ext4").args(["-q", "-F", "-E", complete]).arg(image)).await?;
    let mounted = MountedDisk::new(image, mount_point, "loop").await?;
    let root = mounted.path().to_owned();
    let filled = tokio::task::spawn_blocking(move || disk_contents::fill(&root)).await;
    filled.map_err(|error| error.to_string())?.map_err(failed)
}
