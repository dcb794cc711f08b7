//! A server that does not tell when it listens.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

use super::START_MAX;

/// The interval for asking whether a server listens.
const LISTEN_POLL: Duration = Duration::from_millis(20);

/// Starts `server`, whose messages go to the file `log`, and waits until it listens.
///
/// # Errors
/// The reason why it does not listen: its messages.
pub(crate) async fn start_listener(
    mut server: Command,
    log: &Path,
    is_listening: impl AsyncFn() -> bool,
) -> Result<Child, String> {
    let file = File::create(log).map_err(|error| format!("{}: {error}", log.display()))?;
    let spawned = server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).spawn();
    let mut child = spawned.map_err(|error| {
        format!("{} does not start: {error}; is it installed?", server.as_std().get_program().display())
    })?;
    let until = Instant::now() + START_MAX;
    while !is_listening().await {
        let has_ended = child.try_wait().is_ok_and(|ended| ended.is_some());
        if has_ended || Instant::now() > until {
            let said = fs::read_to_string(log).unwrap_or_default();
            return Err(format!("it does not listen: {}", said.trim()));
        }
        // Nothing wakes this process when a server of others listens.
        sleep(LISTEN_POLL).await;
    }
    Ok(child)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waits_for_a_server_and_tells_why_it_does_not_listen() {
        let folder = tempfile::tempdir().unwrap();
        let [log, socket] = ["log", "socket"].map(|name| folder.path().join(name));
        let start = async |script: &str| {
            let mut server = Command::new("sh");
            server.args(["-c", script]).arg(&socket).kill_on_drop(true);
            start_listener(server, &log, async || socket.exists()).await
        };
        let error = start("echo no such option >&2; exit 1").await.unwrap_err();
        assert_eq!(error, "it does not listen: no such option");
        start("touch \"$0\"; exec sleep 1000").await.unwrap();
        let error = start_listener(Command::new("/absent/nbdkit"), &log, async || false).await.unwrap_err();
        assert!(error.starts_with("/absent/nbdkit does not start"), "{error}");
    }
}
