//! A virtual machine of QEMU's that runs a script.

use std::collections::VecDeque;
use std::env;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::support::others::Process;

/// An emulated processor is slow, and slower where those of this computer are busy.
const TIME_MAX: Duration = Duration::from_secs(900);
/// The begin of the lines that the script prints for the test.
const MARK: &str = "forerun-guest: ";
/// Enough to see the failed command of the script, and the kernel's messages about it.
const LAST_LINES_MAX: usize = 40;

/// A machine that runs. It is turned off when dropped.
pub(super) struct Machine {
    _process: Process,
    /// The lines of its console, until it stops.
    lines: Receiver<String>,
    last_lines: VecDeque<String>,
    ends: Instant,
    /// The script, and QEMU's messages.
    folder: TempDir,
}

impl Machine {
    /// Starts the machine that `make nbd-guest` and its likes make. Instead of a service manager it runs `script`, and
    /// has `disks` behind its own two. Connections to the address `inside`, if there is one, reach its own port of that
    /// number.
    pub(super) fn start(script: &str, disks: &[&Path], inside: Option<SocketAddr>) -> Machine {
        let image =
            env::var_os("FORERUN_VM").expect("run `make nbd-guest`, `make nfs-guest` or `make memory-guest`");
        let folder = tempfile::tempdir().unwrap();
        let script_disk = folder.path().join("script");
        fs::write(&script_disk, [include_str!("begin.sh"), script].concat()).unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = command(Path::new(&image), &[&[&*script_disk], disks].concat(), inside);
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn();
        let mut child = spawned.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        thread::spawn(move || {
            let mut line = Vec::new();
            while matches!(output.read_until(b'\n', &mut line), Ok(1..)) {
                // The receiver is gone once the test has ended.
                let _ = send.send(String::from_utf8_lossy(&line).trim().to_owned());
                line.clear();
            }
        });
        let ends = Instant::now() + TIME_MAX;
        Machine { _process: Process(child), lines, last_lines: VecDeque::new(), ends, folder }
    }

    /// The value of `name`, which must be the next one that the script tells.
    pub(super) fn told(&mut self, name: &str) -> String {
        loop {
            let left = self.ends.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("the machine does not tell {name:?}; {}", self.last_words());
            };
            // A message of the kernel may come before it. The shell also prints the command that prints it.
            let told = line.split_once(MARK).filter(|(before, _)| !before.contains("echo "));
            let told = told.map(|(_, told)| told.to_owned());
            self.last_lines.push_back(line);
            if self.last_lines.len() > LAST_LINES_MAX {
                self.last_lines.pop_front();
            }
            let Some(told) = told else { continue };
            match told.split_once(' ') {
                Some((key, value)) if key == name => return value.to_owned(),
                _ => panic!("the machine tells {told:?} instead of {name:?}; {}", self.last_words()),
            }
        }
    }

    fn last_words(&self) -> String {
        let lines: Vec<_> = self.last_lines.iter().map(String::as_str).collect();
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        format!("its console ends with:\n{}\nQEMU says:\n{log}", lines.join("\n"))
    }
}

/// QEMU with the machine in the folder `image`. It boots from its first disk, and has `others`.
fn command(image: &Path, others: &[&Path], inside: Option<SocketAddr>) -> Command {
    // A comma would end the name.
    let disk = |path: &Path| {
        format!("file={},format=raw,if=virtio,readonly=on", path.display().to_string().replace(',', ",,"))
    };
    let mut command = Command::new("qemu-system-x86_64");
    command.args(["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-serial", "stdio"]);
    // Emulated, so that it runs where nested virtual machines do not.
    command.args(["-machine", "pc", "-accel", "tcg", "-cpu", "max", "-smp", "2", "-m", "512"]);
    command.args(["-drive", &disk(&image.join("store/disk.raw"))]);
    others.iter().for_each(|path| _ = command.args(["-drive", &disk(path)]));
    let forward = inside.map(|address| format!(",hostfwd=tcp:{address}-:{}", address.port()));
    command.args(["-netdev", &format!("user,id=net{}", forward.unwrap_or_default())]);
    command.args(["-device", "virtio-net-pci,netdev=net,romfile="]);
    command.arg("-kernel").arg(image.join("vmlinuz")).arg("-initrd").arg(image.join("initrd.img"));
    let kernel = "root=LABEL=forerun-vm ro console=ttyS0 quiet fsck.mode=skip panic=-1";
    command.args(["-append", &format!("{kernel} init=/bin/bash -- /dev/vdb")]);
    command
}
