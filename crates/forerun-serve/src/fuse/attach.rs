//! Attaching a file system to the directory tree, and detaching it.

use std::ffi::CString;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use forerun::{Error, ErrorKind, Result};
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};

use super::access::Access;
use super::check::is_dead_mount;
use super::helper::{attach_by_helper, unmount_by_helper};
use super::session::DEVICE;

/// How a mount was unmounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmounted {
    /// It is gone.
    Clean,
    /// The mount was in use. It is gone from the directory tree, or covered by another mount.
    /// Programs that have files of it open can use them until this process ends.
    Detached,
    /// Another program has mounted it, and has to unmount it. This process serves it until it ends;
    /// after that its users get errors.
    Left,
}

/// A place in the directory tree where a file system is mounted.
#[derive(Debug)]
pub(crate) struct Attachment {
    directory: PathBuf,
    mounter: Mounter,
    /// Tells this file system from others that are mounted in the same place.
    file_system: Option<FileSystemId>,
}

/// The owner of the mount, which has to unmount it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mounter {
    /// This process.
    Us,
    /// The set-user-id program.
    Helper,
    /// Another program, which handed the connection over.
    Others,
}

impl Mounter {
    fn of_this_user() -> Mounter {
        if rustix::process::geteuid().is_root() { Mounter::Us } else { Mounter::Helper }
    }
}

/// The device number of a file system, unique while the file system is in use.
type FileSystemId = (u32, u32);

/// Mounts on `directory`. Returns the connection to the kernel, and the attachment that unmounts.
/// `mount` and `df` show `source` as mounted.
pub(crate) fn attach(directory: PathBuf, source: &str, access: Access) -> Result<(OwnedFd, Attachment)> {
    let device = OpenOptions::new().read(true).write(true).open(DEVICE).map_err(no_device)?;
    let mounter = Mounter::of_this_user();
    let device = match mounter {
        Mounter::Us => attach_directly(device.into(), &directory, source, access)?,
        Mounter::Helper | Mounter::Others => attach_by_helper(&directory, source, access)?,
    };
    let file_system = file_system_at(&directory);
    Ok((device, Attachment { directory, mounter, file_system }))
}

impl Attachment {
    /// A mount by another program, known by `name` alone.
    pub(crate) fn of_others(name: &Path) -> Attachment {
        Attachment { directory: name.to_owned(), mounter: Mounter::Others, file_system: None }
    }

    /// A mount on `directory` that an earlier process of this user made.
    pub(crate) fn of_own(directory: &Path) -> Attachment {
        let mounter = Mounter::of_this_user();
        Attachment { directory: directory.to_owned(), mounter, file_system: file_system_at(directory) }
    }

    /// The mount point, or the name of a mount by another program.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The device number of the file system, if the system told it.
    pub(crate) fn file_system(&self) -> Option<(u32, u32)> {
        self.file_system
    }

    /// Unmounts. If the mount is in use, it is taken out of the tree for new users only.
    ///
    /// Another program may have unmounted or covered it. Then there is nothing to take out, and the
    /// mount counts as in use: otherwise its session would have ended.
    pub(crate) fn detach(&self) -> Result<Unmounted> {
        let failed = |error: String| {
            let shown = self.directory.display();
            Error::new(
                ErrorKind::Permanent,
                format!("{shown} cannot be unmounted: {error}; try `umount -l {shown}` as root"),
            )
        };
        if self.mounter == Mounter::Others {
            return Ok(Unmounted::Left);
        }
        if !self.is_there() {
            return Ok(Unmounted::Detached);
        }
        match self.try_unmount(false) {
            Ok(()) => return Ok(Unmounted::Clean),
            Err(error) => tracing::debug!(
                target: "forerun::mount",
                "{} cannot be unmounted while it is used, and is detached instead: {error}",
                self.directory.display()
            ),
        }
        match self.try_unmount(true) {
            Ok(()) => Ok(Unmounted::Detached),
            // Another program was faster.
            Err(_) if !self.is_there() => Ok(Unmounted::Clean),
            Err(error) => Err(failed(error)),
        }
    }

    /// Takes out a dead mount: the kernel hangs up without an unmount when its connection is
    /// aborted.
    pub(crate) fn remove_if_dead(&self) {
        if self.mounter != Mounter::Others
            && self.is_there()
            && fs::metadata(&self.directory).is_err_and(|error| is_dead_mount(&error))
            && let Err(error) = self.try_unmount(true)
        {
            tracing::warn!(
                target: "forerun::mount", "{} cannot be unmounted: {error}; run `umount -l` on it as root",
                self.directory.display()
            );
        }
    }

    /// Whether the directory shows this mount, and not one below or above it.
    fn is_there(&self) -> bool {
        file_system_at(&self.directory) == self.file_system
    }

    pub(crate) fn try_unmount(&self, lazily: bool) -> Result<(), String> {
        if self.mounter == Mounter::Us {
            let flags = if lazily { UnmountFlags::DETACH } else { UnmountFlags::empty() };
            return rustix::mount::unmount(&self.directory, flags | UnmountFlags::NOFOLLOW)
                .map_err(|error| io::Error::from(error).to_string());
        }
        unmount_by_helper(&self.directory, lazily)
    }
}

/// Unmounts this user's mount on `directory`. `lazily` takes it out of the tree although programs
/// use it.
///
/// # Errors
/// The system's reason, as the end of a sentence.
pub fn unmount(directory: &Path, lazily: bool) -> std::result::Result<(), String> {
    Attachment::of_own(directory).try_unmount(lazily)
}

/// The file system that `directory` shows, or none if the system does not tell. Sends no request to
/// a FUSE file system, which may not answer any more.
fn file_system_at(directory: &Path) -> Option<FileSystemId> {
    let flags = AtFlags::STATX_DONT_SYNC | AtFlags::SYMLINK_NOFOLLOW;
    let found = statx(CWD, directory, flags, StatxFlags::empty()).ok()?;
    Some((found.stx_dev_major, found.stx_dev_minor))
}

fn attach_directly(device: OwnedFd, directory: &Path, source: &str, access: Access) -> Result<OwnedFd> {
    let failed = |error: io::Error| {
        let hint = match Errno::from_io_error(&error) {
            Some(Errno::PERM | Errno::ACCESS) => "; a container needs `--cap-add SYS_ADMIN`",
            _ => "",
        };
        let message = format!("{} cannot be mounted on: {error}{hint}", directory.display());
        Error::new(ErrorKind::Permanent, message)
    };
    let mut options = format!(
        "fd={},rootmode=40000,user_id={},group_id={},default_permissions",
        device.as_raw_fd(),
        rustix::process::getuid().as_raw(),
        rustix::process::getgid().as_raw(),
    );
    if access.allow_other {
        options.push_str(",allow_other");
    }
    let options = CString::new(options).map_err(|error| failed(error.into()))?;
    let mut flags = MountFlags::NOSUID | MountFlags::NODEV;
    flags.set(MountFlags::RDONLY, !access.writable);
    flags.set(MountFlags::NOEXEC, access.noexec);
    rustix::mount::mount(source, directory, "fuse.forerun", flags, &*options)
        .map_err(|error| failed(error.into()))?;
    Ok(device)
}

/// Ordinary users need the device as much as root: the helper opens it with their rights.
fn no_device(error: io::Error) -> Error {
    let advice = match error.kind() {
        io::ErrorKind::PermissionDenied => "let every user open it with `chmod 666 /dev/fuse` as root",
        _ => {
            "load the kernel's module with `modprobe fuse`, \
             or start the container with `--device /dev/fuse --cap-add SYS_ADMIN`"
        }
    };
    Error::new(
        ErrorKind::Permanent,
        format!("{DEVICE}, which mounting needs, cannot be opened: {error}; {advice}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody serves this mount: a request to it would block for ever.
    #[test]
    fn recognises_its_mount_without_a_request_to_it() {
        let temp = tempfile::tempdir().unwrap();
        let (_device, attachment) =
            attach(temp.path().canonicalize().unwrap(), "test", Access::default()).unwrap();
        assert!(attachment.is_there());
        attachment.try_unmount(true).unwrap();
        assert!(!attachment.is_there());
        assert_eq!(attachment.detach().unwrap(), Unmounted::Detached);
    }
}
