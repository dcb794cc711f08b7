//! `--daemon`: the program in the background.
//!
//! The program starts itself a second time and waits until that one says on its
//! standard output that the mount is up, or ends. Nothing is forked, so that no
//! thread or lock is caught halfway.

use std::env;
use std::error::Error;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{arguments, print};

/// Tells the second process that it is the daemon.
const IS_DAEMON: &str = "FORERUN_IS_DAEMON";
/// The message of the daemon once its mount is up.
const READY: &[u8] = b"ready\n";

/// Whether this process has let go of its terminal.
static IS_AWAY: AtomicBool = AtomicBool::new(false);

/// Whether this is the process in the background.
pub(crate) fn is_daemon() -> bool {
    env::var_os(IS_DAEMON).is_some()
}

/// Starts the daemon and waits until its mount is up. The daemon itself reports errors until then, on the
/// standard error that both have.
pub(crate) fn start() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = arguments::given().iter();
    let name = arguments.next().cloned().unwrap_or_else(|| "forerun".into());
    let mut daemon = Command::new("/proc/self/exe")
        .arg0(name)
        .args(arguments)
        .env(IS_DAEMON, "1")
        // A process that mounts at boot has none, and credentials are looked for there.
        .envs(env::home_dir().map(|home| ("HOME", home)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("the daemon does not start: {error}; --daemon needs /proc and /dev/null"))?;
    let mut said = Vec::new();
    if let Some(mut output) = daemon.stdout.take() {
        output.read_to_end(&mut said)?;
    }
    if said == READY {
        return Ok(ExitCode::SUCCESS);
    }
    let status = daemon.wait()?;
    match status.code() {
        Some(code) => Ok(ExitCode::from(u8::try_from(code.max(1)).unwrap_or(1))),
        None => Err(format!(
            "the daemon was ended by signal {} before its mount was up",
            status.signal().unwrap_or_default()
        )
        .into()),
    }
}

/// The daemon calls this once its mount is up. It lets the first process go, and leaves its terminal and
/// its directory.
pub(crate) fn ready() -> Result<(), Box<dyn Error>> {
    // Until here an interrupt typed on the terminal ended both.
    rustix::process::setsid()?;
    env::set_current_dir("/")?;
    let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    IS_AWAY.store(true, Ordering::Relaxed);
    let mut stdout = std::io::stdout();
    stdout.write_all(READY)?;
    stdout.flush()?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok(())
}

/// Tells why the program failed: in the log if it has no standard error any more.
pub(crate) fn say(message: &str) {
    if IS_AWAY.load(Ordering::Relaxed) {
        tracing::error!(target: "forerun::mount", "{message}");
    } else {
        print::say(message);
    }
}
