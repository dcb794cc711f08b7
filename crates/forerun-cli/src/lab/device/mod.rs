//! `forerun lab device`: a file that is as slow as a disk.

mod backing;
mod check;
mod clock;
mod filesystem;
mod model;
mod pacer;
mod stats;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use forerun_serve::fuse::{Access, Mount, check_mount_point};
use forerun_sim::device::Preset;
use tokio::sync::watch;

use self::backing::Backing;
pub(crate) use self::clock::Clock;
use self::filesystem::{DISK, DeviceFilesystem};
pub(crate) use self::model::Model;
use self::model::parse_elevator;
pub(crate) use self::pacer::{Message, start as start_device};
pub(crate) use self::stats::Stats;
use crate::log;
use crate::mount::{Stop, daemon, unmount};
use crate::print::{self, say};
use crate::units::{parse_size, show_size};

const EXAMPLES: &str = "\
Examples:
  A file system on a disk of 2006, at its own pace:
      forerun lab device --daemon ide-2006 /mnt/lab --size 4GiB
      losetup --find --show --direct-io=on /mnt/lab/disk
      mkfs.ext4 /dev/loop0 && mount /dev/loop0 /mnt/disk
  The counters of the device:
      cat /mnt/lab/stats
  A check of its timing on this machine:
      forerun lab device ide-2006 /mnt/lab --self-check";

/// Mount a file that is as slow as a modelled device
///
/// Mounts a directory with a file `disk`, whose reads and writes take as long as on the modelled
/// device. Through a loop device over it, the kernel and any program can use that device. A file
/// `stats` beside it counts the work of the device. The mount stays until the program is
/// interrupted or the directory is unmounted.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct DeviceCommand {
    /// The name of the device
    #[arg(value_name = "PRESET", value_parser = Preset::from_name)]
    preset: Preset,

    /// The empty directory to mount it on
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// The size of the device, as in 4GiB [default: the backing file's size, or 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    size: Option<u64>,

    /// How many times faster than the model everything is
    ///
    /// Programs do not compute faster: at high speeds they wait a smaller share of their time.
    #[arg(long, value_name = "FACTOR", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    speed: u64,

    /// The place of the bytes: a file, which is kept, or a directory for a temporary file
    ///
    /// The default is the temporary directory. A directory in memory, such as /dev/shm, avoids the
    /// delays of the machine's own disk.
    #[arg(long, value_name = "PATH")]
    backing: Option<PathBuf>,

    /// The elevator that orders requests before they reach the device
    ///
    /// One of noop, linus, deadline, cfq or bfq; without it, requests keep their order. The kernel has
    /// an elevator of its own for a loop device.
    #[arg(long, value_name = "ELEVATOR", value_parser = parse_elevator)]
    elevator: Option<&'static str>,

    /// The seed of a device whose answers are random
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// Read from the device, compare the time with the model's, and end
    #[arg(long)]
    self_check: bool,

    /// Go into the background once mounted
    #[arg(long, conflicts_with = "self_check")]
    daemon: bool,
}

impl DeviceCommand {
    /// Mounts, and waits for the end of the mount unless a daemon does.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        if self.daemon && !daemon::is_daemon() {
            return daemon::start();
        }
        log::start(0, None, None)?;
        check_mount_point(&self.directory)?;
        // Before a backing file of that size is made.
        self.check_fits(self.size.unwrap_or(0))?;
        let backing = Backing::open(self.backing.as_deref(), self.size)?;
        let size = backing.size();
        self.check_fits(size)?;

        // From here on a signal unmounts; until here there is nothing to undo.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let stop = {
            let _context = runtime.enter();
            Stop::new()?
        };
        // The pacer must not wait for a processor. Only root may ask for this, and only precision
        // depends on it. Threads that start below inherit it.
        let _ = rustix::process::setpriority_process(None, -20);
        let clock = Clock::start(self.speed);
        let pacer = start_device(self.model(), clock)?;
        let (ended, alive) = watch::channel(());
        let filesystem = DeviceFilesystem::new(backing, clock, pacer, ended);
        let access = Access { writable: true, ..Access::default() };
        let mount = Mount::of(filesystem, alive, &self.directory, self.preset.name(), access)?;
        say(&format!(
            "mounted {} of {} as {} ({} times as fast)",
            self.preset.title(),
            show_size(size),
            mount.directory().join(DISK).display(),
            self.speed
        ));
        if daemon::is_daemon() {
            daemon::ready()?;
        }
        let checked = runtime.block_on(async {
            if !self.self_check {
                stop.or_end_of(&mount).await;
                return Ok(());
            }
            tokio::select! {
                checked = self.check(mount.directory().join(DISK), size, clock) => checked,
                () = stop.or_end_of(&mount) => Err("interrupted".into()),
            }
        });
        // A check that still reads ends with the mount.
        runtime.shutdown_background();
        unmount(mount)?;
        checked.map(|()| ExitCode::SUCCESS)
    }

    fn check_fits(&self, size: u64) -> Result<(), String> {
        let capacity = self.preset.capacity_bytes();
        if size <= capacity {
            return Ok(());
        }
        let (name, capacity) = (self.preset.name(), show_size(capacity));
        Err(format!("{name} holds {capacity}: give a --size of at most that"))
    }

    fn model(&self) -> Model {
        Model { preset: self.preset.clone(), seed: self.seed, elevator: self.elevator }
    }

    async fn check(&self, disk: PathBuf, size: u64, clock: Clock) -> Result<(), Box<dyn Error>> {
        let model = self.model();
        let checking = tokio::task::spawn_blocking(move || check::check(&disk, size, model.build(), clock));
        let report = checking.await?.map_err(|error| format!("reading from the device: {error}"))?;
        print::show(&report)?;
        Ok(())
    }
}
