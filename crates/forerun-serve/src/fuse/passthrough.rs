//! Files that the kernel reads itself, of directories of this system.
//!
//! An open that is answered with a file of the system's never asks for bytes again. The
//! kernel refuses an inode to be open both ways at a time, so that who opens one first
//! decides for all until the last has closed it.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use forerun::{Entry, Forerun, Result};
use parking_lot::Mutex;
use rustix::io::Errno;

use super::protocol::{Offer, Wishes, capabilities};
use super::session::{Backing, Channel};

/// How many file systems may lie one above the other below the mount, itself included:
/// with 2, the most that the kernel takes, the directory may be on an overlay.
const STACK_DEPTH_MAX: u32 = 2;

/// Which opens are passed through to the system's own files.
#[derive(Debug, Default)]
pub(crate) struct Passthrough {
    /// Whether the kernel knows how.
    is_offered: AtomicBool,
    /// The connection to the kernel, if it also lets this process do it.
    channel: OnceLock<Weak<Channel>>,
    /// Whether it was told that a file cannot be.
    has_warned: AtomicBool,
    opens: Mutex<Opens<Backing>>,
}

impl Passthrough {
    /// Adds what it asks of the kernel to `wishes`, as it and the mount meet.
    pub(crate) fn ask_for(&self, offer: &Offer, wishes: &mut Wishes) {
        wishes.capabilities |= capabilities::PASSTHROUGH;
        wishes.stack_depth_max = STACK_DEPTH_MAX;
        self.is_offered.store(offer.lacks(capabilities::PASSTHROUGH) == 0, Ordering::Release);
    }

    /// Begins to pass opens through if that is possible on `channel`, the connection to
    /// the kernel once both have met; else why not, and what to do about it.
    pub(crate) fn begin(&self, channel: &Arc<Channel>) -> std::result::Result<(), String> {
        if !self.is_offered.load(Ordering::Acquire) {
            return Err("this kernel does not support it; Linux 6.9 and later do".to_owned());
        }
        allowed(channel).map_err(|errno| match errno {
            Errno::PERM => "the kernel allows it for root alone (CAP_SYS_ADMIN): mount as root".to_owned(),
            errno => format!("the kernel refuses: {}", io::Error::from(errno)),
        })?;
        // It is set once, since it begins once.
        self.channel.get_or_init(|| Arc::downgrade(channel));
        Ok(())
    }

    /// Whether files are passed through where they can be.
    pub(crate) fn is_on(&self) -> bool {
        self.channel.get().is_some()
    }

    /// The file that an open of the inode `ino`, which is `entry`, is to be answered with;
    /// none if it is to be read through the engine. Either way it counts as open until
    /// [`Passthrough::close`].
    ///
    /// # Errors
    /// As [`Forerun::open_local`]; it does not count as open then.
    pub(crate) async fn open(
        &self,
        forerun: &Forerun,
        ino: u64,
        entry: &Entry,
    ) -> Result<Option<Arc<Backing>>> {
        if let Some(agreed) = self.opens.lock().join(ino) {
            return Ok(agreed);
        }
        let channel = self.channel.get().and_then(Weak::upgrade);
        let local = if channel.is_some() { forerun.open_local(entry).await? } else { None };
        let file = channel.zip(local).and_then(|(channel, file)| match channel.open_backing(&file) {
            Ok(file) => Some(Arc::new(file)),
            Err(error) => {
                self.warn(&entry.path, &error);
                None
            }
        });
        // Somebody may have opened it meanwhile. What is not needed is dropped after the lock.
        let agreed = self.opens.lock().enter(ino, file.clone());
        Ok(agreed)
    }

    /// One who had `ino` open has closed it.
    pub(crate) fn close(&self, ino: u64) {
        let last = self.opens.lock().leave(ino);
        // Dropped after the lock: the kernel is told.
        drop(last);
    }

    fn warn(&self, path: &str, error: &io::Error) {
        let why = match Errno::from_io_error(error) {
            Some(Errno::LOOP) => "its file system is stacked on too many others",
            _ => "the kernel refuses the file",
        };
        if self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::debug!(target: "forerun::mount", "{path} is not passed through: {why} ({error})");
        } else {
            tracing::warn!(
                target: "forerun::mount",
                "{path} is not passed through: {why} ({error}); the mount reads it itself, and does not \
                 warn about further files"
            );
        }
    }
}

/// Whether the kernel lets this process hand it files. It looks at that before it looks
/// at the file, so a directory, which it never takes, tells without leaving anything.
fn allowed(channel: &Arc<Channel>) -> std::result::Result<(), Errno> {
    let directory = rustix::fs::CWD;
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC;
    let directory = rustix::fs::openat(directory, "/", flags, rustix::fs::Mode::empty())?;
    match channel.open_backing(&directory) {
        Ok(_) => Ok(()),
        Err(error) => match Errno::from_io_error(&error) {
            Some(errno @ (Errno::PERM | Errno::NOTTY | Errno::NOSYS)) => Err(errno),
            _ => Ok(()),
        },
    }
}

/// What the opens of each inode that is open have agreed on.
#[derive(Debug)]
struct Opens<F> {
    by_inode: HashMap<u64, Open<F>>,
}

#[derive(Debug)]
struct Open<F> {
    /// None where it is read through the engine.
    file: Option<Arc<F>>,
    count: u64,
}

impl<F> Default for Opens<F> {
    fn default() -> Opens<F> {
        Opens { by_inode: HashMap::new() }
    }
}

impl<F> Opens<F> {
    /// One more opens `ino` the way that those do who have it open, if there are any.
    fn join(&mut self, ino: u64) -> Option<Option<Arc<F>>> {
        let open = self.by_inode.get_mut(&ino)?;
        open.count += 1;
        Some(open.file.clone())
    }

    /// The same, and the way of `file` if there are none.
    fn enter(&mut self, ino: u64, file: Option<Arc<F>>) -> Option<Arc<F>> {
        let open = self.by_inode.entry(ino).or_insert(Open { file, count: 0 });
        open.count += 1;
        open.file.clone()
    }

    /// One has closed `ino`; the file of the last one who had it open.
    fn leave(&mut self, ino: u64) -> Option<Arc<F>> {
        let open = self.by_inode.get_mut(&ino)?;
        open.count -= 1;
        if open.count > 0 {
            return None;
        }
        self.by_inode.remove(&ino)?.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_who_have_an_inode_open_agree_with_the_first() {
        let mut opens = Opens::default();
        let file = |name| Some(Arc::new(name));
        assert_eq!(opens.join(1), None);
        assert_eq!(opens.enter(1, file("first")), file("first"));
        assert_eq!(opens.enter(1, file("second")), file("first"));
        assert_eq!(opens.enter(1, None), file("first"));
        assert_eq!(opens.join(1), Some(file("first")));
        assert_eq!(opens.join(2), None, "another inode");
        for _ in 0..3 {
            assert_eq!(opens.leave(1), None);
        }
        assert_eq!(opens.leave(1), file("first"), "with the last of them");
        assert_eq!(opens.enter(1, None), None);
        assert_eq!(opens.enter(1, file("too late")), None);
        assert_eq!((opens.leave(1), opens.leave(1), opens.leave(1)), (None, None, None));
        assert_eq!(opens.join(1), None);
    }
}
