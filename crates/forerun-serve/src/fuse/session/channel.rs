//! A connection to the kernel: one descriptor of /dev/fuse.

use std::ffi::c_void;
use std::fs::OpenOptions;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, Weak};

use rustix::io::Errno;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, opcode};

use super::super::protocol::{header, notify_store};
use crate::metrics::RequestTimes;

/// The kernel's end of FUSE.
pub(crate) const DEVICE: &str = "/dev/fuse";
const MAGIC: u8 = 229;
const CLONE: Opcode = opcode::read::<u32>(MAGIC, 0);
const BACKING_OPEN: Opcode = opcode::write::<BackingMap>(MAGIC, 1);
const BACKING_CLOSE: Opcode = opcode::write::<u32>(MAGIC, 2);
/// The code of a notification that puts bytes into the page cache.
const NOTIFY_STORE: i32 = 4;
/// Parts of an answer, its header included, that are written as they lie in memory.
const PARTS_MAX: usize = 32;

/// One queue of requests.
#[derive(Debug)]
pub(crate) struct Channel {
    device: OwnedFd,
    /// Where its requests are counted. Each reply has its channel at hand, and clones nothing for this.
    pub(super) requests: Option<Arc<RequestTimes>>,
}

/// A file that the kernel may read itself. The kernel releases it when this is dropped.
#[derive(Debug)]
pub(crate) struct Backing {
    channel: Weak<Channel>,
    pub(crate) number: u32,
}

#[repr(C)]
struct BackingMap {
    descriptor: i32,
    flags: u32,
    padding: u64,
}

impl Channel {
    /// A channel whose requests are counted in `requests`.
    pub(crate) fn new(device: OwnedFd, requests: Option<Arc<RequestTimes>>) -> Channel {
        Channel { device, requests }
    }

    /// Another queue of the same connection.
    pub(crate) fn try_clone(&self) -> io::Result<Channel> {
        let device = OwnedFd::from(OpenOptions::new().read(true).write(true).open(DEVICE)?);
        let number = self.device.as_raw_fd().cast_unsigned();
        // SAFETY: the kernel reads a number of this type.
        unsafe { rustix::ioctl::ioctl(&device, Command { opcode: CLONE, argument: number }) }?;
        Ok(Channel { device, requests: self.requests.clone() })
    }

    /// Receives the next message into `buf` and returns its length; none once the kernel has hung
    /// up. Blocks until a message comes.
    pub(crate) fn receive(&self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match rustix::io::read(&self.device, &mut *buf) {
                Ok(len) => return Ok(Some(len)),
                // The second comes now and then if a program's last close and the unmount meet.
                Err(Errno::NODEV | Errno::CONNABORTED) => return Ok(None),
                // The program has given its request up, or this thread got a signal.
                Err(Errno::NOENT | Errno::INTR | Errno::AGAIN) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Answers the request `unique` with the pieces of `payload`.
    pub(crate) fn send<'a>(
        &self,
        unique: u64,
        error: i32,
        mut payload: impl Iterator<Item = &'a [u8]>,
    ) -> io::Result<()> {
        let (mut parts, mut count, mut len) = ([IoSlice::new(&[]); PARTS_MAX], 1, 0);
        for (part, piece) in parts[1..].iter_mut().zip(&mut payload) {
            *part = IoSlice::new(piece);
            (count, len) = (count + 1, len + piece.len());
        }
        // Memory in more pieces is rare.
        let rest = payload.collect::<Vec<_>>().concat();
        let header = header(unique, error, len + rest.len());
        parts[0] = IoSlice::new(&header);
        if rest.is_empty() {
            return self.write(&parts[..count]);
        }
        self.write(&[&parts[..], &[IoSlice::new(&rest)]].concat())
    }

    /// Puts `bytes` into the page cache of `inode`, unless the kernel has forgotten it.
    pub(crate) fn store(&self, inode: u64, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let len = u32::try_from(bytes.len()).map_err(|_| Errno::FBIG)?;
        let store = notify_store(inode, offset, len);
        let header = header(0, NOTIFY_STORE, store.len() + bytes.len());
        match self.write(&[IoSlice::new(&header), IoSlice::new(&store), IoSlice::new(bytes)]) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }

    /// Registers `file` with the kernel, so that opens can be answered with it.
    pub(crate) fn open_backing(self: &Arc<Channel>, file: &impl AsFd) -> io::Result<Backing> {
        let map = BackingMap { descriptor: file.as_fd().as_raw_fd(), flags: 0, padding: 0 };
        // SAFETY: the kernel reads a map of this type.
        let number =
            unsafe { rustix::ioctl::ioctl(&self.device, Command { opcode: BACKING_OPEN, argument: map }) }?;
        Ok(Backing { channel: Arc::downgrade(self), number: number.cast_unsigned() })
    }

    /// The kernel takes an answer as a whole or not at all.
    fn write(&self, parts: &[IoSlice<'_>]) -> io::Result<()> {
        rustix::io::writev(&self.device, parts)?;
        Ok(())
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        let Some(channel) = self.channel.upgrade() else { return };
        // SAFETY: the kernel reads a number of this type.
        let closed = unsafe {
            rustix::ioctl::ioctl(&channel.device, Command { opcode: BACKING_CLOSE, argument: self.number })
        };
        if let Err(errno) = closed {
            tracing::debug!(
                target: "forerun::mount",
                "the kernel keeps a file that was passed through: {errno}"
            );
        }
    }
}

/// An ioctl whose `argument` the kernel reads, and which returns a number.
struct Command<T> {
    opcode: Opcode,
    argument: T,
}

// SAFETY: the kernel reads `argument` as long as the call takes, and writes nothing to it.
unsafe impl<T> Ioctl for Command<T> {
    type Output = i32;
    const IS_MUTATING: bool = false;

    fn opcode(&self) -> Opcode {
        self.opcode
    }

    fn as_ptr(&mut self) -> *mut c_void {
        (&raw mut self.argument).cast()
    }

    unsafe fn output_from_ptr(output: IoctlOutput, _: *mut c_void) -> rustix::io::Result<i32> {
        Ok(output)
    }
}
