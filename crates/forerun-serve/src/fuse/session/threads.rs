//! The threads that receive requests.

use std::io;
use std::iter;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::io::Errno;

use super::super::protocol::{Malformed, Message, Offer, REQUEST_BYTES_MAX};
use super::channel::Channel;
use super::{Filesystem, Reply};

/// How long the kernel may take to hang up after an unmount. It does so at once, unless the file
/// system is also mounted elsewhere.
const HANG_UP_TIME: Duration = Duration::from_secs(5);
/// Room for the header of the longest request.
const HEAD_BYTES_MAX: usize = 4096;

/// The queues that threads receive from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queues {
    /// All threads share one queue.
    Shared,
    /// Each thread has its own queue, for which the device is opened again.
    Own,
}

/// The threads that serve a file system.
#[derive(Debug)]
pub(crate) struct Session {
    channel: Arc<Channel>,
    threads: Vec<JoinHandle<io::Result<()>>>,
}

impl Session {
    /// Greets the kernel at the other end of `channel`, then serves `filesystem` until it hangs up.
    pub(crate) fn start(
        filesystem: impl Filesystem,
        channel: Channel,
        queues: Queues,
    ) -> io::Result<Session> {
        let channel = Arc::new(channel);
        greet(&channel, &filesystem)?;
        // The threads only receive requests and copy cached replies.
        let count = thread::available_parallelism().map_or(2, |count| count.get().clamp(2, 4));
        let mut channels = vec![Arc::clone(&channel)];
        while channels.len() < count {
            channels.push(match queues {
                Queues::Shared => Arc::clone(&channel),
                Queues::Own => Arc::new(channel.try_clone()?),
            });
        }
        let filesystem = Arc::new(filesystem);
        let serve = |(number, channel): (usize, Arc<Channel>)| {
            let filesystem = Arc::clone(&filesystem);
            let thread = thread::Builder::new().name(format!("forerun-fuse-{number}"));
            thread.spawn(move || serve(&channel, &*filesystem))
        };
        let threads = channels.into_iter().enumerate().map(serve).collect::<io::Result<_>>()?;
        Ok(Session { channel, threads })
    }

    /// The connection, for notifications to the kernel.
    pub(crate) fn channel(&self) -> &Arc<Channel> {
        &self.channel
    }

    /// Waits until the kernel has hung up.
    fn join(self) -> io::Result<()> {
        let ends = self.threads.into_iter().map(JoinHandle::join);
        let panicked = |_| Err(io::Error::other("a thread that received requests panicked"));
        ends.map(|end| end.unwrap_or_else(panicked)).fold(Ok(()), Result::and)
    }
}

/// The result of `session`, or none if it has not ended within [`HANG_UP_TIME`].
pub(crate) fn end_of(session: Session) -> Option<io::Result<()>> {
    let (ended, end) = mpsc::channel();
    // If the thread does not start, the channel closes and the result is unknown.
    let _ =
        thread::Builder::new().name("forerun-unmount".to_owned()).spawn(move || ended.send(session.join()));
    end.recv_timeout(HANG_UP_TIME).ok()
}

fn greet(channel: &Channel, filesystem: &impl Filesystem) -> io::Result<()> {
    let mut buf = buffer();
    let Some(len) = channel.receive(&mut buf)? else {
        return Err(io::Error::new(io::ErrorKind::NotConnected, "it hung up before it said anything"));
    };
    let offer = Offer::decode(&buf[..len])
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "its first request is no greeting"))?;
    if !offer.is_supported() {
        channel.send(offer.unique, -Errno::PROTO.raw_os_error(), iter::empty())?;
        let (major, minor) = offer.version();
        let message =
            format!("it speaks version {major}.{minor} of the protocol; Linux 3.15 and later will do");
        return Err(io::Error::new(io::ErrorKind::Unsupported, message));
    }
    let wishes = filesystem.greet(&offer);
    channel.send(offer.unique, 0, iter::once(&*offer.accept(&wishes)))
}

/// Serves one queue until the kernel hangs up.
fn serve(channel: &Arc<Channel>, filesystem: &impl Filesystem) -> io::Result<()> {
    let mut buf = buffer();
    while let Some(len) = channel.receive(&mut buf)? {
        match Message::decode(&buf[..len]) {
            Ok(Message::Request(request)) => {
                filesystem.answer(request, Reply::to(channel, &request));
            }
            Ok(Message::Forget(forgets)) => {
                forgets.for_each(|(inode, lookups)| filesystem.forget(inode, lookups));
            }
            Ok(Message::Interrupt(unique)) => filesystem.interrupt(unique),
            Ok(Message::Destroy(unique)) => {
                Reply::new(channel, unique).bytes(&[]);
                return Ok(());
            }
            Err(Malformed { unique: Some(unique) }) => Reply::new(channel, unique).error(Errno::IO),
            Err(Malformed { unique: None }) => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the kernel sent no request"));
            }
        }
    }
    Ok(())
}

/// Zeroed pages take memory only once they are used.
fn buffer() -> Vec<u8> {
    vec![0; REQUEST_BYTES_MAX as usize + HEAD_BYTES_MAX]
}
