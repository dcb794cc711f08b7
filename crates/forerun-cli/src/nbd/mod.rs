//! `forerun nbd`.

mod serving;
mod sources;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use crate::mount::{EngineOptions, LogOptions};
use crate::servers::{MonitoringOptions, NamedUrl, TlsOptions};
use crate::units::parse_duration;

const EXAMPLES: &str = "\
Examples:
  A disk image of a bucket, for a virtual machine of this computer:
      forerun nbd --unix /run/disk.sock s3://images/debian.raw
      qemu-system-x86_64 -drive file='nbd+unix:///?socket=/run/disk.sock',format=raw,if=virtio,snapshot=on
  All images of a web server's directory, each by its name, as in nbd://localhost/debian.raw:
      forerun nbd --listen localhost https://example.org/images/
  An image that a virtual machine may write to, while the object stays as it is:
      forerun nbd --unix /run/disk.sock --overlay changes.overlay s3://images/debian.raw
  The disk in a qcow2 image, whose backing file is in the same bucket:
      forerun nbd --unix /run/disk.sock --format qcow2 --backing s3://images/ s3://images/vm.qcow2
  Two images with names of your own:
      forerun nbd --unix /run/disks.sock root=s3://images/debian.raw data=/net/archive/data.img

To end the server, interrupt the program. It answers the requests that it has, and closes.";

/// The content of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ImageFormat {
    /// The bytes of the object are the disk
    Raw,
    /// The object is an image of QEMU, and the disk is in it
    Qcow2,
}

/// Serve URLs as network block devices
///
/// Serves each object as an export of the Network Block Device protocol (NBD). It reads ahead for the
/// clients that read the export, such as QEMU, nbdcopy and the kernel.
/// Exports are read-only unless `--overlay` or `--writable` is given.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct NbdCommand {
    /// The objects: s3://BUCKET/KEY, https://HOST/PATH, a file, or a directory of any of these
    ///
    /// An export is named by the object's name, or by NAME. Each file of a directory is an export, named by
    /// its path in the directory. The first export is the one that clients get without a name.
    #[arg(value_name = "[NAME=]URL", required = true, value_parser = NamedUrl::parse)]
    urls: Vec<NamedUrl>,

    /// Listen at the Unix socket PATH, which is created
    #[arg(long, value_name = "PATH")]
    unix: Option<PathBuf>,

    /// Listen at a TCP address, as in localhost, 192.0.2.1:10809 or `[::]:10809`
    ///
    /// Port 10809 is used unless ADDR has one. Nothing is encrypted, and every client that reaches the
    /// address is served, unless `--tls-certificate` and `--tls-client-ca` are given.
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,

    /// The format of the objects
    ///
    /// It holds for all URLs. No object is looked at to find out, since a virtual machine can make its raw disk begin
    /// like an image. Clients see the disk as raw in either case.
    #[arg(long, value_name = "FORMAT", default_value = "raw")]
    format: ImageFormat,

    /// Let qcow2 images have backing files below the directory URL
    ///
    /// An image names its backing file by a path in this directory. Other names are refused, and so are
    /// images with a backing file if this is not given.
    #[arg(long, value_name = "URL")]
    backing: Option<String>,

    /// Keep what clients write in FILE, and leave the object as it is
    ///
    /// FILE is created if it does not exist. It belongs to this version of the object, wherever that is
    /// stored, and is refused for any other. It serves one URL of one object.
    #[arg(long, value_name = "FILE", conflicts_with = "writable")]
    overlay: Option<PathBuf>,

    /// Let clients write to the objects, which must be local files or images of Ceph
    ///
    /// No other program may change them meanwhile.
    #[arg(long)]
    writable: bool,

    #[command(flatten)]
    tls: TlsOptions,

    #[command(flatten)]
    engine: EngineOptions,

    /// How long the size of an object may be out of date when a client connects, as in 500ms, 1s or 5m
    ///
    /// A connected client never sees bytes of two versions, at any value.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    metadata_ttl: Duration,

    #[command(flatten)]
    monitoring: MonitoringOptions,

    #[command(flatten)]
    log: LogOptions,
}

impl NbdCommand {
    /// Serves until a signal comes.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        serving::serve(&self)
    }
}
