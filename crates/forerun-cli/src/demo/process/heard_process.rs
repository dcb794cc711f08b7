//! A process that tells on standard error when it is ready.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::oneshot::{self, Receiver};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::START_MAX;
use crate::print::tell;

/// The limit for an end, which waits for reads under way.
const STOP_MAX: Duration = Duration::from_secs(15);

/// A process whose lines on standard error are passed on.
#[derive(Debug)]
pub(crate) struct HeardProcess {
    child: Child,
    log: JoinHandle<()>,
}

impl HeardProcess {
    /// Starts `program`. The receiver gets the line that begins with `ready`, and an error if the process ends. Neither
    /// this line nor those with one of `hidden` are passed on.
    pub(super) fn spawn(
        mut program: Command,
        ready: &'static str,
        hidden: &'static [&'static str],
    ) -> Result<(HeardProcess, Receiver<String>), String> {
        let spawned = program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|error| {
            format!("{} does not start: {error}", program.as_std().get_program().display())
        })?;
        let stderr = child.stderr.take();
        let (told, is_told) = oneshot::channel();
        let log = tokio::spawn(async move {
            let mut told = Some(told);
            let Some(stderr) = stderr else { return };
            let mut lines = BufReader::new(stderr).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                if line.starts_with(ready) {
                    _ = told.take().map(|told| told.send(line));
                } else if !hidden.iter().any(|end| line.contains(end)) {
                    tell(&line);
                }
            }
        });
        Ok((HeardProcess { child, log }, is_told))
    }

    /// The process id, as long as the process runs.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// The peak of the process's resident memory, in bytes.
    pub(crate) fn memory_peak_bytes(&self) -> Result<u64, String> {
        self.memory("VmHWM:")
    }

    /// The process's resident memory, in bytes.
    pub(crate) fn memory_bytes(&self) -> Result<u64, String> {
        self.memory("VmRSS:")
    }

    fn memory(&self, field: &str) -> Result<u64, String> {
        let id = self.child.id().ok_or("a process of the measurement has ended")?;
        let path = format!("/proc/{id}/status");
        let status = std::fs::read_to_string(&path).map_err(|error| format!("reading {path}: {error}"))?;
        bytes_of(field, &status).ok_or_else(|| format!("{path} has no {field}"))
    }

    /// Asks it to end, and waits for that.
    pub(crate) async fn stop(&mut self) -> Result<(), String> {
        let ended = end(&mut self.child).await;
        let _ = timeout(START_MAX, &mut self.log).await;
        ended
    }

    pub(super) fn kill(&mut self) {
        let _ = self.child.start_kill();
    }
}

/// Asks `child` to end, and waits for that.
pub(crate) async fn end(child: &mut Child) -> Result<(), String> {
    if let Some(pid) = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)) {
        // Not reaped yet, so the id is still this process's.
        let _ = kill_process(pid, Signal::TERM);
    }
    let ended = timeout(STOP_MAX, child.wait()).await;
    if ended.is_err() {
        let _ = child.kill().await;
    }
    ended.map(drop).map_err(|_| format!("did not end within {STOP_MAX:?} and was killed"))
}

/// A field of a `/proc/PID/status`, in bytes.
fn bytes_of(field: &str, status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix(" kB")?.parse().ok().map(|kib: u64| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_of_a_process() {
        let status = "Name:\tforerun\nVmHWM:\t  3072 kB\nVmRSS:\t 1024 kB\n";
        assert_eq!(bytes_of("VmHWM:", status), Some(3072 * 1024));
        assert_eq!(bytes_of("VmRSS:", status), Some(1024 * 1024));
        assert_eq!(bytes_of("VmHWM:", "Name:\tkthreadd\n"), None);
        let own = std::fs::read_to_string("/proc/self/status").unwrap();
        assert!(bytes_of("VmHWM:", &own).unwrap() > 100_000);
    }
}
