//! `forerun mount` of a URL on a directory of its own.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;

use super::program::{Foreground, forerun, is_mounted, send};

/// `forerun mount` with `arguments`, the directory still missing, in an
/// environment without credentials and without somebody's own settings.
pub(crate) fn mount(arguments: &[&str]) -> Command {
    let mut command = forerun();
    command.env_clear().envs(env::var_os("PATH").map(|path| ("PATH", path)));
    command.env("HOME", "/nowhere").env("AWS_EC2_METADATA_DISABLED", "true");
    command.arg("mount").args(arguments);
    command
}

/// How long a mount may live: a test that reads from a mount which has stopped
/// answering could not be ended otherwise.
const LIFE_MAX: Duration = Duration::from_secs(120);

/// A mount. Killed and unmounted when dropped.
pub(crate) struct Mounted {
    // First, so that the process is not killed any more once it has ended.
    life: Sender<()>,
    foreground: Foreground,
    // After the mount, so that it is removed once nothing is mounted there.
    directory: TempDir,
}

impl Mounted {
    /// Runs `command` and waits until it has mounted.
    pub(crate) fn start(mut command: Command) -> Mounted {
        let directory = tempfile::tempdir().unwrap();
        let foreground = Foreground::start(command.arg(directory.path()), directory.path());
        let (life, end) = mpsc::channel();
        let process = foreground.id();
        thread::spawn(move || {
            if end.recv_timeout(LIFE_MAX) == Err(RecvTimeoutError::Timeout) {
                send(process, Signal::KILL);
            }
        });
        Mounted { life, foreground, directory }
    }

    /// Where `path` of the URL is found.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    /// Where it is mounted.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Waits for the end of the mount, which somebody has unmounted.
    pub(crate) fn ended(self) {
        drop(self.life);
        let (status, said) = self.foreground.end();
        assert_eq!(status.code(), Some(0), "{said}");
    }

    /// Ends the mount, which must end well; what it has logged.
    pub(crate) fn end(self) -> String {
        drop(self.life);
        self.foreground.signal(Signal::TERM);
        let (status, said) = self.foreground.end();
        assert_eq!(status.code(), Some(0), "{said}");
        assert!(!is_mounted(self.directory.path()), "{said}");
        said
    }
}
