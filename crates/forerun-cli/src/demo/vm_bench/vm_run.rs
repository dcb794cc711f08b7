//! One boot: a new server, the machine until it has read `/usr`, and the end of both.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::boot_console::BootStep;
use super::boot_image::{BootImage, IMAGE_KEY};
use super::boot_source::BootSource;
use super::machine_parts::{Accelerator, BootDisk, Bus};
use super::virtual_machine::VirtualMachine;
use crate::demo::link::Shape;
use crate::demo::process::{BlockExport, StoreProcess};
use crate::demo::processors::Processors;
use crate::demo::store::BUCKET;
use crate::print::tell;

/// A processor that virtualizes boots the image in seconds.
const TRIAL_TIME_MAX: Duration = Duration::from_secs(90);
const KVM: &str = "/dev/kvm";

/// The outcome of a boot.
#[derive(Clone, Copy, Debug)]
pub(super) struct VmRun {
    /// From power-on to the shell.
    pub(super) boot: Duration,
    /// From the shell to the end of `grep -r`.
    pub(super) grep: Duration,
    /// Whether `grep -r` had the right result.
    pub(super) is_right: bool,
    /// Bytes that the machine read from its disk.
    pub(super) read_bytes: u64,
    /// Bytes and requests that the store served, from the start of the server to its end.
    pub(super) fetched_bytes: u64,
    pub(super) request_count: u64,
    /// Processors that other programs kept busy meanwhile.
    pub(super) processors_taken: f64,
}

/// The store of all boots.
#[derive(Debug)]
pub(super) struct VmBench {
    store: StoreProcess,
    image: BootImage,
    shape: Shape,
    time_max: Duration,
    pub(super) accelerator: Accelerator,
    /// The profiles.
    folder: TempDir,
}

impl VmBench {
    /// Starts a store of `image` behind a link like `shape`. A boot takes at most `time_max`.
    ///
    /// # Errors
    /// The step that failed.
    pub(super) async fn start(image: BootImage, shape: Shape, time_max: Duration) -> Result<VmBench, String> {
        // Neither the store nor the local file is to wait for the disk of this machine.
        let read = File::open(&image.disk).and_then(|mut disk| io::copy(&mut disk, &mut io::sink()));
        read.map_err(|error| format!("reading {}: {error}", image.disk.display()))?;
        let store = StoreProcess::start(&["--directory".as_ref(), image.store.as_os_str()]).await?;
        let accelerator = accelerator(&image).await;
        let folder = tempfile::tempdir().map_err(|error| format!("a folder for profiles: {error}"))?;
        Ok(VmBench { store, image, shape, time_max, accelerator, folder })
    }

    /// Boots a new machine from a new server, whose caches are empty.
    ///
    /// # Errors
    /// The step that failed.
    pub(super) async fn measure(&self, source: BootSource, bus: Bus) -> Result<VmRun, String> {
        if source != BootSource::Learned {
            return self.boot(source, bus, None).await;
        }
        let learned = self.profile(bus).await?;
        // The server goes on learning: each run has a profile of one boot.
        let profile = self.folder.path().join("profile");
        fs::copy(&learned, &profile).map_err(|error| format!("copying a profile: {error}"))?;
        self.boot(source, bus, Some(&profile)).await
    }

    /// The profile of a boot, which the first call makes.
    async fn profile(&self, bus: Bus) -> Result<PathBuf, String> {
        let profile = self.folder.path().join(bus.title());
        if !profile.exists() {
            let made = self.boot(BootSource::Learned, bus, Some(&profile)).await;
            made.map_err(|error| format!("the boot that is learned: {error}"))?;
        }
        Ok(profile)
    }

    async fn boot(&self, source: BootSource, bus: Bus, profile: Option<&Path>) -> Result<VmRun, String> {
        self.store.prepare(self.shape)?;
        let url = format!("http://{}/{BUCKET}/{IMAGE_KEY}", self.store.address());
        let export = BlockExport { url: &url, size: self.image.size, profile };
        let server = match source.server() {
            Some(server) => Some(server.start(export).await?),
            None => None,
        };
        let disk = match &server {
            Some(server) => BootDisk::Socket(server.socket()),
            None => BootDisk::File(self.image.disk.clone()),
        };
        let machine = VirtualMachine::start(&disk, self.image.size, bus, self.accelerator).await?;
        let server_id = server.as_ref().and_then(|server| server.id());
        let own = [Some(std::process::id()), self.store.id(), machine.id(), server_id];
        let own: Vec<_> = own.into_iter().flatten().collect();
        let before = Processors::now(&own);
        let mut run = watch(machine, &self.image.expected, self.time_max, || {
            let (before, after) = (before?, Processors::now(&own)?);
            Some(after.used_by_others_since(&before))
        })
        .await?;
        if let Some(server) = server {
            server.stop().await?;
        }
        run.fetched_bytes = self.store.bytes_sent()?;
        run.request_count = self.store.requests_answered()?;
        Ok(run)
    }
}

/// Waits for the end of the boot, and turns `machine` off. `processors_taken` is asked before that.
async fn watch(
    mut machine: VirtualMachine,
    expected: &str,
    time_max: Duration,
    processors_taken: impl Fn() -> Option<f64>,
) -> Result<VmRun, String> {
    let mut boot = None;
    loop {
        match machine.next_step(time_max).await? {
            (BootStep::Shell, time) => boot = Some(time),
            (BootStep::Grep(result), time) => {
                let boot = boot.ok_or("the machine read /usr before it had a shell")?;
                let run = VmRun {
                    boot,
                    grep: time.saturating_sub(boot),
                    is_right: result == expected,
                    read_bytes: machine.monitor().read_bytes().await?,
                    fetched_bytes: 0,
                    request_count: 0,
                    processors_taken: processors_taken().unwrap_or_default(),
                };
                machine.stop().await?;
                return Ok(run);
            }
        }
    }
}

/// KVM if it boots `image`.
async fn accelerator(image: &BootImage) -> Accelerator {
    match boots_with_kvm(image).await {
        Ok(()) => Accelerator::Kvm,
        Err(why) => {
            tell(&format!("the machine is emulated, since KVM does not boot it: {why}"));
            Accelerator::Emulation
        }
    }
}

async fn boots_with_kvm(image: &BootImage) -> Result<(), String> {
    let device = OpenOptions::new().read(true).write(true).open(KVM);
    device.map_err(|error| format!("{KVM}: {error}"))?;
    let disk = BootDisk::File(image.disk.clone());
    let machine = VirtualMachine::start(&disk, image.size, Bus::Virtio, Accelerator::Kvm).await?;
    match watch(machine, &image.expected, TRIAL_TIME_MAX, || None).await?.is_right {
        true => Ok(()),
        false => Err("grep had a wrong result".to_owned()),
    }
}
