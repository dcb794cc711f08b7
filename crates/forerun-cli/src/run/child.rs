//! The process of one mount, which is started again if it fails.

use std::io;
use std::iter::repeat_n;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixDatagram;
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::configuration::Mount;
use super::part::IS_PART;
use crate::mount::service::watchdog;

/// The pauses before a failed mount is started again.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// News of a mount.
#[derive(Debug)]
pub(super) enum News {
    /// It can be used.
    Ready,
    /// It has failed, and is started again after a pause.
    Failed,
}

/// Where news of all mounts go, with their targets. Nobody listens any more when the program ends.
pub(super) type Sender = mpsc::UnboundedSender<(PathBuf, News)>;

/// The instructions of `forerun run` for a mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    pub(super) is_over: bool,
    /// How much its process logs.
    pub(super) verbose: u8,
}

/// Keeps `mount` until `instruction` ends that, or until a user unmounts it. The answer says whether
/// it ended well.
pub(super) async fn keep(mount: &Mount, mut instruction: watch::Receiver<Instruction>, news: Sender) -> bool {
    let mut pause = PAUSE_MIN;
    while !instruction.borrow().is_over {
        let (ended, was_ready) = match once(mount, &mut instruction, &news).await {
            Ok(Ended::Stopped(status)) => return status.success(),
            Ok(Ended::Itself(status, _)) if status.success() => return true,
            Ok(Ended::Itself(status, was_ready)) => (format!("its process ended with {status}"), was_ready),
            Err(error) => (format!("its process does not start: {error}"), false),
        };
        let _ = news.send((mount.target.clone(), News::Failed));
        pause = if was_ready { PAUSE_MIN } else { pause };
        tracing::error!(
            target: "forerun::mount", "the mount on {} failed: {ended}; it is started again in {} s",
            mount.target.display(), pause.as_secs()
        );
        tokio::select! {
            () = sleep(pause) => pause = (2 * pause).min(PAUSE_MAX),
            () = over(&mut instruction) => {}
        }
    }
    true
}

/// Waits until the mount is to end. The value of the channel is not kept, since it locks the channel.
async fn over(instruction: &mut watch::Receiver<Instruction>) {
    let _ = instruction.wait_for(|instruction| instruction.is_over).await;
}

/// Waits for the next instruction.
async fn changed(instruction: &mut watch::Receiver<Instruction>) -> Instruction {
    let is_over = instruction.changed().await.is_err();
    let now = *instruction.borrow_and_update();
    Instruction { is_over: is_over || now.is_over, ..now }
}

/// How a process ended.
enum Ended {
    /// It was asked to.
    Stopped(ExitStatus),
    /// By itself; it was ready before, or not.
    Itself(ExitStatus, bool),
}

async fn once(
    mount: &Mount,
    instruction: &mut watch::Receiver<Instruction>,
    news: &Sender,
) -> io::Result<Ended> {
    let folder = tempfile::tempdir()?;
    let verbose = instruction.borrow_and_update().verbose;
    let (socket, mut child) = start(mount, verbose, &folder)?;
    let mut levels = child.stdin.take();
    // Connecting to a store may take as long as it likes, so the watch begins with the first notice.
    let (patience, mut silent_at) = (watchdog(), None::<Instant>);
    let (mut bytes, mut is_ready) = ([0; 4096], false);
    loop {
        let silence = async move {
            match silent_at {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            status = child.wait() => return Ok(Ended::Itself(status?, is_ready)),
            received = socket.recv(&mut bytes) => {
                if bytes[..received?].starts_with(b"READY=1") {
                    is_ready = true;
                    let _ = news.send((mount.target.clone(), News::Ready));
                }
                silent_at = patience.map(|patience| Instant::now() + patience);
            }
            now = changed(instruction) => {
                if now.is_over {
                    signal(&child, Signal::TERM);
                    return Ok(Ended::Stopped(child.wait().await?));
                }
                if let Some(levels) = &mut levels {
                    // A process that has ended by itself reads no level.
                    let _ = levels.write_all(format!("{}\n", now.verbose).as_bytes()).await;
                }
            }
            () = silence => {
                let shown = mount.target.display();
                tracing::error!(target: "forerun::mount", "the mount on {shown} does not answer, and is ended");
                signal(&child, Signal::KILL);
                silent_at = None;
            }
        }
    }
}

/// Starts the process, whose notices come to the socket in `folder`.
fn start(mount: &Mount, verbose: u8, folder: &TempDir) -> io::Result<(UnixDatagram, Child)> {
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path)?;
    let child = command(mount, verbose, &path).spawn()?;
    Ok((socket, child))
}

fn command(mount: &Mount, verbose: u8, notify: &Path) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("forerun").arg("mount").args(repeat_n("--verbose", verbose.into())).args(&mount.arguments);
    // An interrupt on a terminal comes to the parent alone, which then stops all mounts.
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null());
    command.env(IS_PART, "1").env("NOTIFY_SOCKET", notify).env_remove("WATCHDOG_PID");
    command
}

fn signal(child: &Child, signal: Signal) {
    let process = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    // It has ended by itself if the signal finds nothing.
    let _ = process.map(|process| kill_process(process, signal));
}
