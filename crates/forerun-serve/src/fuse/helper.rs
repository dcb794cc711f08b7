//! The program that mounts and unmounts for ordinary users.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use forerun::{Error, ErrorKind, Result};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use super::access::Access;

/// The program, which is set-user-id root.
const HELPER: &str = "fusermount3";

/// Mounts by the helper, which sends the connection over a socket. The environment names the
/// socket's descriptor.
pub(super) fn attach_by_helper(directory: &Path, source: &str, access: Access) -> Result<OwnedFd> {
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

/// Unmounts by the helper. `lazily` takes the mount out of the tree although programs use it.
pub(super) fn unmount_by_helper(directory: &Path, lazily: bool) -> std::result::Result<(), String> {
    let flags = if lazily { "-uz" } else { "-u" };
    let output = Command::new(HELPER)
        .arg(flags)
        .arg("--")
        .arg(directory)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("`{HELPER}` does not start: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(said(&output.stderr)) }
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
