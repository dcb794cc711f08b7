//! A virtual machine of QEMU's, which writes into a file of its own.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::{Instant, timeout_at};

use super::boot_console::{BootConsole, BootStep};
use super::machine_parts::{Accelerator, BootDisk, Bus};
use super::qemu_monitor::QemuMonitor;
use crate::demo::process::end;
use crate::scratch::scratch;

const MEMORY_MIB: &str = "1024";
/// The file system writes blocks of this size. A larger cluster would make QEMU read the rest of it.
const CLUSTER: &str = "cluster_size=4096";

/// A machine that runs.
#[derive(Debug)]
pub(super) struct VirtualMachine {
    child: Child,
    power_on: Instant,
    output: BufReader<ChildStdout>,
    console: BootConsole,
    /// The socket of the monitor, the file that takes the writes, and QEMU's messages.
    folder: TempDir,
}

impl VirtualMachine {
    /// Turns on a machine with `disk`, which has `size` bytes.
    ///
    /// # Errors
    /// If QEMU does not start.
    pub(super) async fn start(
        disk: &BootDisk,
        size: u64,
        bus: Bus,
        accelerator: Accelerator,
    ) -> Result<VirtualMachine, String> {
        let folder = scratch()?;
        let writes = folder.path().join("writes");
        make_writes_file(&writes, size).await?;
        let log = File::create(log_in(folder.path())).map_err(|error| format!("a log of QEMU: {error}"))?;
        let mut command = Command::new("qemu-system-x86_64");
        command.process_group(0).kill_on_drop(true);
        command.args(["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-vga", "std"]);
        command.args(["-machine", "pc", "-smp", "1", "-m", MEMORY_MIB]).args(accelerator.options());
        command.args(["-serial", "stdio", "-qmp"]).arg(QemuMonitor::within(folder.path()).option());
        command.args(["-blockdev", &format!("node-name=base,read-only=on,{}", disk.node())]);
        let writes = format!(
            "driver=qcow2,node-name=disk,backing=base,file.driver=file,file.filename={}",
            writes.display()
        );
        command.args(["-blockdev", &writes, "-device", bus.device()]);
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn();
        let mut child = spawned.map_err(|error| missing("qemu-system-x86_64", &error))?;
        let output = child.stdout.take().ok_or("QEMU has no console")?;
        let output = BufReader::new(output);
        Ok(VirtualMachine {
            child,
            power_on: Instant::now(),
            output,
            console: BootConsole::default(),
            folder,
        })
    }

    /// The process id, as long as the process runs.
    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for the next step. Returns it, and the time since power-on.
    ///
    /// # Errors
    /// If `time_max` since power-on has passed, or the machine has stopped. The error has the last lines of
    /// the console.
    pub(super) async fn next_step(&mut self, time_max: Duration) -> Result<(BootStep, Duration), String> {
        let until = self.power_on + time_max;
        let mut line = Vec::new();
        loop {
            line.clear();
            match timeout_at(until, self.output.read_until(b'\n', &mut line)).await {
                Err(_) => {
                    self.console.hear(&line);
                    return Err(format!("it did not end within {time_max:?}; {}", self.console.last_lines()));
                }
                Ok(Err(error)) => return Err(format!("reading the console: {error}")),
                Ok(Ok(0)) => {
                    return Err(format!("it stopped; {}{}", self.console.last_lines(), self.messages()));
                }
                Ok(Ok(_)) => {}
            }
            if let Some(step) = self.console.hear(&line) {
                return Ok((step, self.power_on.elapsed()));
            }
        }
    }

    /// The monitor of QEMU.
    pub(super) fn monitor(&self) -> QemuMonitor {
        QemuMonitor::within(self.folder.path())
    }

    /// Turns it off.
    ///
    /// # Errors
    /// If QEMU does not end.
    pub(super) async fn stop(mut self) -> Result<(), String> {
        end(&mut self.child).await.map_err(|error| format!("QEMU {error}"))
    }

    /// QEMU's messages, for an error.
    fn messages(&self) -> String {
        let text = std::fs::read_to_string(log_in(self.folder.path())).unwrap_or_default();
        if text.trim().is_empty() { String::new() } else { format!("\nQEMU says:\n{}", text.trim()) }
    }
}

/// Makes the file at `path` that takes the writes to a disk of `size` bytes.
async fn make_writes_file(path: &Path, size: u64) -> Result<(), String> {
    let mut command = Command::new("qemu-img");
    command.args(["create", "-q", "-f", "qcow2", "-o", CLUSTER]).arg(path).arg(size.to_string());
    let done = command.stdin(Stdio::null()).kill_on_drop(true).output().await;
    let done = done.map_err(|error| missing("qemu-img", &error))?;
    match done.status.success() {
        true => Ok(()),
        false => Err(format!("qemu-img: {}", String::from_utf8_lossy(&done.stderr).trim())),
    }
}

fn missing(program: &str, error: &std::io::Error) -> String {
    format!("{program} does not start: {error}; try `make bench-vm`")
}

fn log_in(folder: &Path) -> PathBuf {
    folder.join("log")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine whose console is the output of `script`.
    fn machine(script: &str) -> VirtualMachine {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let folder = tempfile::tempdir().unwrap();
        VirtualMachine { child, power_on: Instant::now(), output, console: BootConsole::default(), folder }
    }

    #[tokio::test]
    async fn tells_steps_and_why_there_is_none() {
        let limit = Duration::from_secs(60);
        let mut stopped = machine("echo Loading; echo forerun-vm: shell; echo Panic");
        std::fs::write(log_in(stopped.folder.path()), "no such disk\n").unwrap();
        assert_eq!(stopped.next_step(limit).await.unwrap().0, BootStep::Shell);
        let error = stopped.next_step(limit).await.unwrap_err();
        assert!(error.starts_with("it stopped; the console ends with:\nLoading\n"), "{error}");
        assert!(error.ends_with("Panic\nQEMU says:\nno such disk"), "{error}");
        let error = machine("exec sleep 1000").next_step(Duration::from_millis(1)).await.unwrap_err();
        assert_eq!(error, "it did not end within 1ms; its console is empty");
    }
}
