//! `forerun mount`.

mod allocator;
pub(crate) mod daemon;
mod end;
pub(crate) mod helper;
mod kernel_readahead;
mod memory;
mod place;
mod remount;
mod service;

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use forerun::{Forerun, Options, PolicyKind, RetryOptions};
use forerun_backend::ConnectOptions;
use forerun_serve::fuse::MountOptions;

use crate::explain::{Socket, Subject};
use crate::log;
use crate::print::say;
use crate::units::{parse_duration, parse_size, show_size};
pub(crate) use end::{Stop, unmount};
pub(crate) use kernel_readahead::KernelReadahead;
use place::Place;
pub(crate) use remount::Remount;
use service::Service;

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

To unmount, interrupt the program, or run `forerun unmount DIR`. `fusermount3 -u DIR` and, as root,
`umount DIR` do not wait until the program has ended.";

/// Mount a URL as a read-only directory
///
/// Mounts the files at URL as a read-only directory, and reads ahead for the programs that read
/// them. The mount stays until the program is interrupted or the directory is unmounted.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct MountCommand {
    /// The source: s3://BUCKET/PREFIX, https://HOST/PATH, a directory, or a single object
    ///
    /// Google Cloud Storage is gs://BUCKET/PREFIX, Azure Blob Storage az://CONTAINER/PREFIX. A
    /// single object is shown as a directory with that one file.
    #[arg(value_name = "URL")]
    url: String,

    /// The empty directory to mount it on, or /dev/fd/N
    ///
    /// N is the number of a descriptor of /dev/fuse that another program has opened, mounted and
    /// handed over. This takes no rights. The other program unmounts.
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Memory for data, as in 256MiB or 1G
    ///
    /// Bytes in flight, bytes read ahead and bytes already read share this memory. The kernel also
    /// keeps the bytes that programs have read in its page cache.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_size)]
    memory: u64,

    /// The policy that decides what is read ahead
    ///
    /// `adaptive` follows several readers of one object and sizes its windows by the storage's
    /// latency and rate. `ondemand` is the readahead of Linux for local disks. `plain`,
    /// `aligned` and `eager` are those of Ceph RBD. `none` reads nothing ahead. The others are
    /// historic, for comparison.
    #[arg(long, value_name = "POLICY", default_value = PolicyKind::default().name(), value_parser = policy_values())]
    policy: String,

    /// The server of the object store, if it is not the provider's own
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,

    /// Send no credentials, as for public buckets
    #[arg(long)]
    anonymous: bool,

    /// The region of the bucket
    #[arg(long, value_name = "REGION")]
    region: Option<String>,

    /// The profile of ~/.aws to take credentials from
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,

    /// Send the headers in FILE to the web server, such as `Authorization: Bearer TOKEN`
    ///
    /// FILE has a line `Name: value` for each header. A changed file is used from the next request on.
    /// No other server gets the headers. Users and passwords may also be in ~/.netrc;
    /// docs/credentials.md describes both.
    #[arg(long, value_name = "FILE")]
    header_file: Option<PathBuf>,

    /// How long a request is tried again, as in 30s, if the server fails or cannot be reached
    ///
    /// Readers wait meanwhile. 0 gives them the first error, and `forever` never an error.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_patience)]
    retry_timeout: Duration,

    /// How long names, sizes and times may be out of date, as in 500ms, 1s or 5m
    ///
    /// The program and the kernel each remember them for this long, so that a program may see them
    /// twice as old. The bytes of an object never mix two versions, at any value.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    metadata_ttl: Duration,

    /// How far the kernel itself may read ahead, as in 128KiB, or auto
    ///
    /// The kernel reads this much around each page that a program touches through mmap, and ahead of
    /// sequential reads. `auto` is one page (4KiB) with policy `adaptive`: mapped files then cause no
    /// needless fetches, and the mount itself reads ahead. For a local directory, and with other
    /// policies, `auto` is the kernel's default of 128KiB. Larger values need root.
    #[arg(long, value_name = "SIZE", default_value = "auto", value_parser = KernelReadahead::parse)]
    kernel_readahead: KernelReadahead,

    /// Let the kernel read the files of a fast local directory itself
    ///
    /// An open file is then the directory's own file, and as fast. Nothing of it is read ahead or kept
    /// in --memory. A reader sees writes to it at once, where a mount without this option reports an
    /// error. Names, sizes and times are shown as usual. Use it for directories that are about as fast
    /// as memory; slower ones need readahead. It needs Linux 6.9 and root; otherwise the mount reads
    /// the files itself and says so.
    #[arg(long, conflicts_with_all = ["learn", "hints"])]
    passthrough: bool,

    /// Record in FILE which parts of each object are read in which order, and read ahead along it
    ///
    /// Use it for reads that repeat, such as the boot of a machine or the start of a program. FILE is
    /// created if it does not exist; docs/profiles.md describes it. An object that has changed is
    /// learned again.
    #[arg(long, value_name = "FILE")]
    learn: Option<PathBuf>,

    /// Let programs give advice through an extended attribute
    ///
    /// `setfattr -n user.forerun.advice -v sequential FILE` announces sequential reads. Other values
    /// are random, normal, `willneed OFFSET+LENGTH ...` and `dontneed OFFSET+LENGTH`. The mount then
    /// looks writable, and refuses all writes.
    #[arg(long)]
    hints: bool,

    /// Let other users use the mount
    ///
    /// Users other than root need the line `user_allow_other` in /etc/fuse.conf for this.
    #[arg(long)]
    allow_other: bool,

    /// Let no program on the mount be started
    #[arg(long)]
    noexec: bool,

    /// Go into the background once mounted
    ///
    /// The command ends with status 0 once the directory can be used. Warnings go to the system's log
    /// (/dev/log), unless --log is given.
    #[arg(long)]
    daemon: bool,

    /// Append the log to a file instead of showing it
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Log more: -vv also logs the requests of programs, and -vvv everything
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

impl MountCommand {
    /// Mounts, and waits for the end of the mount unless a daemon does.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        if self.daemon && !daemon::is_daemon() {
            return daemon::start();
        }
        allocator::keep_little();
        log::start(self.verbose, self.log.as_deref())?;
        self.check_order()?;
        let service = Service::new()?;
        let place = Place::new(&self.directory)?;
        if let Some(doubt) = memory::doubt(self.memory) {
            say(&doubt);
        }
        let forerun = Forerun::connect_blocking(&self.url, self.options())?;
        let is_local = forerun.url().starts_with("file:");
        if self.passthrough && !is_local {
            let url = forerun.url();
            return Err(format!(
                "--passthrough needs a local directory, and {url} is not one: leave the option out"
            )
            .into());
        }

        // From here on a signal unmounts; until here there is nothing to undo.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let stop = {
            let _context = runtime.enter();
            Stop::new()?
        };
        let options = MountOptions {
            allow_other: self.allow_other,
            noexec: self.noexec,
            metadata_ttl: self.metadata_ttl,
            kernel_readahead_bytes: self.kernel_readahead.bytes(self.policy(), is_local),
            // The other policies are to be seen as they are.
            push: self.policy() == PolicyKind::default(),
            hints: self.hints,
            passthrough: self.passthrough,
        };
        let mount = place.mount(forerun.clone(), options)?;
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
            say(&format!("--passthrough is not used: {why}"));
        }
        self.explain_itself(socket, &forerun, mount.directory());
        drop(context);
        if daemon::is_daemon() {
            daemon::ready()?;
        }
        if let Some(service) = &service {
            service.ready(&format!("{} on {}", forerun.url(), mount.directory().display()));
        }
        runtime.block_on(async {
            tokio::select! {
                () = stop.or_end_of(&mount) => {}
                () = service::watch(service.as_ref(), &forerun, mount.directory()) => {}
            }
        });
        service.iter().for_each(Service::stopping);
        let unmounted = unmount(mount);
        // Also if it was in use, and somebody keeps it open until this ends.
        forerun.save_learned()?;
        unmounted?;
        Ok(ExitCode::SUCCESS)
    }

    /// Advises who has named the directory first.
    fn check_order(&self) -> Result<(), String> {
        match self.directory.to_str() {
            Some(url) if url.contains("://") => Err(format!(
                "the URL comes first: forerun mount {} {}",
                forerun::without_secrets(url),
                forerun::without_secrets(&self.url)
            )),
            _ => Ok(()),
        }
    }

    /// Answers `forerun explain` by `socket` for as long as the runtime that this is called within. A
    /// mount is of use without.
    fn explain_itself(&self, socket: io::Result<Socket>, forerun: &Forerun, directory: &Path) {
        let subject = Subject {
            forerun: forerun.clone(),
            url: forerun::without_secrets(&self.url),
            directory: directory.to_owned(),
            policy: self.policy.clone(),
            memory_bytes_max: self.memory,
            since: Instant::now(),
        };
        match socket {
            Ok(socket) => drop(tokio::spawn(socket.answer(subject))),
            Err(error) => {
                tracing::warn!(target: "forerun::mount", "`forerun explain` will not find this mount: {error}")
            }
        }
    }

    fn policy(&self) -> PolicyKind {
        self.policy.parse().unwrap_or_default()
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
                header_file: self.header_file.clone(),
                retry: RetryOptions { deadline: self.retry_timeout, ..RetryOptions::default() },
                ..ConnectOptions::default()
            },
            ..Options::default()
        }
    }
}

/// As [`parse_duration`], and `forever`.
fn parse_patience(text: &str) -> Result<Duration, String> {
    if text == "forever" { Ok(Duration::MAX) } else { parse_duration(text) }
}

fn policy_values() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(PolicyKind::ALL.map(PolicyKind::name))
}
