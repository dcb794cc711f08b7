//! The asking side: finding the running mounts, and the one that the user means.

use std::error::Error;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::socket_folder;
use crate::print::say;

/// The limit for a mount to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A running mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    socket: PathBuf,
    pub(crate) process: u32,
    /// The URL as it was given, and as it was understood.
    pub(crate) urls: [String; 2],
    pub(crate) directory: PathBuf,
    pub(crate) memory_bytes: u64,
    pub(crate) memory_bytes_max: u64,
    /// The seconds since it was mounted.
    pub(crate) seconds: u64,
}

impl Running {
    /// The answer to `question`.
    ///
    /// # Errors
    /// If the mount has ended, or does not answer.
    pub(super) fn ask(&self, question: &str) -> Result<String, Box<dyn Error>> {
        ask(&self.socket, question).map_err(|error| {
            format!(
                "the mount on {} (process {}) does not answer: {error}",
                self.directory.display(),
                self.process
            )
            .into()
        })
    }

    fn is_meant(&self, target: &str) -> bool {
        if target.parse() == Ok(self.process) {
            return true;
        }
        let bare = |url: &str| url.trim_end_matches('/').to_owned();
        let shown = bare(&forerun::without_secrets(target));
        if self.urls.iter().any(|url| bare(url) == shown) {
            return true;
        }
        let path = Path::new(target);
        let path =
            path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned());
        path == self.directory
            || url::Url::from_file_path(&path).is_ok_and(|url| bare(url.as_str()) == bare(&self.urls[1]))
    }

    fn show(&self) -> String {
        format!("{} on {} (process {})", self.urls[0], self.directory.display(), self.process)
    }
}

/// The mount that `target` names: a URL, a directory or a process id. Without it, the only mount.
///
/// # Errors
/// If there is none, or more than one; the message lists them.
pub(super) fn find(target: Option<&str>) -> Result<Running, Box<dyn Error>> {
    let running = running();
    let meant: Vec<&Running> =
        running.iter().filter(|mount| target.is_none_or(|target| mount.is_meant(target))).collect();
    let list = |mounts: &[&Running]| mounts.iter().map(|mount| mount.show()).collect::<Vec<_>>().join(", ");
    match (&meant[..], target) {
        ([one], _) => Ok((*one).clone()),
        ([], _) if running.is_empty() => {
            Err("no mount of this user is running: start one with `forerun mount URL DIR`".into())
        }
        ([], target) => {
            let all: Vec<&Running> = running.iter().collect();
            Err(format!(
                "there is no mount of {}; running mounts: {}",
                forerun::without_secrets(target.unwrap_or_default()),
                list(&all)
            )
            .into())
        }
        (several, _) => Err(format!(
            "more than one mount is running: name one by its directory or process; running mounts: {}",
            list(several)
        )
        .into()),
    }
}

/// Every mount that answers, in order of process ids. Removes the sockets of ended processes.
pub(crate) fn running() -> Vec<Running> {
    let mut running = Vec::new();
    for folder in socket_folder::folders() {
        let sockets = match socket_folder::check(&folder).and_then(|()| fs::read_dir(&folder)) {
            Ok(entries) => entries.filter_map(Result::ok).map(|entry| entry.path()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            // Another user's folder: XDG_RUNTIME_DIR stays the same after `sudo`, for one.
            Err(error) => {
                say(&format!("mounts in {} cannot be reached: {error}", folder.display()));
                continue;
            }
        };
        running.extend(sockets.filter_map(|socket| who(&socket)));
    }
    running.sort_by_key(|mount| mount.process);
    running
}

fn who(socket: &Path) -> Option<Running> {
    let process = socket_folder::process(socket)?;
    let said = match ask(socket, "who") {
        Ok(said) => said,
        Err(error) => {
            if error.kind() == io::ErrorKind::ConnectionRefused {
                let _ = fs::remove_file(socket);
            }
            return None;
        }
    };
    let mut lines = said.lines();
    let urls = [lines.next()?.to_owned(), lines.next()?.to_owned()];
    let directory = lines.next()?.into();
    let mut numbers = lines.map_while(|line| line.parse().ok());
    let [memory_bytes, memory_bytes_max, seconds] = [numbers.next()?, numbers.next()?, numbers.next()?];
    let socket = socket.to_owned();
    Some(Running { socket, process, urls, directory, memory_bytes, memory_bytes_max, seconds })
}

fn ask(socket: &Path, question: &str) -> io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{question}\n").as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
