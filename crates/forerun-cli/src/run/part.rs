//! The process of a mount, as a part of `forerun run`.

use std::env;
use std::io;
use std::os::fd::AsFd;

use rustix::process::{Signal, set_parent_process_death_signal};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::unix::pipe::Receiver;

use crate::log;

/// Tells a process that it is one of `forerun run`.
pub(super) const IS_PART: &str = "FORERUN_IS_PART_OF_RUN";

/// Has this process unmount when the process of `forerun run` ends.
///
/// # Errors
/// If the system refuses that.
pub(crate) fn end_with_run() -> io::Result<()> {
    if env::var_os(IS_PART).is_some() {
        set_parent_process_death_signal(Some(Signal::TERM))?;
    }
    Ok(())
}

/// Has the log of this process follow `forerun run`, which writes each new level as a line to standard
/// input. Called within a runtime.
///
/// # Errors
/// If standard input is no pipe.
pub(crate) fn follow_log_level() -> io::Result<()> {
    if env::var_os(IS_PART).is_none() {
        return Ok(());
    }
    let mut levels =
        BufReader::new(Receiver::from_owned_fd(io::stdin().as_fd().try_clone_to_owned()?)?).lines();
    tokio::spawn(async move {
        while let Ok(Some(level)) = levels.next_line().await {
            level.parse().into_iter().for_each(log::change);
        }
    });
    Ok(())
}
