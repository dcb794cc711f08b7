//! The options of a mount, except for its URL and its directory.

use std::path::PathBuf;
use std::time::Duration;

use forerun::{Options, PolicyKind};
use forerun_serve::fuse::MountOptions;

use super::{KernelReadahead, SourceOptions};
use crate::log::Format;
use crate::units::{parse_duration, parse_size};

/// How a mount reads, and how it is shown.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Settings {
    /// Memory for data, as in 256MiB or 1G
    ///
    /// Bytes in flight, bytes read ahead and bytes already read share this memory. The kernel also
    /// keeps the bytes that programs have read in its page cache.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_size)]
    pub(crate) memory: u64,

    /// The policy that decides what is read ahead
    ///
    /// `adaptive` follows several readers of one object and sizes its windows by the storage's
    /// latency and rate. `ondemand` is the readahead of Linux for local disks. `plain`,
    /// `aligned` and `eager` are those of Ceph RBD. `none` reads nothing ahead. The others are
    /// historic, for comparison.
    #[arg(long, value_name = "POLICY", default_value = PolicyKind::default().name(), value_parser = policy_values())]
    pub(crate) policy: String,

    #[command(flatten)]
    pub(crate) source: SourceOptions,

    /// How long names, sizes and times may be out of date, as in 500ms, 1s or 5m
    ///
    /// The program and the kernel each remember them for this long, so that a program may see them
    /// twice as old. The bytes of an object never mix two versions, at any value.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub(crate) metadata_ttl: Duration,

    /// How far the kernel itself may read ahead, as in 128KiB, or auto
    ///
    /// The kernel reads this much around each page that a program touches through mmap, and ahead of
    /// sequential reads. `auto` is one page (4KiB) with policy `adaptive`: mapped files then cause no
    /// needless fetches, and the mount itself reads ahead. For a local directory, and with other
    /// policies, `auto` is the kernel's default of 128KiB. Larger values need root.
    #[arg(long, value_name = "SIZE", default_value = "auto", value_parser = KernelReadahead::parse)]
    pub(crate) kernel_readahead: KernelReadahead,

    /// Let the kernel read the files of a fast local directory itself
    ///
    /// An open file is then the directory's own file, and as fast. Nothing of it is read ahead or kept
    /// in --memory. A reader sees writes to it at once, where a mount without this option reports an
    /// error. Names, sizes and times are shown as usual. Use it for directories that are about as fast
    /// as memory; slower ones need readahead. It needs Linux 6.9 and root; otherwise the mount reads
    /// the files itself and says so.
    #[arg(long, conflicts_with_all = ["learn", "hints"])]
    pub(crate) passthrough: bool,

    /// Record in FILE which parts of each object are read in which order, and read ahead along it
    ///
    /// Use it for reads that repeat, such as the boot of a machine or the start of a program. FILE is
    /// created if it does not exist; docs/profiles.md describes it. An object that has changed is
    /// learned again.
    #[arg(long, value_name = "FILE")]
    pub(crate) learn: Option<PathBuf>,

    /// Let programs give advice through an extended attribute
    ///
    /// `setfattr -n user.forerun.advice -v sequential FILE` announces sequential reads. Other values
    /// are random, normal, `willneed OFFSET+LENGTH ...` and `dontneed OFFSET+LENGTH`. The mount then
    /// looks writable, and refuses all writes.
    #[arg(long)]
    pub(crate) hints: bool,

    /// Let other users use the mount
    ///
    /// Users other than root need the line `user_allow_other` in /etc/fuse.conf for this.
    #[arg(long)]
    pub(crate) allow_other: bool,

    /// Let no program on the mount be started
    #[arg(long)]
    pub(crate) noexec: bool,

    /// Append the log to a file instead of showing it
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,

    /// How and where the log is written
    ///
    /// Without it, the log is text. A service whose standard error is the journal of systemd logs to
    /// the journal, with a level and a target for each message.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) log_format: Option<Format>,

    /// Log more: -vv also logs the requests of programs, and -vvv everything
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

impl Settings {
    pub(super) fn policy(&self) -> PolicyKind {
        self.policy.parse().unwrap_or_default()
    }

    /// For the library.
    pub(super) fn engine(&self) -> Options {
        Options::default()
            .with_memory_bytes(self.memory)
            .with_policy(self.policy())
            .with_metadata_ttl(self.metadata_ttl)
            .with_learn(self.learn.clone())
            .with_connect(self.source.connect())
    }

    /// For the kernel above a mount, of a local directory if `is_local`.
    pub(super) fn kernel(&self, is_local: bool) -> MountOptions {
        MountOptions {
            allow_other: self.allow_other,
            noexec: self.noexec,
            metadata_ttl: self.metadata_ttl,
            kernel_readahead_bytes: self.kernel_readahead.bytes(self.policy(), is_local),
            // The other policies are to be seen as they are.
            push: self.policy() == PolicyKind::default(),
            hints: self.hints,
            passthrough: self.passthrough,
        }
    }
}

fn policy_values() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(PolicyKind::ALL.map(PolicyKind::name))
}
