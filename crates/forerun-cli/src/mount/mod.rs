//! `forerun mount`.

pub(crate) mod daemon;
mod end;
mod engine;
pub(crate) mod helper;
mod kernel_readahead;
pub(crate) mod place;
mod remount;
pub(crate) mod running;
pub(crate) mod service;
mod settings;
mod shares;
mod source;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) use end::{Stop, unmount};
pub(crate) use engine::{EngineOptions, LogOptions};
pub(crate) use kernel_readahead::KernelReadahead;
pub(crate) use remount::Remount;
pub(crate) use settings::Settings;
pub(crate) use source::SourceOptions;

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

    /// Go into the background once mounted
    ///
    /// The command ends with status 0 once the directory can be used. Warnings go to the system's log
    /// (/dev/log), unless --log is given.
    #[arg(long)]
    daemon: bool,

    #[command(flatten)]
    settings: Settings,
}

impl MountCommand {
    /// Mounts, and waits for the end of the mount unless a daemon does.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        if self.daemon && !daemon::is_daemon() {
            return daemon::start();
        }
        self.check_order()?;
        running::serve(&self.url, &self.directory, &self.settings)
    }

    /// The options alone.
    pub(crate) fn into_settings(self) -> Settings {
        self.settings
    }

    /// Advises a user who has named the directory first.
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
}
