//! The notices of a mount to the service manager that has started it (sd_notify(3)).

use std::env;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forerun::Forerun;

/// The service manager.
#[derive(Debug)]
pub(crate) struct Service {
    socket: UnixDatagram,
    address: SocketAddr,
}

impl Service {
    /// The one that `NOTIFY_SOCKET` names; none if nothing asks for notices.
    ///
    /// # Errors
    /// If the name is not one of a socket.
    pub(crate) fn new() -> Result<Option<Service>, String> {
        let Some(name) = env::var("NOTIFY_SOCKET").ok().filter(|name| !name.is_empty()) else {
            return Ok(None);
        };
        let address = match name.strip_prefix('@') {
            Some(name) => SocketAddr::from_abstract_name(name),
            None => SocketAddr::from_pathname(&name),
        };
        let service = address.and_then(|address| Ok(Service { socket: UnixDatagram::unbound()?, address }));
        service.map(Some).map_err(|error| format!("NOTIFY_SOCKET={name} cannot be used: {error}; unset it"))
    }

    /// The mount `shown` serves reads.
    pub(crate) fn ready(&self, shown: &str) {
        self.tell(&format!("READY=1\nSTATUS={shown}"));
    }

    /// The mount is about to be unmounted.
    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=unmounting");
    }

    /// The file of mounts is read again; [`Service::ready`] follows.
    pub(crate) fn reloading(&self) {
        self.tell("RELOADING=1\nSTATUS=reading the file of mounts");
    }

    /// This process answers.
    pub(crate) fn alive(&self) {
        self.tell("WATCHDOG=1");
    }

    fn tell(&self, message: &str) {
        if let Err(error) = self.socket.send_to_addr(message.as_bytes(), &self.address) {
            tracing::warn!(target: "forerun::mount", "the service manager cannot be told: {error}");
        }
    }
}

/// Tells `service` for ever that the mount on `directory` answers, where it wants to know. A mount that
/// does not answer holds this up, and the service manager then starts it anew.
pub(crate) async fn watch(service: Option<&Service>, forerun: &Forerun, directory: &Path) {
    let Some((service, every)) = service.zip(watchdog()) else { return std::future::pending().await };
    let (forerun, directory) = (forerun.clone(), directory.to_owned());
    let probe = Arc::new(move || answers(&forerun, &directory));
    tell_while(probe, every / 2, || service.alive()).await
}

/// Calls `tell` each time that `probe` finds the mount answering, `every` so often. A probe that hangs
/// holds this up.
async fn tell_while(probe: Arc<impl Fn() -> bool + Send + Sync + 'static>, every: Duration, tell: impl Fn()) {
    let mut ticks = tokio::time::interval(every);
    loop {
        ticks.tick().await;
        let probe = Arc::clone(&probe);
        if tokio::task::spawn_blocking(move || probe()).await.unwrap_or(false) {
            tell();
        }
    }
}

/// Whether the kernel gets an answer from the mount, and the engine is free to give one. The call never
/// comes from a cache. A server of /dev/fd/N does not know the directory, so only the engine is asked.
fn answers(forerun: &Forerun, directory: &Path) -> bool {
    forerun.memory_bytes();
    directory.starts_with("/dev/fd") || rustix::fs::statfs(directory).is_ok()
}

/// How long the manager waits for a sign of life of this process.
pub(crate) fn watchdog() -> Option<Duration> {
    let is_meant = env::var("WATCHDOG_PID").map_or(true, |pid| pid == std::process::id().to_string());
    let time: u64 = env::var("WATCHDOG_USEC").ok()?.parse().ok()?;
    (is_meant && time > 0).then(|| Duration::from_micros(time))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::mpsc;

    use parking_lot::Mutex;

    use super::*;

    #[tokio::test]
    async fn a_mount_that_stops_answering_is_not_told_to_be_alive() {
        // Each probe takes an answer: yes, no, yes, and then none, as from a mount that hangs.
        let (answer, answers) = mpsc::channel();
        let answers = Mutex::new(answers);
        let probe = Arc::new(move || answers.lock().recv().unwrap_or(false));
        [true, false, true].into_iter().for_each(|is_alive| answer.send(is_alive).unwrap());
        let told = Cell::new(0);
        let telling = tell_while(probe, Duration::from_millis(1), || told.set(told.get() + 1));
        let _ = tokio::time::timeout(Duration::from_millis(300), telling).await;
        assert_eq!(told.get(), 2);
        // The hanging probe ends, so that the runtime can.
        drop(answer);
    }
}
