//! Programs that read from the bad directory in a loop.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::process::Command;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::demo::store::{BAD, BAD_FILE, Victim};

const COUNT: usize = 3;
/// The limit for a program to end.
const END_MAX: Duration = Duration::from_secs(10);
/// The pause between two programs: failing programs would otherwise measure process starts.
const PAUSE: Duration = Duration::from_millis(50);

/// The programs that are running.
#[derive(Debug)]
pub(super) struct Victims {
    /// Tells the loops to kill their programs.
    kill: watch::Sender<bool>,
    each: Vec<JoinHandle<Result<(Duration, u64), String>>>,
}

impl Victims {
    pub(super) fn start(victim: Victim, directory: &Path) -> Victims {
        let (kill, is_killed) = watch::channel(false);
        let (program, path) = match victim {
            Victim::Lists => ("ls", directory.join(BAD)),
            Victim::Reads => ("cat", directory.join(BAD_FILE)),
        };
        let each = (0..COUNT).map(|_| tokio::spawn(again(program, path.clone(), is_killed.clone())));
        Victims { kill, each: each.collect() }
    }

    /// Kills them. Returns the longest time that one took to end, and how many ended by themselves.
    ///
    /// # Errors
    /// A program that does not start.
    pub(super) async fn kill(self) -> Result<(Duration, u64), String> {
        self.kill.send_replace(true);
        let (mut longest, mut ended) = (Duration::ZERO, 0);
        for victim in self.each {
            let (took, ends) = victim.await.map_err(|error| format!("a program's task: {error}"))??;
            longest = longest.max(took);
            ended += ends;
        }
        Ok((longest, ended))
    }
}

/// Runs `program` in a loop until it is to be killed. Returns the time of the kill, and how often
/// the program ended by itself.
async fn again(
    program: &str,
    path: PathBuf,
    mut is_killed: watch::Receiver<bool>,
) -> Result<(Duration, u64), String> {
    let mut ended = 0;
    loop {
        let mut command = Command::new(program);
        command.arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("{program} does not start: {error}"))?;
        let is_asked = async { is_killed.wait_for(|is_killed| *is_killed).await.is_ok() };
        tokio::select! {
            _ = child.wait() => ended += 1,
            _ = is_asked => {
                let asked = Instant::now();
                // It may have ended meanwhile.
                let _ = child.start_kill();
                let _ = timeout(END_MAX, child.wait()).await;
                return Ok((asked.elapsed(), ended));
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}
