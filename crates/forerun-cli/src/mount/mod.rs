//! `forerun mount`.

pub(crate) mod daemon;
mod end;
mod kernel_readahead;
mod memory;

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use forerun::{Forerun, Options, PolicyKind};
use forerun_backend::ConnectOptions;
use forerun_serve::fuse::{Mount, MountOptions, check_mount_point};

use crate::explain::{Socket, Subject};
use crate::log;
use crate::print::say;
use crate::units::{parse_duration, parse_size, show_size};
pub(crate) use end::{Stop, unmount};
pub(crate) use kernel_readahead::KernelReadahead;

const EXAMPLES: &str = "\
Examples:
  A bucket, with the credentials of the environment or of ~/.aws:
      forerun mount s3://my-bucket/data /mnt/data
  A public bucket, in 1 GiB of memory, in the background:
      forerun mount --anonymous --region us-west-2 --memory 1GiB --daemon s3://open-data /mnt/data
  An S3-compatible server of your own:
      forerun mount --endpoint http://localhost:9000 s3://my-bucket /mnt/data
  One file of a web server, which then is /mnt/iso/disk.iso:
      forerun mount https://example.org/images/disk.iso /mnt/iso
  A slow directory, such as one of a network file system:
      forerun mount /net/archive /mnt/archive

To unmount, interrupt the program, or run `fusermount3 -u DIR` (as root `umount DIR`).";

/// Mount a URL as a read-only directory
///
/// Mounts what is at URL as a read-only directory, and reads ahead of whoever reads from it. It
/// stays mounted until the program is interrupted or the directory is unmounted.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct MountCommand {
    /// What to mount: s3://BUCKET/PREFIX, https://HOST/PATH, a directory, or a single object
    ///
    /// Google Cloud Storage is gs://BUCKET/PREFIX, Azure Blob Storage az://CONTAINER/PREFIX. A
    /// single object is shown as a directory with that one file.
    #[arg(value_name = "URL")]
    url: String,

    /// The empty directory to mount it on
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Memory for data, as in 256MiB or 1G
    ///
    /// What has been read and what is read ahead is kept in this much memory, data in flight
    /// included. The kernel keeps a copy of what programs have read in its page cache.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_size)]
    memory: u64,

    /// Which policy decides what is read ahead
    ///
    /// `adaptive` follows several readers of one object and sizes its windows by the storage's
    /// latency and rate. `ondemand` is what Linux does for local disks. `plain`, `aligned` and
    /// `eager` are Ceph RBD's. `none` reads nothing ahead. The others are readahead of the past, to
    /// compare with.
    #[arg(long, value_name = "POLICY", default_value = PolicyKind::default().name(), value_parser = policy_values())]
    policy: String,

    /// The object store's server, for others than the provider's own
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,

    /// Send no credentials, as public buckets ask
    #[arg(long)]
    anonymous: bool,

    /// The region of the bucket
    #[arg(long, value_name = "REGION")]
    region: Option<String>,

    /// Which profile of ~/.aws to take credentials from
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,

    /// How long names, sizes and times may be out of date, as in 500ms, 1s or 5m
    ///
    /// The program remembers them for this long, and so does the kernel: at worst what is shown is
    /// twice as old. What is read from an object is never a mixture of two versions, whatever this
    /// says.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    metadata_ttl: Duration,

    /// How far the kernel itself may read ahead, as in 128KiB, or auto
    ///
    /// The kernel reads this much around every page that a program touches in a mapped file, as well
    /// as ahead of who reads forward. `auto` is one page (4KiB) with policy `adaptive`: programs that
    /// map files then cause no more reading than they need, and those that read forward get what
    /// comes next all the same. With other policies it is the kernel's own 128KiB. More than that
    /// needs root.
    #[arg(long, value_name = "SIZE", default_value = "auto", value_parser = KernelReadahead::parse)]
    kernel_readahead: KernelReadahead,

    /// Let the kernel read the files of a fast local directory itself
    ///
    /// An open file is then the file of the directory: it is read as fast as there, nothing of it is
    /// read ahead or kept in --memory, and what is written to it is seen at once, where a mount
    /// without this gives an error. Names, sizes and times are shown as ever. For directories that
    /// are about as fast as memory; a slow one is better read ahead of. Needs Linux 6.9 and root;
    /// otherwise files are read as without it, and the program says so.
    #[arg(long, conflicts_with_all = ["learn", "hints"])]
    passthrough: bool,

    /// Keep in FILE what is read of each object and in which order, and read ahead by it
    ///
    /// Boots of a machine and starts of a program repeat what they read. FILE is made if it is not
    /// there; docs/profiles.md describes it. An object that has changed is learned anew.
    #[arg(long, value_name = "FILE")]
    learn: Option<PathBuf>,

    /// Let programs say how they will read by an extended attribute
    ///
    /// `setfattr -n user.forerun.advice -v sequential FILE`; also random, normal, `willneed
    /// OFFSET+LENGTH ...` and `dontneed OFFSET+LENGTH`. The mount then shows as writable, and
    /// refuses all writes.
    #[arg(long)]
    hints: bool,

    /// Let other users use the mount
    ///
    /// For users other than root this needs the line `user_allow_other` in /etc/fuse.conf.
    #[arg(long)]
    allow_other: bool,

    /// Go into the background once mounted
    ///
    /// The command ends with status 0 when the directory can be used. The log goes nowhere unless
    /// --log is given.
    #[arg(long)]
    daemon: bool,

    /// Append the log to a file instead of showing it
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Log more; twice for what programs ask, three times for everything
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

impl MountCommand {
    /// Mounts, and waits for the end of the mount unless a daemon does.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        if self.daemon && !daemon::is_daemon() {
            return daemon::start();
        }
        log::start(self.verbose, self.log.as_deref())?;
        check_mount_point(&self.directory)?;
        if let Some(doubt) = memory::doubt(self.memory) {
            say(&doubt);
        }
        let forerun = Forerun::connect(&self.url, self.options())?;
        if self.passthrough && !forerun.url().starts_with("file:") {
            let url = forerun.url();
            return Err(format!("{url} is not a directory of this system: leave --passthrough out").into());
        }

        // From here on a signal unmounts; until here there is nothing to undo.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let stop = {
            let _context = runtime.enter();
            Stop::new()?
        };
        let options = MountOptions {
            allow_other: self.allow_other,
            metadata_ttl: self.metadata_ttl,
            kernel_readahead_bytes: self.kernel_readahead.bytes(self.policy()),
            // The other policies are to be seen as they are.
            push: self.policy() == PolicyKind::default(),
            hints: self.hints,
            passthrough: self.passthrough,
        };
        let mount = Mount::new(forerun.clone(), &self.directory, options)?;
        let context = runtime.enter();
        // Who reads that it is mounted may ask at once.
        let socket = Socket::new();
        say(&format!(
            "mounted {} on {} (policy {}, memory {})",
            forerun.url(),
            mount.directory().display(),
            self.policy,
            show_size(self.memory)
        ));
        if let Some(why) = mount.not_passed() {
            say(&format!("files are read as without --passthrough: {why}"));
        }
        self.explain_itself(socket, &forerun, mount.directory());
        drop(context);
        if daemon::is_daemon() {
            daemon::ready()?;
        }
        runtime.block_on(stop.or_end_of(&mount));
        let unmounted = unmount(mount);
        // Also if it was in use, and somebody keeps it open until this ends.
        forerun.save_learned()?;
        unmounted?;
        Ok(ExitCode::SUCCESS)
    }

    /// Answers `forerun explain` by `socket` for as long as the runtime that this is called within. A
    /// mount is of use without.
    fn explain_itself(&self, socket: io::Result<Socket>, forerun: &Forerun, directory: &Path) {
        let subject = Subject {
            forerun: forerun.clone(),
            url: self.url.clone(),
            directory: directory.to_owned(),
            policy: self.policy.clone(),
            memory_bytes_max: self.memory,
        };
        match socket {
            Ok(socket) => drop(tokio::spawn(socket.answer(subject))),
            Err(error) => tracing::warn!("`forerun explain` will not find this mount: {error}"),
        }
    }

    fn policy(&self) -> PolicyKind {
        PolicyKind::from_name(&self.policy).unwrap_or_default()
    }

    fn options(&self) -> Options {
        Options {
            memory_bytes: self.memory,
            policy: self.policy(),
            metadata_ttl: self.metadata_ttl,
            learn: self.learn.clone(),
            connect: ConnectOptions {
                endpoint: self.endpoint.clone(),
                anonymous: self.anonymous,
                region: self.region.clone(),
                profile: self.profile.clone(),
                ..ConnectOptions::default()
            },
        }
    }
}

fn policy_values() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(PolicyKind::ALL.map(PolicyKind::name))
}
