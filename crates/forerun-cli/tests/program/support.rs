//! The program, started and ended as a user would.

use std::io::{BufRead, BufReader, Read};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// How long anything may take that should take no time.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// The program under test.
pub(crate) fn forerun() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forerun"));
    command.env_remove("FORERUN_LOG").env("XDG_RUNTIME_DIR", runtime()).stdin(Stdio::null());
    command
}

/// An address of this machine that nobody else has. While nobody listens there, its port cannot become that of
/// another test's connection.
pub(crate) fn own_address() -> Ipv4Addr {
    static COUNT: AtomicU8 = AtomicU8::new(1);
    let [.., high, low] = std::process::id().to_be_bytes();
    Ipv4Addr::new(127, high.max(1), low, COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Where mounts listen, so that they are not found by the tests of `forerun explain`.
pub(crate) fn runtime() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    let runtime = std::env::temp_dir().join(format!("forerun-tests-{user}"));
    std::fs::create_dir_all(&runtime).unwrap();
    runtime
}

/// Runs `command` to its end.
pub(crate) fn output(command: &mut Command) -> Output {
    output_within(DEADLINE, command)
}

/// The same of one that may take so long.
pub(crate) fn output_within(deadline: Duration, command: &mut Command) -> Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = child.id();
    match within(deadline, move || child.wait_with_output().unwrap()) {
        Some(output) => output,
        None => {
            send(pid, Signal::KILL);
            panic!("{command:?} does not end");
        }
    }
}

/// The cells of the Markdown table in `text`, without its header.
pub(crate) fn rows_of(text: &str) -> Vec<Vec<&str>> {
    let lines = text.lines().filter(|line| line.starts_with('|')).skip(2);
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// The bytes of the file `path`, read by another process. A file that this process opens may for an instant
/// also be open in a program that another test starts. That would keep its mount in use.
pub(crate) fn cat(path: &Path) -> Vec<u8> {
    let output = output(Command::new("cat").arg(path));
    assert!(output.status.success(), "{output:?}");
    output.stdout
}

/// A mount in the foreground. Killed and unmounted when dropped.
pub(crate) struct Foreground {
    /// With what it says from its greeting on, which is read all the time so
    /// that it never waits for somebody to listen.
    child: Option<(Child, JoinHandle<String>)>,
    directory: PathBuf,
    /// Its message after the mount.
    pub(crate) greeting: String,
}

impl Foreground {
    /// Starts `command` and waits until it says that it has mounted `directory`.
    pub(crate) fn start(command: &mut Command, directory: &Path) -> Foreground {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let pid = child.id();
        let first_line = within(DEADLINE, move || {
            let mut line = String::new();
            stderr.read_line(&mut line).unwrap();
            (line, stderr)
        });
        let Some((greeting, mut stderr)) = first_line else {
            send(pid, Signal::KILL);
            panic!("{command:?} says nothing");
        };
        if !greeting.starts_with("forerun: mounted ") {
            send(pid, Signal::KILL);
            let mut rest = String::new();
            stderr.read_to_string(&mut rest).unwrap();
            panic!(
                "these tests mount, for which they need root or fusermount3: {command:?} says {greeting}{rest}"
            );
        }
        let said = thread::spawn(move || {
            let mut said = String::new();
            stderr.read_to_string(&mut said).unwrap();
            said
        });
        Foreground { child: Some((child, said)), directory: directory.to_owned(), greeting }
    }

    /// The process.
    pub(crate) fn id(&self) -> u32 {
        self.child.as_ref().unwrap().0.id()
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        send(self.id(), signal);
    }

    /// Waits for its end: its exit status, and what it said after the greeting.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        let (mut child, said) = self.child.take().unwrap();
        let pid = child.id();
        let ended = within(DEADLINE, move || (child.wait().unwrap(), said.join().unwrap()));
        ended.unwrap_or_else(|| {
            send(pid, Signal::KILL);
            unmount_leftovers(&self.directory);
            panic!("the mount does not end");
        })
    }
}

impl Drop for Foreground {
    fn drop(&mut self) {
        if let Some((mut child, _)) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
            unmount_leftovers(&self.directory);
        }
    }
}

/// Whether something is mounted on `directory`.
pub(crate) fn is_mounted(directory: &Path) -> bool {
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    mounts.lines().any(|line| line.split(' ').nth(1) == directory.to_str())
}

/// Unmounts as a user would from outside.
pub(crate) fn unmount(directory: &Path) {
    let status = if rustix::process::geteuid().is_root() {
        Command::new("umount").arg(directory).status()
    } else {
        Command::new("fusermount3").arg("-u").arg(directory).status()
    };
    assert!(status.unwrap().success(), "{} cannot be unmounted", directory.display());
}

/// Unmounts whatever a failed test has left mounted.
pub(crate) fn unmount_leftovers(directory: &Path) {
    if is_mounted(directory) {
        let program =
            if rustix::process::geteuid().is_root() { ["umount", "-l"] } else { ["fusermount3", "-uz"] };
        let _ = Command::new(program[0]).arg(program[1]).arg(directory).status();
    }
}

/// The result of `work`, unless it takes too long.
pub(crate) fn within<T: Send + 'static>(
    deadline: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(work()));
    result.recv_timeout(deadline).ok()
}

/// Sends a signal to a process that has not been waited for.
pub(crate) fn send(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Tells threads to end when dropped.
pub(crate) struct Ending<'a>(pub(crate) &'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
