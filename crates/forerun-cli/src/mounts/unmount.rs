//! `forerun unmount`.

use std::error::Error;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::holders::holders;
use super::table::{Mounted, mounted};
use crate::explain::{Running, running};
use crate::print::say;

/// Unmount a directory, and wait until its process has ended
///
/// The process writes the profile of --learn before it ends. A mount that a program uses stays
/// mounted, and the command names the program.
#[derive(Debug, clap::Args)]
pub(crate) struct UnmountCommand {
    /// The directory that is mounted
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Unmount it although programs use it, and do not wait
    ///
    /// The directory is empty at once. Programs keep the files that they have open, and the process
    /// ends after the last of them is closed.
    #[arg(long)]
    lazy: bool,
}

impl UnmountCommand {
    /// Unmounts, and waits.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let mount = find(&self.directory)?;
        let shown = mount.directory.display();
        let server = server(&mount.directory)?;
        forerun_serve::fuse::unmount(&mount.directory, self.lazy)
            .map_err(|error| why_not(&mount.directory, &error))?;
        let elsewhere = mounted()?.into_iter().find(|other| other.device == mount.device);
        match (server, elsewhere) {
            _ if self.lazy => {
                say(&format!("unmounted {shown}; programs that still use it keep it until they close it"));
            }
            (_, Some(other)) => say(&format!(
                "unmounted {shown}; the same mount is also on {}, so its process goes on",
                other.directory.display()
            )),
            (Some(process), None) => {
                wait_for_end(&process)?;
                say(&format!("unmounted {shown}"));
            }
            (None, None) => say(&format!("unmounted {shown}, which no process of this user serves")),
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The topmost mount on `directory`.
fn find(directory: &Path) -> Result<Mounted, Box<dyn Error>> {
    let mounts = mounted()?;
    let on = |path: PathBuf| mounts.iter().rfind(|mount| mount.directory == path);
    // A mount that does not answer cannot be resolved itself.
    let unasked = std::path::absolute(directory)
        .ok()
        .and_then(|path| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)));
    let found = unasked.and_then(on).or_else(|| on(directory.canonicalize().ok()?));
    found.cloned().ok_or_else(|| {
        let shown = directory.display();
        format!("Forerun is not mounted on {shown}: `forerun list` shows where it is mounted").into()
    })
}

/// The process that serves `directory`, if it is this user's.
fn server(directory: &Path) -> io::Result<Option<OwnedFd>> {
    let process = running().into_iter().find(|one: &Running| one.directory == directory);
    let number = process.and_then(|one| Pid::from_raw(i32::try_from(one.process).ok()?));
    Ok(number.map(|number| pidfd_open(number, PidfdFlags::empty())).transpose()?)
}

fn wait_for_end(process: &OwnedFd) -> io::Result<()> {
    rustix::io::retry_on_intr(|| poll(&mut [PollFd::new(process, PollFlags::IN)], None))?;
    Ok(())
}

fn why_not(directory: &Path, error: &str) -> String {
    let (shown, holders) = (directory.display(), holders(directory));
    if holders.is_empty() {
        return format!(
            "{shown} cannot be unmounted: {error}; if it is in use, add --lazy, or run this as root to see \
             which programs use it"
        );
    }
    format!("{shown} is in use by {}: end them, or add --lazy", holders.join(", "))
}
