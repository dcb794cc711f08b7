//! QEMU's monitor, which tells how much the machine has read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

/// QEMU answers its monitor in milliseconds.
const MONITOR_TIME_MAX: Duration = Duration::from_secs(30);

/// The monitor of a machine that runs.
#[derive(Debug)]
pub(super) struct QemuMonitor {
    socket: PathBuf,
}

impl QemuMonitor {
    /// The one of the machine whose files are in `folder`.
    pub(super) fn within(folder: &Path) -> QemuMonitor {
        QemuMonitor { socket: folder.join("monitor") }
    }

    /// The option with which QEMU listens there.
    pub(super) fn option(&self) -> String {
        format!("unix:{},server=on,wait=off", self.socket.display())
    }

    /// The bytes that the machine has read from its disk.
    ///
    /// # Errors
    /// If QEMU does not tell.
    pub(super) async fn read_bytes(&self) -> Result<u64, String> {
        let asked = timeout(MONITOR_TIME_MAX, self.ask("query-blockstats")).await;
        let answer = asked.map_err(|_| "QEMU's monitor does not answer".to_owned())?;
        let answer = answer.map_err(|error| format!("QEMU's monitor: {error}"))?;
        read_bytes_in(&answer).ok_or_else(|| format!("QEMU's monitor tells of no reads: {answer}"))
    }

    /// The answer of the monitor to `command`, one line of JSON.
    async fn ask(&self, command: &str) -> std::io::Result<String> {
        let (input, mut output) = UnixStream::connect(&self.socket).await?.into_split();
        let mut lines = BufReader::new(input).lines();
        lines.next_line().await?;
        for command in ["qmp_capabilities", command] {
            output.write_all(format!("{{\"execute\": \"{command}\"}}\n").as_bytes()).await?;
        }
        lines.next_line().await?;
        // Events may come before the answer.
        while let Some(line) = lines.next_line().await? {
            if !line.contains("\"event\": ") {
                return Ok(line);
            }
        }
        Err(std::io::ErrorKind::UnexpectedEof.into())
    }
}

/// The bytes read from all devices, in an answer to `query-blockstats`. None if it tells of no device.
fn read_bytes_in(answer: &str) -> Option<u64> {
    let after = answer.split("\"rd_bytes\": ").skip(1);
    let each: Option<Vec<u64>> =
        after.map(|rest| rest.split([',', '}']).next()?.trim().parse().ok()).collect();
    each.filter(|each| !each.is_empty()).map(|each| each.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_reads_of_all_devices() {
        let one =
            |bytes| format!("{{\"stats\": {{\"wr_bytes\": 9, \"rd_bytes\": {bytes}}}, \"qdev\": \"x\"}}");
        assert_eq!(read_bytes_in(&format!("{{\"return\": [{}, {}]}}", one("4096"), one("512"))), Some(4608));
        assert_eq!(read_bytes_in(&format!("{{\"return\": [{}, {}]}}", one("4096"), one("none"))), None);
        assert_eq!(read_bytes_in("{\"error\": {}}"), None);
    }
}
