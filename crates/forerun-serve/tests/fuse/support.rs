//! A directory tree mounted on another directory.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use forerun::{Forerun, Options, PolicyKind};
use forerun_serve::fuse::{Mount, MountOptions};
use tempfile::TempDir;

/// A tree, and where it is mounted. Unmounts when dropped.
pub(crate) struct Mounted {
    pub(crate) source: TempDir,
    // Declared before the source directory, so that it is unmounted first.
    pub(crate) mount: Mount,
    directory: TempDir,
}

impl Mounted {
    /// Mounts a directory that `fill` has filled, with these metadata times of engine and kernel.
    pub(crate) fn new(engine_ttl: Duration, kernel_ttl: Duration, fill: impl FnOnce(&Path)) -> Mounted {
        let source = tempfile::tempdir().unwrap();
        fill(source.path());
        let options = Options::default()
            .with_memory_bytes(64 << 20)
            // No readahead, so that a test knows what is cached.
            .with_policy(PolicyKind::None)
            .with_metadata_ttl(engine_ttl);
        let forerun = Forerun::connect_blocking(source.path().to_str().unwrap(), options).unwrap();
        Mounted::over(forerun, source, kernel_ttl)
    }

    /// Mounts `forerun`.
    pub(crate) fn over(forerun: Forerun, source: TempDir, kernel_ttl: Duration) -> Mounted {
        let directory = tempfile::tempdir().unwrap();
        let options = MountOptions::default().with_metadata_ttl(kernel_ttl);
        let mount = Mount::new(forerun, directory.path(), options).unwrap_or_else(|error| {
            panic!("these tests mount, for which they need root or fusermount3: {error}")
        });
        Mounted { source, mount, directory }
    }

    /// The tree as mounted.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A path in the tree as mounted.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }
}

/// Nested directories, an empty file, a file of several requests, unusual names, links.
pub(crate) fn fill_with_everything(root: &Path) {
    fs::create_dir_all(root.join("a/b/c")).unwrap();
    fs::create_dir(root.join("no files")).unwrap();
    fs::write(root.join("empty"), "").unwrap();
    fs::write(root.join("hello.txt"), "hello\n").unwrap();
    fs::write(root.join("a/with space"), "space").unwrap();
    fs::write(root.join("a/ü 漢字 🦀"), "unicode").unwrap();
    fs::write(root.join("a/b/c/deep"), "deep").unwrap();
    fs::write(root.join("a/large"), pattern(3 << 20, 1)).unwrap();
    symlink("a/with space", root.join("link")).unwrap();
    symlink("/nowhere/at all", root.join("a/dangling")).unwrap();
    run(Command::new("chmod").arg("640").arg(root.join("hello.txt")));
    run(Command::new("touch").args(["-d", "2001-02-03 04:05:06.789"]).arg(root.join("hello.txt")));
}

/// `len` bytes that differ at every offset and for every `seed`.
pub(crate) fn pattern(len: usize, seed: u64) -> Vec<u8> {
    let word =
        |index: u64| (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15 ^ seed.rotate_left(32)).to_le_bytes();
    (0..len.div_ceil(8) as u64).flat_map(word).take(len).collect()
}

pub(crate) fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
}
