//! The processes of the demo: the store, and one mount or server at a time.

mod block_server;
mod cache_process;
mod heard_process;
mod listener;
mod mount_process;
mod rclone_process;
mod serve_process;
mod store_process;

use std::path::Path;
use std::time::Duration;

use tokio::process::Command;

pub(crate) use block_server::{BlockExport, BlockServer};
pub(crate) use cache_process::CacheProcess;
pub(crate) use heard_process::{HeardProcess, end};
pub(crate) use listener::start_listener;
pub(crate) use mount_process::{MountOptions, MountProcess, Ready};
pub(crate) use rclone_process::{RcloneProcess, rclone};
pub(crate) use serve_process::ServeProcess;
pub(crate) use store_process::StoreProcess;

/// The limit for starting: both start in far less, but a build may slow the machine down.
const START_MAX: Duration = Duration::from_secs(30);

/// The file of a server of others. Debian keeps them where a user's `PATH` does not lead.
pub(crate) fn installed_server(name: &str) -> String {
    let place = Path::new("/usr/sbin").join(name);
    if place.exists() { place.display().to_string() } else { name.to_owned() }
}

/// This program, in a process group of its own. An interrupt typed on the terminal reaches only the
/// first process, which ends the others in order.
pub(crate) fn this_program() -> Result<Command, String> {
    let program =
        std::env::current_exe().map_err(|error| format!("this program cannot find its own file: {error}"))?;
    let mut command = Command::new(program);
    command.process_group(0).kill_on_drop(true);
    Ok(command)
}
