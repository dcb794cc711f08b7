//! `forerun unmount`.

use std::error::Error;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::holders::{holders, named};
use super::table::{Mounted, mounted};
use crate::explain::{Running, running};
use crate::print::say;
use crate::units::parse_duration;

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

    /// How long to wait for the end of the process, as in 30s or 5m
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    timeout: Duration,
}

/// The process that serves a mount.
struct Server {
    number: u32,
    handle: OwnedFd,
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
            (Some(server), None) => {
                if !server.ends_within(self.timeout)? {
                    return Err(still_there(&mount.directory, &server, self.timeout).into());
                }
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
fn server(directory: &Path) -> io::Result<Option<Server>> {
    let Some(running) = running().into_iter().find(|one: &Running| one.directory == directory) else {
        return Ok(None);
    };
    let number = running.process;
    let Some(process) = i32::try_from(number).ok().and_then(Pid::from_raw) else { return Ok(None) };
    Ok(Some(Server { number, handle: pidfd_open(process, PidfdFlags::empty())? }))
}

impl Server {
    /// Waits for its end, for `time` at most.
    fn ends_within(&self, time: Duration) -> io::Result<bool> {
        let start = Instant::now();
        loop {
            let left = time.saturating_sub(start.elapsed());
            // A length of time that the system cannot count is for ever.
            let left = Timespec::try_from(left).ok();
            match poll(&mut [PollFd::new(&self.handle, PollFlags::IN)], left.as_ref()) {
                Err(Errno::INTR) => {}
                ended => return Ok(ended? > 0),
            }
        }
    }
}

/// Says what is left of a mount whose process does not end.
fn still_there(directory: &Path, server: &Server, time: Duration) -> String {
    format!(
        "{} is unmounted, but {} still serves it after {} s: it may be writing its profile; wait for it, or end it by \
         `kill -9 {}`",
        directory.display(),
        named(server.number),
        time.as_secs_f64(),
        server.number
    )
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

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_that_does_not_end_in_time_is_named() {
        let mut process = Command::new("sleep").arg("60").spawn().unwrap();
        let number = process.id();
        let pid = Pid::from_raw(i32::try_from(number).unwrap()).unwrap();
        let server = Server { number, handle: pidfd_open(pid, PidfdFlags::empty()).unwrap() };
        let time = Duration::from_millis(20);
        assert!(!server.ends_within(time).unwrap());
        let said = still_there(Path::new("/mnt"), &server, time);
        assert!(said.contains(&format!("sleep (process {number})")) && said.contains("0.02 s"), "{said}");
        process.kill().unwrap();
        assert!(server.ends_within(Duration::MAX).unwrap());
        process.wait().unwrap();
    }
}
