//! A mount whose files are read by the kernel itself.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use tempfile::TempDir;

use super::support::{Foreground, forerun, output};

/// How much the one file has.
pub(super) const SIZE: usize = 3 << 20;

/// `SIZE` bytes that differ everywhere and for every `seed`.
pub(super) fn bytes(seed: u64) -> Vec<u8> {
    let word =
        |index: u64| (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15 ^ seed.rotate_left(32)).to_le_bytes();
    (0..SIZE as u64 / 8).flat_map(word).collect()
}

/// A mount with `--passthrough`, and what `forerun explain` says of it.
pub(super) struct Passed {
    mount: Foreground,
    pub(super) runtime: TempDir,
    /// Unless it is somebody else's.
    source: Option<TempDir>,
    directory: TempDir,
}

impl Passed {
    /// Mounts a directory with a file called `file`.
    pub(super) fn start(options: &[&str]) -> Passed {
        let source = tempfile::tempdir().unwrap();
        fs::write(source.path().join("file"), bytes(1)).unwrap();
        let path = source.path().to_owned();
        Passed { source: Some(source), ..Passed::start_on(options, &path) }
    }

    /// The same with `source`, which has such a file.
    pub(super) fn start_on(options: &[&str], source: &Path) -> Passed {
        let [runtime, directory] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let mut command = forerun();
        command.env("XDG_RUNTIME_DIR", runtime.path()).args(["mount", "--passthrough", "--log"]);
        command.arg(runtime.path().join("log")).args(options).arg(source).arg(directory.path());
        let mount = Foreground::start(&mut command, directory.path());
        let passed = Passed { mount, runtime, source: None, directory };
        let file = passed.open();
        let is_passed = !passed.explained().contains("\"path\": \"file\"");
        drop(file);
        if is_passed {
            return passed;
        }
        passed.mount.signal(Signal::TERM);
        let (_, said) = passed.mount.end();
        let log = fs::read_to_string(passed.runtime.path().join("log")).unwrap();
        panic!("not passed through: {said}{log}");
    }

    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(super) fn open(&self) -> File {
        File::open(self.at("file")).unwrap()
    }

    /// A file of the directory that is mounted.
    pub(super) fn stored(&self, name: &str) -> PathBuf {
        self.source.as_ref().unwrap().path().join(name)
    }

    /// Writes `bytes` to another file, and puts that in place of `file`.
    pub(super) fn replace(&self, bytes: &[u8]) {
        fs::write(self.stored("new"), bytes).unwrap();
        fs::rename(self.stored("new"), self.stored("file")).unwrap();
    }

    /// The mount's explanation.
    pub(super) fn explained(&self) -> String {
        let mut command = forerun();
        command.env("XDG_RUNTIME_DIR", self.runtime.path()).args(["explain", "--json"]);
        let output = output(command.arg(self.mount.id().to_string()));
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Unmounts, which must go well and leave nothing in the log; what it said.
    pub(super) fn end(self) -> String {
        self.mount.signal(Signal::TERM);
        let (status, said) = self.mount.end();
        assert_eq!(status.code(), Some(0), "{said}");
        assert_eq!(fs::read_to_string(self.runtime.path().join("log")).unwrap(), "");
        said
    }
}

/// All that `file` has.
pub(super) fn all(mut file: &File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}
