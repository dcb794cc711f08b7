//! The options of a mount, except for its URL and its directory.

use std::time::Duration;

use forerun::{Options, PolicyKind};
use forerun_serve::fuse::{MountOptions, OPERATIONS};

use super::{EngineOptions, KernelReadahead, LogOptions};
use crate::servers::{Monitoring, MonitoringOptions};
use crate::units::parse_duration;

/// How a mount reads, and how it is shown.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Settings {
    #[command(flatten)]
    pub(crate) engine: EngineOptions,

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

    #[command(flatten)]
    pub(crate) monitoring: MonitoringOptions,

    #[command(flatten)]
    pub(crate) log: LogOptions,
}

impl Settings {
    /// For the library.
    pub(super) fn engine(&self, monitoring: &Monitoring) -> Options {
        monitoring.metered(self.engine.options().with_metadata_ttl(self.metadata_ttl))
    }

    /// For the kernel above a mount, of a local directory if `is_local`.
    pub(super) fn kernel(&self, is_local: bool, monitoring: &Monitoring) -> MountOptions {
        MountOptions::default()
            .with_allow_other(self.allow_other)
            .with_noexec(self.noexec)
            .with_metadata_ttl(self.metadata_ttl)
            .with_kernel_readahead_bytes(self.kernel_readahead.bytes(self.engine.policy(), is_local))
            // The other policies are to be seen as they are.
            .with_push(self.engine.policy() == PolicyKind::default())
            .with_hints(self.hints)
            .with_passthrough(self.passthrough)
            .with_requests(monitoring.requests(OPERATIONS))
    }
}
