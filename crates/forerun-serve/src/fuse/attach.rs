//! Attaching a file system to the directory tree, and detaching it.

use std::ffi::CString;
use std::fs::{self, OpenOptions};
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use forerun::{Error, ErrorKind, Result};
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use super::check::is_dead_mount;
use super::mount::Unmounted;
use super::session::DEVICE;

/// The set-user-id program that mounts for ordinary users.
const HELPER: &str = "fusermount3";

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

/// Permissions of a mount.
#[derive(Clone, Copy, Debug, Default)]
pub struct Access {
    /// Whether users other than the one that mounts may use it. For ordinary users this needs
    /// `user_allow_other` in `/etc/fuse.conf`.
    pub allow_other: bool,
    /// Whether the kernel passes writes on.
    pub writable: bool,
    /// Whether the kernel refuses to run programs from the mount.
    pub noexec: bool,
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
        let flags = if lazily { "-uz" } else { "-u" };
        let output = Command::new(HELPER)
            .arg(flags)
            .arg("--")
            .arg(&self.directory)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("`{HELPER}` does not start: {error}"))?;
        if output.status.success() { Ok(()) } else { Err(said(&output.stderr)) }
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

/// Mounts by the helper, which sends the connection over a socket. The environment names the
/// socket's descriptor.
fn attach_by_helper(directory: &Path, source: &str, access: Access) -> Result<OwnedFd> {
    let failed = |what: String| {
        let message = format!("{} cannot be mounted on: {what}", directory.display());
        Error::new(ErrorKind::Permanent, message)
    };
    let (ours, theirs) = UnixStream::pair().map_err(|error| failed(error.to_string()))?;
    let mode = if access.writable { "rw" } else { "ro" };
    let mut options = format!("{mode},nosuid,nodev,default_permissions,subtype=forerun,fsname={source}");
    if access.allow_other {
        options.push_str(",allow_other");
    }
    if access.noexec {
        options.push_str(",noexec");
    }
    let mut command = Command::new(HELPER);
    command.args(["-o", &options, "--"]).arg(directory);
    // A child can be given standard input by number, and no other descriptor.
    command.env("_FUSE_COMMFD", "0").stdin(OwnedFd::from(theirs));
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => failed(format!("`{HELPER}` is not there: install the package fuse3")),
        _ => failed(format!("`{HELPER}` does not start: {error}")),
    })?;
    // Drops this process's copy of the helper's socket: with it open, a failed helper would never
    // be noticed.
    drop(command);
    let device = receive_descriptor(&ours);
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    match device {
        Ok(Some(device)) if output.status.success() => Ok(device),
        Err(error) if output.status.success() => Err(failed(error.to_string())),
        _ => Err(failed(said(&output.stderr))),
    }
}

/// The descriptor sent over `socket`, or none if it was closed instead.
fn receive_descriptor(socket: &UnixStream) -> io::Result<Option<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    rustix::io::retry_on_intr(|| {
        recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)
    })?;
    Ok(control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    }))
}

/// The helper's messages, as the end of a sentence.
fn said(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let text = text.trim();
    if text.is_empty() { format!("`{HELPER}` failed and did not say why") } else { text.replace('\n', "; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody serves this mount: a request to it would block for ever.
    #[test]
    fn a_mount_is_told_from_others_without_a_word_from_it() {
        let temp = tempfile::tempdir().unwrap();
        let (_device, attachment) =
            attach(temp.path().canonicalize().unwrap(), "test", Access::default()).unwrap();
        assert!(attachment.is_there());
        attachment.try_unmount(true).unwrap();
        assert!(!attachment.is_there());
        assert_eq!(attachment.detach().unwrap(), Unmounted::Detached);
    }
}
