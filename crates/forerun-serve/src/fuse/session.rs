//! The threads that receive requests.

use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use fuser::{BackgroundSession, Config};

/// How long the kernel may take to hang up after an unmount: it does so at once,
/// unless the file system is also mounted elsewhere.
const HANG_UP_TIME: Duration = Duration::from_secs(5);

/// How many threads receive requests: each by a queue of its own if the device can be
/// `cloned`, else all by one.
pub(super) fn config(cloned: bool) -> Config {
    let mut config = Config::default();
    // Receiving a request and copying a cached reply is all these do.
    config.n_threads = Some(thread::available_parallelism().map_or(2, |n| n.get().clamp(2, 4)));
    config.clone_fd = cloned;
    config
}

/// How `session` ended, or none if it has not within [`HANG_UP_TIME`].
pub(super) fn end_of(session: BackgroundSession) -> Option<io::Result<()>> {
    let (ended, end) = mpsc::channel();
    // Without the thread the channel closes, and nothing is known of the end.
    let _ =
        thread::Builder::new().name("forerun-unmount".to_owned()).spawn(move || ended.send(session.join()));
    end.recv_timeout(HANG_UP_TIME).ok()
}
