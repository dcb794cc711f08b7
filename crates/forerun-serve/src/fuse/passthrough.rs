//! Files that the kernel reads itself, from directories of this system.
//!
//! When an open is answered with a file of the system, the kernel sends no READ for it. The kernel
//! refuses to open an inode both ways at a time. So the first open decides for all others, until
//! the last of them is closed.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use forerun::{Entry, Forerun, Result};
use parking_lot::Mutex;
use rustix::io::Errno;

use super::protocol::{Offer, Wishes, capabilities};
use super::session::{Backing, Channel};

/// How many file systems may be stacked, the mount included. The kernel allows at most 2; then the
/// directory may be on an overlay.
const STACK_DEPTH_MAX: u32 = 2;

/// Which opens are passed through to the system's own files.
#[derive(Debug, Default)]
pub(crate) struct Passthrough {
    /// Whether the kernel offers passthrough.
    is_offered: AtomicBool,
    /// The connection to the kernel, if the kernel lets this process pass files through.
    channel: OnceLock<Weak<Channel>>,
    /// Whether the warning about a file that cannot be passed through was logged.
    has_warned: AtomicBool,
    opens: Mutex<Opens<Backing>>,
}

impl Passthrough {
    /// Adds the capabilities for passthrough to `wishes`.
    pub(crate) fn ask_for(&self, offer: &Offer, wishes: &mut Wishes) {
        wishes.capabilities |= capabilities::PASSTHROUGH;
        wishes.stack_depth_max = STACK_DEPTH_MAX;
        self.is_offered.store(offer.lacks(capabilities::PASSTHROUGH) == 0, Ordering::Release);
    }

    /// Begins to pass opens through on `channel`, after the greeting.
    ///
    /// # Errors
    /// The reason why it is not possible, and the remedy.
    pub(crate) fn begin(&self, channel: &Arc<Channel>) -> std::result::Result<(), String> {
        if !self.is_offered.load(Ordering::Acquire) {
            return Err("this kernel does not support it; Linux 6.9 and later do".to_owned());
        }
        allowed(channel).map_err(|errno| match errno {
            Errno::PERM => "the kernel allows it for root alone (CAP_SYS_ADMIN): mount as root".to_owned(),
            errno => format!("the kernel refuses: {}", io::Error::from(errno)),
        })?;
        // Set once: a mount begins once.
        self.channel.get_or_init(|| Arc::downgrade(channel));
        Ok(())
    }

    /// Whether files are passed through where possible.
    pub(crate) fn is_on(&self) -> bool {
        self.channel.get().is_some()
    }

    /// The file to answer an open of inode `ino` with; none if the engine reads it. `entry` is the
    /// inode's entry. The inode counts as open until [`Passthrough::close`].
    ///
    /// # Errors
    /// As [`Forerun::open_local`]; the inode does not count as open then.
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
        // Another open may have come meanwhile. The file that is not needed is dropped after the
        // lock.
        let agreed = self.opens.lock().enter(ino, file.clone());
        Ok(agreed)
    }

    /// Counts one close of `ino`.
    pub(crate) fn close(&self, ino: u64) {
        let last = self.opens.lock().leave(ino);
        // Dropped after the lock: the drop is a call to the kernel.
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

/// Whether the kernel lets this process pass files. The kernel checks that before it looks at the
/// file: a directory, which it never takes, shows it without a trace.
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

/// The route that all opens of an inode share.
#[derive(Debug)]
struct Opens<F> {
    by_inode: HashMap<u64, Open<F>>,
}

#[derive(Debug)]
struct Open<F> {
    /// None if the engine reads it.
    file: Option<Arc<F>>,
    count: u64,
}

impl<F> Default for Opens<F> {
    fn default() -> Opens<F> {
        Opens { by_inode: HashMap::new() }
    }
}

impl<F> Opens<F> {
    /// Counts one more open of `ino` and returns its route, if it is open already.
    fn join(&mut self, ino: u64) -> Option<Option<Arc<F>>> {
        let open = self.by_inode.get_mut(&ino)?;
        open.count += 1;
        Some(open.file.clone())
    }

    /// As [`Opens::join`], and opens `ino` with the route `file` if it is not open.
    fn enter(&mut self, ino: u64, file: Option<Arc<F>>) -> Option<Arc<F>> {
        let open = self.by_inode.entry(ino).or_insert(Open { file, count: 0 });
        open.count += 1;
        open.file.clone()
    }

    /// Counts one close of `ino`. Returns the file at the last close.
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
    fn all_opens_of_an_inode_follow_the_first() {
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
