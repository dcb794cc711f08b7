//! The end of a mount: the signals that ask for it, and the unmount.

use std::error::Error;

use forerun_serve::fuse::{Mount, Unmounted};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::print::say;

/// The signals that ask for an end.
pub(crate) struct Stop {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Stop {
    /// Listens from now on. Called within a runtime.
    pub(crate) fn new() -> std::io::Result<Stop> {
        Ok(Stop {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for a signal.
    pub(crate) async fn signal(mut self) {
        self.next().await;
    }

    /// Waits for a signal. The result is true if it is a hangup, which asks a server to read its files again. The
    /// others ask for an end.
    pub(crate) async fn next(&mut self) -> bool {
        tokio::select! {
            _ = self.interrupt.recv() => false,
            _ = self.terminate.recv() => false,
            _ = self.hangup.recv() => true,
        }
    }

    /// Waits for a signal, or until `mount` has been unmounted.
    pub(crate) async fn or_end_of(self, mount: &Mount) {
        tokio::select! {
            () = self.signal() => {}
            () = mount.ended() => {}
        }
    }
}

/// Unmounts, and says how that went.
pub(crate) fn unmount(mount: Mount) -> Result<(), Box<dyn Error>> {
    let directory = mount.directory().display().to_string();
    match mount.unmount()? {
        Unmounted::Clean => say(&format!("unmounted {directory}")),
        Unmounted::Detached => say(&format!(
            "{directory} was in use: it is unmounted, and programs that still use it get errors"
        )),
        Unmounted::Left => say(&format!(
            "{directory} is not served any more; programs get errors until the one who mounted it unmounts it"
        )),
    }
    Ok(())
}
