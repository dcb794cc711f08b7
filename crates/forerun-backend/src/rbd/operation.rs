//! Operations of Ceph's libraries, for whose end the process waits before it exits.
//!
//! At its exit a process destroys the global data of these libraries. A thread that still uses the data
//! would abort the process.

use std::sync::{Condvar, Mutex, Once, PoisonError};
use std::time::Duration;

use super::ffi;
use crate::{Error, ErrorKind, Result};

/// The longest delay of an exit. Reads end much sooner, unless the cluster stalls. Then its threads wait,
/// and use no data.
const EXIT_DELAY_MAX: Duration = Duration::from_secs(2);

static RUNNING: Mutex<Running> = Mutex::new(Running { count: 0, is_exiting: false });
static LAST_ENDED: Condvar = Condvar::new();

struct Running {
    count: usize,
    is_exiting: bool,
}

/// An operation, as long as it exists.
#[derive(Debug)]
pub(super) struct Operation(());

impl Operation {
    /// Begins an operation.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`] if the process is about to exit.
    pub(super) fn begin() -> Result<Operation> {
        static WATCHED: Once = Once::new();
        WATCHED.call_once(|| {
            // SAFETY: the function lives as long as the process. Without memory for it, exits do not wait.
            unsafe { ffi::atexit(await_the_last) };
        });
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_exiting {
            return Err(Error::new(ErrorKind::Interrupted, "the process exits"));
        }
        running.count += 1;
        Ok(Operation(()))
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.count -= 1;
        if running.count == 0 {
            LAST_ENDED.notify_all();
        }
    }
}

extern "C" fn await_the_last() {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let ended = LAST_ENDED.wait_timeout_while(running, EXIT_DELAY_MAX, |running| running.count > 0);
    let (mut running, _) = ended.unwrap_or_else(PoisonError::into_inner);
    // Other threads still run, and would begin another operation.
    running.is_exiting = true;
}
