//! How long replies may keep memory that a client does not take.

use std::future::Future;
use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// A client that reads takes a socket's worth of bytes in less time. A fetch of another client, which waits
/// for memory, takes longer.
const TIMEOUT: Duration = Duration::from_millis(50);
/// The same while others wait for such memory. They wait so long for each of many clients that take none.
const TIMEOUT_SCARCE: Duration = Duration::from_millis(2);

/// Ends once a client has taken nothing for [`TIMEOUT`] although there is something for it.
#[derive(Debug)]
pub(super) struct MemoryTimeout {
    timer: Pin<Box<Sleep>>,
    is_running: bool,
    is_over: bool,
}

impl MemoryTimeout {
    /// Called within a runtime.
    pub(super) fn new() -> MemoryTimeout {
        MemoryTimeout { timer: Box::pin(tokio::time::sleep(TIMEOUT)), is_running: false, is_over: false }
    }

    /// The client has taken something.
    pub(super) fn renew(&mut self) {
        (self.is_running, self.is_over) = (false, false);
    }

    /// The client takes nothing now, and memory may be scarce. True once it has for too long, until it is
    /// renewed.
    pub(super) fn is_over(&mut self, is_scarce: bool, context: &mut Context<'_>) -> bool {
        if !self.is_running && !self.is_over {
            self.is_running = true;
            let timeout = if is_scarce { TIMEOUT_SCARCE } else { TIMEOUT };
            self.timer.as_mut().reset(Instant::now() + timeout);
        }
        self.is_over = self.is_over || self.timer.as_mut().poll(context).is_ready();
        self.is_over
    }
}
