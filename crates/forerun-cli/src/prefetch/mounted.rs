//! The mount that files are in, and what it is told.

use std::error::Error;
use std::ffi::c_void;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use forerun::{Forerun, Part};
use rustix::io::Errno;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, ioctl};

/// `_IOW('F', 0xAE, char[N])` without its N, and `_IO('F', 0xAF)`; docs/lists.md describes them.
const ADD: Opcode = 1 << 30 | (b'F' as Opcode) << 8 | 0xAE;
const START: Opcode = (b'F' as Opcode) << 8 | 0xAF;
/// N is less than this, the least that holds every path.
const PIECE_BYTES_MAX: usize = 1 << 14;

/// A mount of forerun.
#[derive(Debug)]
pub(super) struct MountedDirectory {
    /// Where its topmost directory is that can be seen from here.
    root: PathBuf,
    directory: File,
    device: u64,
}

impl MountedDirectory {
    /// The mount that `directory`, a canonical path, is in; nothing if it is in none.
    pub(super) fn of(directory: &Path) -> Option<MountedDirectory> {
        let device = device_of(directory)?;
        let is_inside = |path: &&Path| device_of(path) == Some(device);
        let root = directory.ancestors().take_while(is_inside).last()?.to_owned();
        let directory = File::open(&root).ok()?;
        // Other file systems do not know the call.
        call(&directory, ADD, b"\0").ok()?;
        Some(MountedDirectory { root, directory, device })
    }

    /// Where `directory`, a canonical path, is in the mount.
    ///
    /// # Errors
    /// If it is not in this mount.
    pub(super) fn place(&self, directory: &Path) -> Result<PathBuf, String> {
        let inside = directory.strip_prefix(&self.root).ok();
        let inside = inside.filter(|_| device_of(directory) == Some(self.device));
        inside.map(Path::to_owned).ok_or_else(|| {
            format!("{} is outside of the mount on {}", directory.display(), self.root.display())
        })
    }

    /// Where the mount is, as far as it can be seen from here.
    pub(super) fn directory(&self) -> &Path {
        &self.root
    }

    /// Has `parts` read ahead, and says how many were left out.
    ///
    /// # Errors
    /// The error of a refused request, with what to do about it.
    pub(super) fn prefetch(&self, parts: &[Part]) -> Result<u64, Box<dyn Error>> {
        let mut piece = String::new();
        for part in parts {
            let line = format!("{part}\n");
            if piece.len() + line.len() >= PIECE_BYTES_MAX {
                self.call(ADD, &piece)?;
                piece.clear();
            }
            if line.len() >= PIECE_BYTES_MAX {
                return Err(format!("{} is too long for a path", part.path).into());
            }
            piece.push_str(&line);
        }
        self.call(ADD, &piece)?;
        self.call(START, "")
    }

    fn call(&self, opcode: Opcode, words: &str) -> Result<u64, Box<dyn Error>> {
        let mut words = words.as_bytes().to_vec();
        words.push(0);
        call(&self.directory, opcode, &words).map_err(|errno| self.refused(errno).into())
    }

    fn refused(&self, errno: Errno) -> String {
        let shown = self.root.display();
        match errno {
            Errno::NOENT => format!("nothing of the list is in the mount on {shown}"),
            Errno::TOOBIG => too_many(),
            Errno::NOSPC => {
                format!("the mount on {shown} is being told too many lists at once; try again later")
            }
            Errno::OPNOTSUPP => {
                format!("the mount on {shown} passes files through (--passthrough): it reads nothing ahead")
            }
            errno => {
                let error = std::io::Error::from(errno);
                format!("the mount on {shown} refuses the list: {error}; its log says why")
            }
        }
    }
}

/// Whether the file or directory at `path` is in a mount of forerun.
pub(super) fn is_in_mount(path: &Path) -> bool {
    let Ok(path) = path.canonicalize() else { return false };
    let directory = if path.is_dir() { Some(&*path) } else { path.parent() };
    directory.is_some_and(|directory| MountedDirectory::of(directory).is_some())
}

pub(super) fn not_in_mount(path: &Path) -> String {
    format!("{} is not in a mount of forerun; a list is given alone", path.display())
}

pub(super) fn too_many() -> String {
    format!("the list has more than {} lines; give it in pieces", Forerun::LIST_PARTS_MAX)
}

fn device_of(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|metadata| metadata.dev())
}

/// The mount's answer to `opcode`, which carries `words` if it carries anything.
fn call(directory: &File, opcode: Opcode, words: &[u8]) -> Result<u64, Errno> {
    let opcode = if opcode == ADD { opcode | (words.len() as Opcode) << 16 } else { opcode };
    // SAFETY: the kernel reads as many bytes as the opcode says, which are those of `words`, and
    // writes none.
    unsafe { ioctl(directory, ListCall { opcode, words }) }
}

struct ListCall<'a> {
    opcode: Opcode,
    words: &'a [u8],
}

// SAFETY: nothing is written to `words`, and the output is the number that the call returns.
unsafe impl Ioctl for ListCall<'_> {
    type Output = u64;

    const IS_MUTATING: bool = false;

    fn opcode(&self) -> Opcode {
        self.opcode
    }

    fn as_ptr(&mut self) -> *mut c_void {
        self.words.as_ptr().cast_mut().cast()
    }

    unsafe fn output_from_ptr(output: IoctlOutput, _: *mut c_void) -> Result<u64, Errno> {
        Ok(u64::try_from(output).unwrap_or(0))
    }
}
